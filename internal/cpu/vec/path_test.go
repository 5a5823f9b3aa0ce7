package vec

import (
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// kernelEntry is a generated kernel in its dispatching and its plain form.
type kernelEntry struct {
	name     string
	dispatch any
	generic  any
	narrow   any // what the AVX2 and NEON paths compute, if that is not generic
}

// plain is what the present path computes.
func (k kernelEntry) plain() reflect.Value {
	if k.narrow != nil && (cpu.HasAVX2FMA && !cpu.HasAVX512 || cpu.HasNEON) {
		return reflect.ValueOf(k.narrow)
	}
	return reflect.ValueOf(k.generic)
}

// plainOf is plain of the kernel of that name.
func plainOf(name string) any {
	i := slices.IndexFunc(kernelTable, func(k kernelEntry) bool { return k.name == name })
	return kernelTable[i].plain().Interface()
}

// guard is the number of canary elements on either side of a test slice.
const guard = 32

// specials are float values at which implementations like to differ.
var specials = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(),
	1, -1, 0.5, 2, 1e-40, -1e-40, 1e-45, 3e38, -3e38, 88.7, 89, -87.5, -103.9, -104.5, 0.625, 0.92, 1e-8, 1.5, 2.5,
	65504, 65519, 65520}

// fillTest fills a slice of any element type; about one float in eight is special.
func fillTest(v reflect.Value, r *rand.Rand, special bool) {
	number := func() float64 {
		if special && r.Intn(8) == 0 {
			return specials[r.Intn(len(specials))]
		}
		return r.NormFloat64() * (1 + 3*r.Float64())
	}
	switch s := v.Interface().(type) {
	case []float32:
		for i := range s {
			s[i] = float32(number())
		}
		return
	case []float64:
		for i := range s {
			s[i] = number()
		}
		return
	}
	for i := 0; i < v.Len(); i++ {
		e := v.Index(i)
		switch e.Kind() {
		case reflect.Uint8:
			e.SetUint(uint64(r.Intn(256) * r.Intn(2)))
		case reflect.Uint16:
			e.SetUint(uint64(r.Intn(65536)))
		case reflect.Int8:
			e.SetInt(int64(r.Intn(256) - 128))
		case reflect.Int16:
			e.SetInt(int64(int16(r.Uint32())))
		case reflect.Int32:
			e.SetInt(int64(int32(r.Uint32())))
		case reflect.Int64:
			e.SetInt(int64(r.Uint64()))
		case reflect.Uint32:
			e.SetUint(uint64(r.Uint32()))
		default:
			panic(e.Kind().String())
		}
	}
}

// canary overwrites the guards with a value that poisons whatever reads it
// and is recognised when it has been overwritten.
func canary(e reflect.Value) {
	switch e.Kind() {
	case reflect.Float32:
		e.SetFloat(float64(math.Float32frombits(0x7fc0dead)))
	case reflect.Float64:
		e.SetFloat(math.NaN())
	case reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		e.SetInt(-77)
	default:
		e.SetUint(0xa5)
	}
}

func isCanary(e reflect.Value) bool {
	switch e.Kind() {
	case reflect.Float32, reflect.Float64:
		return e.Float() != e.Float()
	case reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		return e.Int() == -77
	}
	return e.Uint() == 0xa5
}

// sameBits compares two numbers; all NaN are equal.
func sameBits(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		x, y := a.Float(), b.Float()
		return x != x && y != y || math.Float64bits(x) == math.Float64bits(y)
	case reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		return a.Int() == b.Int()
	}
	return a.Uint() == b.Uint()
}

// sameIn is sameBits for an argument of a kernel: where it holds float16, NaN payloads may differ, which addition takes
// from either operand.
func sameIn(kernel string, a, b reflect.Value) bool {
	if a.Kind() == reflect.Uint16 && strings.HasSuffix(kernel, "F16") && !strings.HasSuffix(kernel, "BF16") {
		return same16(uint16(a.Uint()), uint16(b.Uint()), halfFormats[0].inf)
	}
	return sameBits(a, b)
}

// callArgs builds arguments for f: slices of length n at the given offset
// within guarded buffers, and scalars.
func callArgs(f reflect.Type, n, off int, seed int64, special bool) (args, bufs []reflect.Value) {
	r := rand.New(rand.NewSource(seed))
	for i := 0; i < f.NumIn(); i++ {
		t := f.In(i)
		if t.Kind() != reflect.Slice {
			s := reflect.New(t).Elem()
			s.SetFloat([]float64{0.75, 1.25, -0.5, 0.1}[i%4])
			args = append(args, s)
			bufs = append(bufs, reflect.Value{})
			continue
		}
		buf := reflect.MakeSlice(t, n+2*guard, n+2*guard)
		lo := guard/2 + off
		for j := 0; j < buf.Len(); j++ {
			canary(buf.Index(j))
		}
		s := buf.Slice3(lo, lo+n, lo+n)
		fillTest(s, r, special)
		args = append(args, s)
		bufs = append(bufs, buf)
	}
	return args, bufs
}

