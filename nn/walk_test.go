package nn_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
)

func linear() *nn.Linear { return nn.NewLinear(1, 1, nn.LinearOptions{NoBias: true}) }

type pair struct{ Left, Right *nn.Linear }

// everything holds layers and parameters in all ways that are walked.
type everything struct {
	nn.Base
	Map     map[string]*nn.Linear
	Array   [2]*nn.Linear
	Nested  [][]nn.Layer
	Group   pair
	Groups  []pair
	Value   nn.Linear
	Values  []nn.Linear
	Layer   nn.Layer
	Any     any
	Anys    []any
	Params  map[string]*torch.Tensor
	Grid    [][]*torch.Tensor
	Buffers []*torch.Tensor `torch:"stats,buffer"`
	Plain   *torch.Tensor
	Number  any
	Teacher *nn.Linear `torch:"-"`
	Nil     nn.Layer
	cache   *torch.Tensor
	caches  []*torch.Tensor
}

func newEverything() *everything {
	p := func() *torch.Tensor { return nn.NewParameter(torch.Ones([]int{1})) }
	return nn.New(&everything{
		Map: map[string]*nn.Linear{"b": linear(), "a": linear()}, Array: [2]*nn.Linear{linear(), linear()},
		Nested: [][]nn.Layer{{linear()}, {linear(), linear()}}, Group: pair{linear(), linear()},
		Groups: []pair{{Left: linear()}},
		Value:  *linear(), Values: []nn.Linear{*linear()}, Layer: linear(), Any: linear(), Anys: []any{3, linear()},
		Params: map[string]*torch.Tensor{"y": p(), "x": p()}, Grid: [][]*torch.Tensor{{p()}, {p()}},
		Buffers: []*torch.Tensor{torch.Ones([]int{1})}, Plain: torch.Ones([]int{1}), Number: 5, Teacher: linear(),
		Nil: (*nn.Linear)(nil), cache: torch.Ones([]int{1}), caches: []*torch.Tensor{torch.Ones([]int{1}), nil},
	})
}

func TestWhatReflectionReachesIsWalked(t *testing.T) {
	m := newEverything()
	want := []string{"params.x", "params.y", "grid.0.0", "grid.1.0", "stats.0", "map.a.weight", "map.b.weight",
		"array.0.weight", "array.1.weight", "nested.0.0.weight", "nested.1.0.weight", "nested.1.1.weight",
		"group.left.weight", "group.right.weight", "groups.0.left.weight", "value.weight", "values.0.weight",
		"layer.weight", "any.weight", "anys.1.weight"}
	if got := m.StateDict().Keys(); !slices.Equal(got, want) {
		t.Errorf("state dict\n%v, not\n%v", got, want)
	}
	if n := len(m.Parameters()); n != len(want)-1 {
		t.Errorf("%d parameters, not %d", n, len(want)-1)
	}
	m.Eval()
	for name, c := range nn.NamedModules(m) {
		if l, ok := c.(*nn.Linear); ok && l.Training() {
			t.Errorf("%s is still in training mode", name)
		}
	}
	if !m.Teacher.Training() || m.Value.Training() || m.Values[0].Training() {
		t.Error("Eval missed a value, or switched what the tag leaves out")
	}
	for _, s := range []string{"(map): ModuleDict(", "(group): pair(", "(nested): ModuleList(", "(any): Linear("} {
		if !strings.Contains(m.String(), s) {
			t.Errorf("%q is not printed in\n%s", s, m)
		}
	}
	if m.Value.Train(); !m.Value.Training() || m.Value.Parameters()[0] != m.Value.Weight {
		t.Error("a module by value does not know itself")
	}
	b := newEverything()
	if err := b.LoadStateDict(m.StateDict()); err != nil {
		t.Error(err)
	}
}

type privateLayer struct {
	nn.Base
	body *nn.Sequential
	Head *nn.Linear
}
type privateList struct {
	nn.Base
	layers []nn.Layer
}
type privateParam struct {
	nn.Base
	scale *torch.Tensor
}
type privateMap struct {
	nn.Base
	scales map[string]*torch.Tensor
}
type privateAny struct {
	nn.Base
	thing any
}
type sameName struct {
	nn.Base
	FC1, Fc1 *nn.Linear
}
type numbered struct {
	nn.Base
	Layers map[int]*nn.Linear
}
type hiddenGroup struct {
	nn.Base
	Group struct{ fc *nn.Linear }
}
type pointed struct {
	nn.Base
	Group *pair
}
type scales struct{ W *torch.Tensor }
type pointedParam struct {
	nn.Base
	S *scales
}
type byValue struct {
	nn.Base
	W torch.Tensor
}
type tail struct {
	nn.Sequential
	tail *nn.Linear
}
type loop struct {
	nn.Base
	Next nn.Module
}

