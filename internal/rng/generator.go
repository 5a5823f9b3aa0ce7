package rng

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"
)

// DefaultSeed is the seed of a generator made by New.
const DefaultSeed uint64 = 67280421310721

// StateSize is the length in bytes of what State returns.
const StateSize = 5056

// The constants of MT19937 (Matsumoto and Nishimura 1998).
const (
	mtN      = 624
	mtM      = 397
	matrixA  = 0x9908b0df
	upperBit = 0x80000000
	lowBits  = 0x7fffffff
)

// Generator is one MT19937 engine with PyTorch's CPU seeding, state format and
// cached second normal number. It is safe for concurrent use: a fill function
// holds the lock once, for the whole of its slice, so the numbers of one fill
// are always consecutive.
//
// The zero value is not ready; use New.
type Generator struct {
	mu sync.Mutex

	mt   [mtN]uint32 // untempered state words
	left int         // a draw decrements left and twists when that gives 0
	next int         // index of the next word to temper
	seed uint64      // what InitialSeed answers

	// The second value of the last Box-Muller pair, shared by every sampler
	// that draws scalar normals.
	normal      float64
	normalValid bool

	// PyTorch's state also has room for a float32 normal, which its CPU
	// samplers do not use. It is kept so that a state survives a round trip.
	normal32      float32
	normal32Valid bool
}

// Default is the process-wide generator that samplers use when none is given,
// like torch.default_generator. It starts from a random seed.
var Default = func() *Generator {
	g := New()
	g.Seed()
	return g
}()

// New returns a generator seeded with DefaultSeed, like torch.Generator().
func New() *Generator {
	g := new(Generator)
	g.reseed(DefaultSeed)
	return g
}

// ManualSeed restarts the sequence at seed and drops the cached normal number.
// A negative seed s means s+2^64, as in PyTorch. Only the low 32 bits choose
// the sequence; InitialSeed answers all 64. It returns the generator.
func (g *Generator) ManualSeed(seed int64) *Generator { return g.ManualSeedUint64(uint64(seed)) }

// ManualSeedUint64 is ManualSeed for seeds of 2^63 and above.
func (g *Generator) ManualSeedUint64(seed uint64) *Generator {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reseed(seed)
	return g
}

// reseed sets every field as after torch.Generator.manual_seed.
func (g *Generator) reseed(seed uint64) {
	g.mt[0] = uint32(seed)
	for i := 1; i < mtN; i++ {
		p := g.mt[i-1]
		g.mt[i] = 1812433253*(p^p>>30) + uint32(i)
	}
	g.left, g.next, g.seed = 1, 0, seed
	g.normal, g.normalValid = 0, false
	g.normal32, g.normal32Valid = 0, false
}

// Seed seeds the generator from the operating system's randomness and returns
// the seed.
func (g *Generator) Seed() uint64 {
	seed := entropy()
	g.ManualSeedUint64(seed)
	return seed
}

// entropy returns 64 unpredictable bits.
func entropy() uint64 {
	var b [8]byte
	if _, err := crand.Read(b[:]); err != nil {
		// Only hosts without a random device come here; distinct runs still
		// get distinct seeds.
		h := sha256.Sum256([]byte(time.Now().String()))
		copy(b[:], h[:])
	}
	return binary.LittleEndian.Uint64(b[:])
}

// InitialSeed returns the seed that the current sequence started from.
func (g *Generator) InitialSeed() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seed
}

// Clone returns an independent generator in the same state: both go on with the
// same numbers.
func (g *Generator) Clone() *Generator {
	g.mu.Lock()
	defer g.mu.Unlock()
	return &Generator{
		mt: g.mt, left: g.left, next: g.next, seed: g.seed,
		normal: g.normal, normalValid: g.normalValid,
		normal32: g.normal32, normal32Valid: g.normal32Valid,
	}
}

// Offsets of the fields in the serialized state. All numbers are little-endian;
// bytes that no field covers are zero.
const (
	offSeed          = 0
	offLeft          = 8
	offSeeded        = 12
	offNext          = 16
	offWords         = 24 // 624 words, 8 bytes each
	offNormal        = offWords + 8*mtN + 8
	offNormalValid   = offNormal + 16
	offNormal32      = offNormalValid + 8
	offNormal32Valid = offNormal32 + 4
)

// State returns the generator's state as the 5056 bytes of
// torch.Generator.get_state.
func (g *Generator) State() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	le := binary.LittleEndian
	b := make([]byte, StateSize)
	le.PutUint64(b[offSeed:], g.seed)
	le.PutUint32(b[offLeft:], uint32(g.left))
	le.PutUint32(b[offSeeded:], 1)
	le.PutUint64(b[offNext:], uint64(g.next))
	for i, w := range g.mt {
		le.PutUint64(b[offWords+8*i:], uint64(w))
	}
	if g.normalValid {
		le.PutUint64(b[offNormal:], math.Float64bits(g.normal))
		le.PutUint32(b[offNormalValid:], 1)
	}
	if g.normal32Valid {
		le.PutUint32(b[offNormal32:], math.Float32bits(g.normal32))
		b[offNormal32Valid] = 1
	}
	return b
}

