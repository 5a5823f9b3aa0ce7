package pointwise

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// The Airy function Ai is computed from Chebyshev series (NIST Digital Library of Mathematical Functions, 3.11(ii)), in
// three parts. The coefficients were fitted to values of 40 digits at the zeros of a Chebyshev polynomial.
//
//   - Between -4 and 1, airyMiddle is a series of Ai itself.
//   - Above, with ζ = 2/3 x^(3/2), Ai(x) = exp(-ζ) x^(-1/4) f(1/(1+ζ)), and airyDecay is the series of f (DLMF 9.7.5).
//   - Below, with ζ of -x, Ai(x) = |x|^(-1/4) (cos(ζ-π/4) p(1/ζ²) + sin(ζ-π/4) q(1/ζ²)/ζ), and airyCos and airySin are
//     the series of p and q (DLMF 9.7.9).
const (
	airyLow  = -4
	airyHigh = 1
	// airyZero is where PyTorch's result is 0, since float64 has no smaller numbers.
	airyZero = 103.892
	// airyFar is the largest 1/ζ² below airyLow, where ζ is 16/3.
	airyFar = 9.0 / 256
)

var airyMiddle = [...]float64{0.0902741407414222641, 0.292497226472885946, -0.186750998521440997, -0.193608007176237878,
	0.157216375753179248, -0.00447928478738008383, -0.0293353784470505514, 0.00952997484635798763,
	0.000917402791148484618, -0.00120380353889602301, 0.000214080255398925225, 0.0000407377054715331082,
	-0.0000229238319963267461, 2.37475386860823237e-6, 7.30460400454505857e-7, -2.51128380563167594e-7,
	1.42118762694196005e-8, 7.45244080023919715e-9, -1.7807928236162852e-9, 3.9528018965627896e-11,
	4.97347084802356489e-11, -8.80696058925138172e-12, -5.25662530010414549e-14, 2.35170021420734521e-13,
	-3.19642987834330835e-14, -1.00364069663783025e-15, 8.30746298379744361e-16, -8.82895630226209512e-17,
	-4.99127054105002001e-18, 2.2774810113154201e-18}
var airyDecay = [...]float64{0.273980218116547604, -0.00908740658178026819, -0.00114092752256723865,
	-0.000196542268896168359, -0.0000338284437467848142, -6.37858064785271494e-6, -1.19581388554665777e-6,
	-2.36280633317229127e-7, -4.61192307837862876e-8, -9.39218843301050469e-9, -1.87339178145616749e-9,
	-3.90647775952851791e-10, -7.86877697359179575e-11, -1.67966326577868431e-11, -3.37585615708926732e-12,
	-7.42995448058857271e-13, -1.46198815930265768e-13, -3.38892655930317794e-14, -6.27445515746261712e-15,
	-1.61581141223510221e-15, -2.55196708524482304e-16, -8.34122770843795729e-17, -8.35177199941186268e-18,
	-4.98536366816703344e-18, 1.71447711834260327e-20, -3.73872558287973726e-19}
var airyCos = [...]float64{0.563834645716567754, -0.00035074744435224882, 4.05155472493678587e-6,
	-1.30681530146379605e-7, 7.45648970311795975e-9, -6.17152100584718475e-10, 6.65440216222434592e-11,
	-8.75556895430679206e-12, 1.34667958224865829e-12, -2.35014801083946602e-13, 4.5539567118307684e-14,
	-9.64063081381550429e-15, 2.20200099796497806e-15, -5.37332849599521563e-16, 1.38975753152433987e-16,
	-3.78519162010187521e-17, 1.07982483309278176e-17, -3.21197889536321164e-18}
var airySin = [...]float64{0.0388284894006804125, -0.000343543604123845118, 7.43271877423467263e-6,
	-3.39307672796999061e-7, 2.44155149093875436e-8, -2.39652599743831569e-9, 2.95200090775926806e-10,
	-4.3286266501073543e-11, 7.29147867296864202e-12, -1.3757930881317374e-12, 2.85426175428347795e-13,
	-6.41963895784549881e-14, 1.54821392355591836e-14, -3.96878153360031586e-15, 1.07377206788632254e-15,
	-3.04833919294936079e-16, 9.03646152389387882e-17, -2.78570155032826907e-17, 8.89920817386741929e-18,
	-2.9372440806730942e-18, 9.98998531801212915e-19, -3.49327550481500984e-19, 1.25334333363646505e-19}

// chebyshevSum is the sum of c[k]·T_k(t) by Clenshaw's recurrence.
func chebyshevSum(c []float64, t float64) float64 {
	b1, b2 := 0.0, 0.0
	for k := len(c) - 1; k > 0; k-- {
		b1, b2 = 2*t*b1-b2+c[k], b1
	}
	return t*b1 - b2 + c[0]
}

func airy(d, a []float64) {
	planes(len(d), func(p *planesOf[float64], lo, hi int) {
		d, a := d[lo:hi], a[lo:hi]
		x, zeta, sin, cos, decay := p.ar, p.ai, p.br, p.bi, p.t
		vec.AbsF64(x, a)
		far, below := false, false
		for i, v := range x {
			zeta[i] = 2.0 / 3 * v * math.Sqrt(v)
			far = far || v > airyHigh
			below = below || a[i] < airyLow
		}
		if far {
			vec.NegF64(decay, zeta)
			vec.ExpF64(decay, decay)
		}
		if below {
			vec.SinF64(sin, zeta)
			vec.CosF64(cos, zeta)
		}
		for i, v := range a {
			switch {
			case math.IsInf(v, 0): // PyTorch's result, though the limits are 0
				d[i] = math.NaN()
			case v > airyZero:
				d[i] = 0
			case v > airyHigh:
				const mid = 1 / (1 + 2.0/3) / 2 // half of the largest 1/(1+ζ)
				d[i] = decay[i] * chebyshevSum(airyDecay[:], 1/(1+zeta[i])/mid-1) / math.Sqrt(math.Sqrt(v))
			case v < airyLow:
				z := zeta[i]
				t := 1/(z*z)*(2/airyFar) - 1
				c, s := (cos[i]+sin[i])*(math.Sqrt2/2), (sin[i]-cos[i])*(math.Sqrt2/2) // of ζ-π/4
				d[i] = (c*chebyshevSum(airyCos[:], t) + s*chebyshevSum(airySin[:], t)/z) / math.Sqrt(math.Sqrt(x[i]))
			default:
				d[i] = chebyshevSum(airyMiddle[:], (v-(airyLow+airyHigh)/2.0)*(2.0/(airyHigh-airyLow)))
			}
		}
	})
}

func init() {
	floatOnly("special_airy_ai(Tensor x) -> Tensor",
		"is the Airy function Ai, the solution of y'' = xy that vanishes for large x; NaN at both infinities and "+
			"without "+
			"a gradient, as in PyTorch.", fast2("airy_ai", nil, airy, nil),
		tensor.Def{NoGrad: "PyTorch gives none either"})
}