func TestWhatCannotBeWalkedIsRefused(t *testing.T) {
	p := nn.NewParameter(torch.Ones([]int{1}))
	for want, f := range map[string]func() nn.Module{
		"privateLayer.body (*nn.Sequential) is a private field that holds a module": func() nn.Module {
			return nn.New(&privateLayer{body: nn.NewSequential()})
		},
		"export it (Layers)":                       func() nn.Module { return nn.New(&privateList{layers: nil}) },
		"privateParam.scale (*tensor.Tensor) is a": func() nn.Module { return nn.New(&privateParam{scale: p}) },
		"tensors in a map": func() nn.Module {
			return nn.New(&privateMap{scales: map[string]*torch.Tensor{}})
		},
		"private field that holds a module (*nn.Linear)": func() nn.Module {
			return nn.New(&privateAny{thing: linear()})
		},
		`sameName.FC1 and sameName.Fc1 both have the name "fc1"`: func() nn.Module { return nn.New(&sameName{}) },
		"keys are no strings (int)":                              func() nn.Module { return nn.New(&numbered{}) },
		"hiddenGroup.Group": func() nn.Module {
			return nn.New(&hiddenGroup{Group: struct{ fc *nn.Linear }{linear()}})
		},
		"embed nn.Base in nn_test.pair": func() nn.Module { return nn.New(&pointed{}) },
		"holds a parameter where the walk does not reach it": func() nn.Module {
			return nn.New(&pointedParam{S: &scales{p}})
		},
		"a torch.Tensor by value": func() nn.Module { return nn.New(&byValue{}) },
		"tail.tail (*nn.Linear)":  func() nn.Module { return nn.New(&tail{tail: nil}) },
	} {
		err := torch.Try(func() { f() })
		if !errors.Is(err, torch.ErrType) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "walk_test.go:") {
			t.Errorf("%v, not %q", err, want)
		}
	}
	// what is set after New is found by the next walk
	m := nn.New(&privateParam{})
	m.scale = p
	for name, f := range map[string]func(){
		"Parameters": func() { m.Parameters() }, "StateDict": func() { m.StateDict() }, "Eval": func() { m.Eval() },
		"String": func() { _ = m.String() }, "Apply": func() { m.Apply(func(nn.Module) {}) },
		"outer": func() { nn.NewModuleList(m).Parameters() }, "ToDType": func() { m.Double() },
	} {
		if err := torch.Try(f); err == nil {
			t.Errorf("%s goes on without a parameter", name)
		}
	}
	l := nn.New(&loop{})
	l.Next = nn.NewModuleList(l)
	for name, f := range map[string]func(){
		"StateDict": func() { l.StateDict() }, "String": func() { _ = l.String() },
		"Apply": func() { l.Apply(func(nn.Module) {}) },
	} {
		if err := torch.Try(f); err == nil || !strings.Contains(err.Error(), "inside itself") {
			t.Errorf("%s of a module inside itself: %v", name, err)
		}
	}
	if len(l.Parameters()) != 0 {
		t.Error("parameters of nothing")
	}
}

// tagger is a Sequential with a layer behind it.
type tagger struct {
	nn.Sequential
	Out *nn.Linear
}

// scaled is a Linear, held by pointer, with one parameter more.
type scaled struct {
	*nn.Linear
	Scale *torch.Tensor
}

func TestEmbeddedModulesAreInherited(t *testing.T) {
	m := nn.New(&tagger{Out: linear()})
	m.Append(linear())
	if got := fmt.Sprint(m.StateDict().Keys()); got != "[0.weight out.weight]" {
		t.Errorf("a struct that embeds a Sequential has %s", got)
	}
	s := nn.New(&scaled{Linear: linear(), Scale: nn.NewParameter(torch.Ones([]int{1}))})
	if got := fmt.Sprint(s.StateDict().Keys()); got != "[weight scale]" || len(s.Parameters()) != 2 {
		t.Errorf("a struct that embeds a pointer to a Linear has %s", got)
	}
}

type classifier struct {
	nn.Base
	Net  *nn.Sequential
	Head *nn.Linear
}

func (c *classifier) Forward(x *torch.Tensor) *torch.Tensor { return c.Head.Forward(c.Net.Forward(x)) }

func TestErrorsNameTheLayerAndTheLine(t *testing.T) {
	c := nn.New(&classifier{
		Net:  nn.NewSequential(nn.NewLinear(4, 3), nn.NewReLU(), nn.NewSequential(nn.NewLinear(7, 2))),
		Head: nn.NewLinear(5, 1),
	})
	for _, at := range []struct {
		x    []int
		want string
	}{
		{[]int{2, 9}, "in net.0 (Linear) of classifier at "}, // one operator computes it with the next
		{[]int{2, 4}, "in net.2.0 (Linear) of classifier at "},
	} {
		err := torch.Try(func() { c.Forward(torch.Ones(at.x)) })
		var e *torch.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), at.want) ||
			!strings.Contains(e.Caller, "walk_test.go:") {
			t.Errorf("%v does not contain %q", err, at.want)
			continue
		}
		if s := fmt.Sprintf("%+v", err); !strings.Contains(s, "TestErrorsNameTheLayerAndTheLine") ||
			!strings.Contains(s, "nn.(*Sequential).Forward") || !strings.HasPrefix(s, e.Error()) {
			t.Errorf("%%+v prints no stack: %s", s)
		}
	}
	err := torch.Try(func() { nn.Call(nn.NewLinear(2, 2), nil) })
	if err == nil || !strings.Contains(err.Error(), "' is nil") || !strings.Contains(err.Error(), "in Linear at") {
		t.Errorf("Linear.Forward(nil): %v", err)
	}
	if err := torch.Try(func() { nn.NewSequential(nil) }); !errors.Is(err, torch.ErrType) {
		t.Errorf("a nil layer in a Sequential: %v", err)
	}
}
