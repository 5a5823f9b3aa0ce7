package nn_test

import (
	"container/list"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
)

type box[T any] struct{ V T }

// withOpen and withPrivate hold a value of any type in an exported and in a private field.
type withOpen[T any] struct {
	nn.Base
	V T
}
type withPrivate[T any] struct {
	nn.Base
	v T
}

type listed struct{ ps []*torch.Tensor }
type outer struct{ in *listed }

func refused[T any](v func() T) map[string]func() nn.Module {
	name := fmt.Sprintf("%T", v)[len("func() "):]
	return map[string]func() nn.Module{
		name + " in an exported field": func() nn.Module { return nn.New(&withOpen[T]{V: v()}) },
		name + " in a private field":   func() nn.Module { return nn.New(&withPrivate[T]{v: v()}) },
	}
}

// TestHiddenParametersAreFound puts a layer or a parameter where the walk does not go.
func TestHiddenParametersAreFound(t *testing.T) {
	l, p := linear(), nn.NewParameter(torch.Ones([]int{1}))
	layers := list.New()
	layers.PushBack(l)
	var some any = l
	for _, rows := range []map[string]func() nn.Module{
		refused(func() chan *nn.Linear { return make(chan *nn.Linear) }),
		refused(func() *list.List { return layers }),
		refused(func() **torch.Tensor { return &p }),
		refused(func() *any { return &some }),
		refused(func() *listed { return &listed{[]*torch.Tensor{nil, p}} }),
		refused(func() *outer { return &outer{&listed{[]*torch.Tensor{p}}} }),
		refused(func() *box[[2]*torch.Tensor] { return &box[[2]*torch.Tensor]{[2]*torch.Tensor{p}} }),
		refused(func() *box[*nn.Linear] { return &box[*nn.Linear]{l} }),
		{
			"atomic.Pointer": func() nn.Module { return nn.New(&withOpen[atomic.Pointer[nn.Linear]]{}) },
			"private list":   func() nn.Module { return nn.New(&withPrivate[[]any]{v: []any{1, l}}) },
			"private map":    func() nn.Module { return nn.New(&withPrivate[map[string]any]{v: map[string]any{"a": p}}) },
			"private box":    func() nn.Module { return nn.New(&withPrivate[box[any]]{v: box[any]{l}}) },
			"sync.Map": func() nn.Module {
				m := &withOpen[sync.Map]{}
				m.V.Store("a", l)
				return nn.New(m)
			},
			"private sync.Map": func() nn.Module {
				m := &withPrivate[sync.Map]{}
				m.v.Store("a", p)
				return nn.New(m)
			},
			"private atomic.Value": func() nn.Module {
				m := &withPrivate[atomic.Value]{}
				m.v.Store(l)
				return nn.New(m)
			},
		},
	} {
		for name, f := range rows {
			if err := torch.Try(func() { f() }); !errors.Is(err, torch.ErrType) ||
				!strings.Contains(err.Error(), "`torch:\"-\"`") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// trainer knows its optimizer, whose parameters are its own.
type trainer struct {
	nn.Base
	Net   *nn.Linear
	sgd   *optim.SGD
	cache *listed
	seen  sync.Map
	log   *list.List
	norm  func(int) nn.Layer
	Boxed box[any]
}

func TestWhatIsWalkedElsewhereMayBeHeld(t *testing.T) {
	net := linear()
	sgd := optim.NewSGD(net.Parameters(), 0.1)
	m := nn.New(&trainer{Net: net, sgd: sgd, cache: &listed{[]*torch.Tensor{torch.Ones([]int{1}), net.Weight}},
		log: list.New(), norm: func(n int) nn.Layer { return nn.NewBatchNorm1d(n) }, Boxed: box[any]{linear()}})
	m.seen.Store("a", 1)
	m.log.PushBack("b")
	if got, want := m.StateDict().Keys(), []string{"net.weight", "boxed.v.weight"}; !slices.Equal(got, want) {
		t.Errorf("state dict %v, want %v", got, want)
	}
}

func TestNewOfNil(t *testing.T) {
	for name, f := range map[string]func(){
		"embedded": func() { nn.New(&scaled{}) },
		"itself":   func() { nn.New((*scaled)(nil)) },
	} {
		if err := torch.Try(f); !errors.Is(err, torch.ErrType) || !strings.Contains(err.Error(), "nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever walks a module says that it is nil.
func TestNilModule(t *testing.T) {
	for _, m := range []nn.Layer{nil, (*nn.Linear)(nil)} {
		for name, f := range map[string]func(){
			"Parameters": func() { nn.Parameters(m) }, "StateDict": func() { nn.StateDict(m) },
			"Eval": func() { nn.Eval(m) }, "Repr": func() { _ = nn.Repr(m) }, "DeepCopy": func() { nn.DeepCopy(m) },
			"Apply": func() { nn.Apply(m, func(nn.Module) {}) }, "ToDType": func() { nn.ToDType(m, torch.Float64) },
			"IsTraining": func() { nn.IsTraining(m) }, "PathOf": func() { nn.PathOf(m) },
			"Call":          func() { nn.Call(m, torch.Ones([]int{1})) },
			"LoadStateDict": func() { _ = nn.LoadStateDict(m, linear().StateDict()) },
		} {
			err := torch.Try(f)
			if !errors.Is(err, torch.ErrType) || !strings.Contains(err.Error(), "is nil") ||
				!strings.Contains(err.Error(), "hidden_test.go:") {
				t.Errorf("%s of %T: %v", name, m, err)
			}
		}
	}
	if err := linear().LoadStateDict(nil); err == nil {
		t.Error("a state dict that is nil is loaded")
	}
}