// eachPath runs f once for every path that this machine has.
func eachPath(t *testing.T, f func(t *testing.T)) {
	for _, l := range cpu.Levels() {
		t.Run(l.Name, func(t *testing.T) {
			defer cpu.Set(l.Features)()
			f(t)
		})
	}
}

// TestPathsAgree runs every kernel on every path: the results must have the
// bits of the plain Go version, for every short length and alignment, and
// nothing outside of the slices may be touched.
func TestPathsAgree(t *testing.T) {
	var lengths []int
	for n := 0; n <= 70; n++ {
		lengths = append(lengths, n)
	}
	if testing.Short() {
		lengths = []int{0, 1, 5, 8, 13, 16, 31, 64, 70}
	}
	lengths = append(lengths, 127, 128, 129, 255, 511, 1001, 4097)
	eachPath(t, func(t *testing.T) {
		lengths := lengths
		if !cpu.HasAVX512 && !cpu.HasAVX2FMA && !cpu.HasNEON { // only the guards are at stake
			lengths = []int{0, 1, 2, 3, 7, 16, 33, 70, 255}
		}
		for _, k := range kernelTable {
			f, g := reflect.ValueOf(k.dispatch), k.plain()
			if err := comparePaths(k.name, f, g, lengths); err != nil {
				t.Errorf("%s: %v", k.name, err)
			}
		}
	})
}

func comparePaths(kernel string, f, g reflect.Value, lengths []int) error {
	for li, n := range lengths {
		off := (li * 7) % 16
		special := li%3 != 0
		a, abuf := callArgs(f.Type(), n, off, int64(li), special)
		b, _ := callArgs(f.Type(), n, off, int64(li), special)
		if err := compareCall(kernel, f, g, a, b, abuf, off, n); err != nil {
			return fmt.Errorf("n=%d offset=%d: %v", n, off, err)
		}
		// Once more with the destination in place of each input of its type.
		for j := 1; j < len(a); j++ {
			if f.Type().NumOut() == 0 && a[j].Type() == a[0].Type() && a[j].Kind() == reflect.Slice {
				if distinctArgs(kernel) || n > 70 && j > 1 {
					continue
				}
				a, abuf := callArgs(f.Type(), n, off, int64(li), special)
				b, _ := callArgs(f.Type(), n, off, int64(li), special)
				a[0], abuf[0] = a[j], abuf[j]
				b[0] = b[j]
				if err := compareCall(kernel, f, g, a, b, abuf, off, n); err != nil {
					return fmt.Errorf("n=%d offset=%d, argument %d is the destination: %v", n, off, j, err)
				}
			}
		}
	}
	return nil
}

// distinctArgs reports optimizer-like kernels, whose arguments are all distinct.
func distinctArgs(kernel string) bool {
	base := strings.TrimSuffix(strings.TrimSuffix(kernel, "F32"), "F64")
	switch base {
	case "Adam", "AdamAMSGrad", "SGD", "SGDMomentum", "SGDNesterov", "NormalizeParamsBackward":
		return true
	}
	return strings.HasPrefix(base, "Accumulate")
}

func compareCall(kernel string, f, g reflect.Value, a, b, abuf []reflect.Value, off, n int) error {
	ra, rb := f.Call(a), g.Call(b)
	for i := range ra {
		if !sameBits(ra[i], rb[i]) {
			return fmt.Errorf("result %d: got %v, plain Go gives %v", i, ra[i], rb[i])
		}
	}
	for i := range a {
		if a[i].Kind() != reflect.Slice {
			continue
		}
		for j := 0; j < n; j++ {
			if !sameIn(kernel, a[i].Index(j), b[i].Index(j)) {
				return fmt.Errorf("argument %d element %d: got %v, plain Go gives %v", i, j, a[i].Index(j),
					b[i].Index(j))
			}
		}
		for j := 0; j < abuf[i].Len(); j++ {
			if in := j - (guard/2 + off); (in < 0 || in >= n) && !isCanary(abuf[i].Index(j)) {
				return fmt.Errorf("argument %d: wrote outside, at %d", i, in)
			}
		}
	}
	return nil
}

// TestChunks crosses chunk boundaries, which the short lengths do not.
func TestChunks(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		for _, k := range kernelTable {
			switch k.name {
			case "AddF32", "ExpF32", "EqF64", "F32ToBF16s", "AddF16", "ExpBF16", "AdamF32", "F64ToF32s":
				if err := comparePaths(k.name, reflect.ValueOf(k.dispatch), k.plain(),
					[]int{2*chunk + 13}); err != nil {
					t.Errorf("%s: %v", k.name, err)
				}
			}
		}
	})
}