// SetState puts the generator into a state that State or PyTorch's get_state
// returned. It refuses, and changes nothing, when the length is not StateSize
// or when the counters could not have come from a running generator.
func (g *Generator) SetState(b []byte) error {
	if len(b) != StateSize {
		return fmt.Errorf("rng: SetState: got %d bytes, expected a state of %d bytes", len(b), StateSize)
	}
	le := binary.LittleEndian
	left, next := int32(le.Uint32(b[offLeft:])), le.Uint64(b[offNext:])
	if le.Uint32(b[offSeeded:]) != 1 {
		return fmt.Errorf("rng: SetState: invalid mt19937 state: the engine was never seeded")
	}
	// left-1 words from next on are still to be used; they must exist. PyTorch
	// checks the two ranges only and would read beyond the words.
	if left < 1 || left > mtN || next > mtN || uint64(left-1)+next > mtN {
		return fmt.Errorf("rng: SetState: invalid mt19937 state: left=%d next=%d, expected 1 <= left <= %d and "+
			"left-1+next <= %[3]d", left, next, mtN)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seed = le.Uint64(b[offSeed:])
	g.left, g.next = int(left), int(next)
	for i := range g.mt {
		g.mt[i] = uint32(le.Uint64(b[offWords+8*i:]))
	}
	g.normal, g.normalValid = 0, le.Uint32(b[offNormalValid:]) != 0
	if g.normalValid {
		g.normal = math.Float64frombits(le.Uint64(b[offNormal:]))
	}
	g.normal32, g.normal32Valid = 0, b[offNormal32Valid] != 0
	if g.normal32Valid {
		g.normal32 = math.Float32frombits(le.Uint32(b[offNormal32:]))
	}
	return nil
}

// Uint32 draws the next 32 bits.
func (g *Generator) Uint32() uint32 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.u32()
}

// Uint64 draws the next 64 bits: two draws of 32, the first one on top.
func (g *Generator) Uint64() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.u64()
}

// Float32 draws a uniform number in [0,1) with 24 bits.
func (g *Generator) Float32() float32 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return u24(g.u32())
}

// Float64 draws a uniform number in [0,1) with 53 bits.
func (g *Generator) Float64() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.u53()
}

// NormFloat64 draws one standard normal number by the scalar path.
func (g *Generator) NormFloat64() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.norm()
}

// The lower-case draws below expect the lock to be held.

func (g *Generator) u32() uint32 {
	g.left--
	if g.left == 0 {
		g.twist()
		g.left, g.next = mtN, 0
	}
	y := g.mt[g.next]
	g.next++
	return temper(y)
}

func (g *Generator) u64() uint64 {
	hi := g.u32()
	return uint64(hi)<<32 | uint64(g.u32())
}

func (g *Generator) u53() float64 { return u53(g.u64()) }

// norm is the scalar normal: Box-Muller in float64, two numbers at a time, the
// second of which waits in the generator.
func (g *Generator) norm() float64 {
	if g.normalValid {
		v := g.normal
		g.normal, g.normalValid = 0, false
		return v
	}
	u1 := g.u53()
	a, b := normalPair(u1, g.u53())
	g.normal, g.normalValid = b, true
	return a
}

// normalPair makes two normals of two uniform numbers.
func normalPair(u1, u2 float64) (a, b float64) {
	r := math.Sqrt(-2 * log1p(-u2))
	sin, cos := sincos(2 * math.Pi * u1)
	return r * cos, r * sin
}

// fill32 draws len(dst) tempered words, whole runs at a time.
func (g *Generator) fill32(dst []uint32) {
	for len(dst) > 0 {
		if g.left == 1 {
			g.twist()
			g.left, g.next = mtN+1, 0 // 625: as before the draw that twists
		}
		n := min(len(dst), g.left-1)
		temperInto(dst[:n], g.mt[g.next:g.next+n])
		g.next += n
		g.left -= n
		dst = dst[n:]
	}
}

func u24(r uint32) float32 { return float32(int32(r&(1<<24-1))) * (1.0 / (1 << 24)) }

func u53(r uint64) float64 { return float64(int64(r&(1<<53-1))) * (1.0 / (1 << 53)) }

// temper turns a state word into an output word.
func temper(y uint32) uint32 {
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// twistWord is the recurrence: m is the word 397 places on, v follows u.
func twistWord(m, u, v uint32) uint32 {
	return m ^ (u&upperBit|v&lowBits)>>1 ^ -(v&1)&matrixA
}

// twist replaces all 624 words by the next 624. Word i needs old words i, i+1
// and, 397 places on modulo 624, an old word for i < 227 and a new one after.
func (g *Generator) twist() {
	mt := &g.mt
	i := twistRun(mt[:mtN-mtM+1], mt[mtM:])
	for ; i < mtN-mtM; i++ {
		mt[i] = twistWord(mt[i+mtM], mt[i], mt[i+1])
	}
	i += twistRun(mt[mtN-mtM:], mt[:mtM-1])
	for ; i < mtN-1; i++ {
		mt[i] = twistWord(mt[i+mtM-mtN], mt[i], mt[i+1])
	}
	mt[mtN-1] = twistWord(mt[mtM-1], mt[mtN-1], mt[0])
}
