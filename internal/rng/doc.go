// Package rng draws PyTorch's CPU random numbers, bit for bit, into plain Go
// slices.
//
// Every number comes from one Mersenne Twister (MT19937) that is read in
// sequence, so results depend on the seed and the order of calls, never on
// goroutines. A float32 uniform is the low 24 bits of one 32-bit draw and a
// float64 uniform the low 53 bits of two of them, the first being the high
// word. A contiguous tensor of 16 or more elements gets its normal numbers by
// Box-Muller in blocks of 16 in its own precision, float32 with the
// single-precision Cephes polynomials and fused multiply-adds. Any other tensor
// gets them one by one in float64, where the second number of each pair waits
// in the generator, visible in its state, for the next scalar normal. All other
// samplers work on float64 uniforms, and on those scalar normals, and round
// their result to the element type at the end.
//
// # Which function serves which sampler
//
//	rand, rand_like, uniform_                     Uniform; 16-bit types UniformLow
//	randn, randn_like, normal_, normal            Normal; 16-bit types NormalLow
//	log_normal_                                   LogNormal
//	exponential_, cauchy_                         Exponential, Cauchy
//	geometric_                                    Geometric
//	bernoulli_(p), dropout masks                  Bernoulli, DropoutMask
//	bernoulli(P), bernoulli_(P)                   BernoulliProbs
//	randint, randint_like, random_(a, b)          RandIntRange of what Kind.Range returns
//	random_(a, None)                              RandInt with n = kind.Max()-a+1
//	random_()                                     Random
//	randperm                                      RandPerm
//	multinomial                                   Multinomial
//	poisson, binomial                             Poisson, Binomial
//	_standard_gamma, _sample_dirichlet            StandardGamma, Dirichlet
//	rrelu, data-dependent draws                   Generator.Float64, Float32, NormFloat64
//	DataLoader and sampler seeds                  Generator.Uint64 & (1<<63 - 1)
//
// # Element types
//
// float32, float64 and integers are filled directly. float16 and bfloat16 are
// filled through a float32 slice: UniformLow and NormalLow return values that
// are exact in the narrow type already, after any other sampler the caller
// rounds (RoundFloat16, RoundBFloat16). bool is filled through a uint8 slice.
// complex64 and complex128 are the float slice of twice the length under them,
// with std/sqrt(2) for normals; whether a tensor has the 16 elements of the
// block path is then counted on that slice.
//
// # Layout
//
// Numbers are drawn in the memory order of the destination (dimensions sorted
// by stride). A dense destination of any dimension order can therefore be
// filled as a slice; one with gaps is filled through a temporary slice. Only
// Normal needs to know: contiguous is false for everything that is not
// contiguous in row-major order, channels_last included. normal with tensor
// arguments is Normal(0, 1) of the broadcast shape, times std, plus mean, each
// rounded; with a number for std it is Normal(0, std) plus mean.
//
// Integers, masks, uniforms and float32 normals are the same on all platforms.
// float64 functions (log, sine, …) agree with the C library that PyTorch runs
// on up to the last bits, which PyTorch itself does not fix either.
package rng
