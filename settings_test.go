package torch_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
)

func ExampleForkRNG() {
	torch.ManualSeed(1)
	a := torch.Rand([]int{2})
	torch.ManualSeed(1)
	torch.ForkRNG(func() { torch.Rand([]int{1000}) })
	b := torch.Rand([]int{2})
	fmt.Println(a.Equal(b))
	// Output: true
}

func ExampleAsTensor() {
	x := torch.AsTensor([]int{1, 2, 3}, torch.AsTensorOptions{DType: torch.Float64})
	fmt.Println(x, torch.AsTensor(x) == x, torch.AsTensor(2).DType())
	// Output: tensor([1., 2., 3.], dtype=torch.float64) true torch.int64
}

func ExampleTensor_ToList() {
	x := torch.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(x.ToList(), torch.TensorOf(int32(7)).ToList())
	// Output: [[1 2] [3 4]] [7]
}

func ExampleTensor_ApplyInPlace() {
	x := torch.FromSlice([]float32{1, 2, 3})
	x.ApplyInPlace(func(v float64) float64 { return 10 * v })
	x.MapInPlace(torch.AsTensor(float32(1)), func(v, w float64) float64 { return v + w })
	fmt.Println(x)
	// Output: tensor([11., 21., 31.])
}

func TestFromBufferAndFile(t *testing.T) {
	data := []byte{1, 0, 2, 0, 255, 255}
	x, err := torch.FromBuffer(data, torch.Int16)
	if err != nil || !slices.Equal(torch.Data[int16](x), []int16{1, 2, -1}) {
		t.Errorf("FromBuffer: %v, %v", x, err)
	}
	x, err = torch.FromBuffer(data, torch.Int16, torch.FromBufferOptions{Offset: 2, Count: 1})
	if err != nil || !slices.Equal(torch.Data[int16](x), []int16{2}) {
		t.Errorf("FromBuffer from offset 2: %v, %v", x, err)
	}
	x, err = torch.FromBuffer([]byte{0, 5}, torch.Bool)
	if err != nil || !bytes.Equal([]byte(fmt.Sprint(torch.Data[bool](x))), []byte("[false true]")) {
		t.Errorf("FromBuffer of bool: %v, %v", x, err)
	}
	for _, o := range []torch.FromBufferOptions{{Offset: 7}, {Offset: -1}, {Count: 4}, {Count: -1}, {Offset: 1},
		{Count: 1 << 62}} {
		if _, err := torch.FromBuffer(data, torch.Int16, o); !errors.Is(err, torch.ErrValue) {
			t.Errorf("FromBuffer%+v: %v, want ErrValue", o, err)
		}
	}
	if _, err := torch.FromBuffer(data, 200); !errors.Is(err, torch.ErrDType) {
		t.Errorf("FromBuffer of no dtype: %v, want ErrDType", err)
	}
	path := filepath.Join(t.TempDir(), "numbers")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	x, err = torch.FromFile(path, 2, torch.Int16)
	if err != nil || !slices.Equal(torch.Data[int16](x), []int16{1, 2}) {
		t.Errorf("FromFile: %v, %v", x, err)
	}
	for _, n := range []int{4, -1, 1 << 62} {
		if _, err := torch.FromFile(path, n, torch.Int16); !errors.Is(err, torch.ErrValue) {
			t.Errorf("FromFile of %d elements: %v, want ErrValue", n, err)
		}
	}
}

func TestSetDefaultDevice(t *testing.T) {
	torch.SetDefaultDevice(torch.Meta)
	defer torch.SetDefaultDevice(torch.CPU)
	if d := torch.Zeros([]int{2}).Device(); d != torch.Meta {
		t.Errorf("zeros on %s, want meta", d)
	}
	torch.WithDevice(torch.CPU, func() {
		if d := torch.Zeros([]int{2}).Device(); d != torch.CPU {
			t.Errorf("zeros inside WithDevice(CPU) on %s, want the CPU", d)
		}
	})
}

func TestSettings(t *testing.T) {
	defer torch.UseDeterministicAlgorithms(false)
	for _, c := range []struct {
		set  func()
		mode int
		warn bool
	}{
		{func() { torch.UseDeterministicAlgorithms(true) }, 2, false},
		{func() { torch.UseDeterministicAlgorithms(true, true) }, 1, true},
		{func() { torch.UseDeterministicAlgorithms(false) }, 0, false},
		{func() { torch.SetDeterministicDebugMode(1) }, 1, true},
	} {
		c.set()
		if torch.GetDeterministicDebugMode() != c.mode || torch.AreDeterministicAlgorithmsEnabled() != (c.mode > 0) ||
			torch.IsDeterministicAlgorithmsWarnOnlyEnabled() != c.warn {
			t.Errorf("mode %d, want %d", torch.GetDeterministicDebugMode(), c.mode)
		}
	}
	if err := torch.Try(func() { torch.SetDeterministicDebugMode(3) }); !errors.Is(err, torch.ErrValue) {
		t.Errorf("debug mode 3: %v, want ErrValue", err)
	}
	defer torch.SetFloat32MatmulPrecision("highest")
	torch.SetFloat32MatmulPrecision("medium")
	if p := torch.GetFloat32MatmulPrecision(); p != "medium" {
		t.Errorf("precision %q, want medium", p)
	}
	n := 0
	before := torch.SetWarnings(func(torch.Warning) { n++ })
	defer func() { torch.SetWarnings(before) }()
	torch.SetWarnAlways(true)
	defer torch.SetWarnAlways(false)
	for range 2 {
		torch.Cov(torch.Ones([]int{1}))
	}
	if n != 2 || !torch.IsWarnAlwaysEnabled() {
		t.Errorf("%d warnings, want 2", n)
	}
}

func TestDimOrder(t *testing.T) {
	for _, c := range []struct {
		x    *torch.Tensor
		want []int
	}{
		{torch.Zeros([]int{2, 3, 4}), []int{0, 1, 2}},
		{torch.Zeros([]int{2, 3, 4}).Transpose(0, 2), []int{2, 1, 0}},
		{torch.Zeros([]int{2, 3, 4, 5}).To(torch.ChannelsLast), []int{0, 2, 3, 1}},
	} {
		if got := c.x.DimOrder(); !slices.Equal(got, c.want) {
			t.Errorf("strides %v: %v, want %v", c.x.Strides(), got, c.want)
		}
	}
}
