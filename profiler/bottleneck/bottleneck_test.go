package bottleneck

import (
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
)

func TestMeasure(t *testing.T) {
	s, err := Measure(func() {
		x := torch.Ones([]int{300, 300})
		for range 20 {
			x.MM(x)
		}
	})
	if err != nil || s.Busy <= 0 || s.Busy > s.Wall*2 || s.Rows[0].Name != "aten::mm" || s.Rows[0].Count != 20 {
		t.Fatalf("%+v, %v", s, err)
	}
	var b strings.Builder
	if err := s.Write(&b); err != nil || !strings.Contains(b.String(), "aten::mm takes") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if _, err := Measure(func() { torch.Ones([]int{2, 3}).MM(torch.Ones([]int{2, 3})) }); err == nil {
		t.Error("a program that fails is no error")
	}
}

// Each finding is there where its cause is, and nowhere else.
func TestFindings(t *testing.T) {
	sec := func(x float64) time.Duration { return time.Duration(x * 1e9) }
	fine := func() *Sums {
		return &Sums{Wall: sec(10), Busy: sec(9.5), UserCPU: 19, GCCPU: 0.1, Threads: 2, Rows: []Row{
			{Name: "aten::a", Count: 100, Self: sec(2.5)}, {Name: "aten::b", Count: 100, Self: sec(2.5)},
			{Name: "aten::c", Count: 100, Self: sec(2.5)}, {Name: "aten::d", Count: 100, Self: sec(2)}}}
	}
	if f := fine().Findings(); len(f) != 1 || !strings.HasPrefix(f[0], "Nothing stands out") {
		t.Fatalf("%q", f)
	}
	for _, c := range []struct {
		want  string
		spoil func(s *Sums)
	}{
		{"outside of operators", func(s *Sums) { s.Busy = sec(5) }},
		{"aten::a takes 40 %", func(s *Sums) { s.Rows[0].Self = sec(4) }},
		{"less than 10µs each", func(s *Sums) { s.Rows = append(s.Rows, Row{Name: "aten::e", Count: 1e6, Self: sec(2)}) }},
		{"copies and conversions", func(s *Sums) { s.Rows[3].Name = "aten::_to_copy" }},
		{"optimizer takes 20 %", func(s *Sums) { s.Rows[3].Name = "aten::_fused_sgd_" }},
		{"read 2000 times", func(s *Sums) {
			s.Rows = append(s.Rows, Row{Name: "aten::_local_scalar_dense", Count: 2000, Self: sec(0.02)})
		}},
		{"garbage collector takes", func(s *Sums) { s.GCCPU = 4 }},
		{"1.0 work on average", func(s *Sums) { s.UserCPU = 10 }},
	} {
		s := fine()
		c.spoil(s)
		if f := s.Findings(); len(f) != 1 || !strings.Contains(f[0], c.want) {
			t.Errorf("want %q, got %q", c.want, f)
		}
	}
	if f := (&Sums{}).Findings(); len(f) != 1 {
		t.Errorf("%q", f)
	}
}
