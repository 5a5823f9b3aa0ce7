package a

import (
	"sync"
	"sync/atomic"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

type Good struct {
	nn.Base
	FC1    *nn.Linear
	Body   nn.Sequential
	Blocks [][]*nn.Linear
	ByName map[string]nn.Layer
	Heads  heads
	Scale  *tensor.Tensor
	Any    any
	teach  *nn.Linear `torch:"-"`
	mask   *tensor.Tensor
	mu     sync.Mutex
	size   int
}

type heads struct{ Left, Right *nn.Linear }

type Private struct {
	nn.Base
	body *nn.Sequential            // want `Private.body \(\*github.com/gotorch-dev/torch/nn.Sequential\) is a private field that holds a module.*export it \(Body\)`
	list []nn.Layer                // want `Private.list .* is a private field that holds a module`
	deep map[string][2]heads       // want `Private.deep .* is a private field that holds a module`
	save map[string]*tensor.Tensor // want `Private.save .* is a private field with tensors in a map`
	Head *nn.Linear
}

type Names struct {
	nn.Base
	FC1 *nn.Linear
	Fc1 *nn.Linear // want `Names.FC1 and Names.Fc1 both have the name "fc1" in the state dict`
	A   *nn.Linear
	B   *nn.Linear `torch:"a"` // want `Names.A and Names.B both have the name "a"`
}

type Types struct {
	nn.Base
	ByNumber map[int]*nn.Linear      // want `is a map whose keys are no strings \(int\)`
	Keys     map[*nn.Linear]int      // want `has modules as keys of a map`
	Values   map[string]nn.Linear    // want `holds modules by value in a map`
	Pointer  *heads                  // want `is a pointer to what is no module but holds modules: embed nn.Base in heads`
	Value    tensor.Tensor           // want `is a torch.Tensor by value`
	Hidden   struct{ fc *nn.Linear } // want `cannot be walked: the private field fc`
	Numbers  map[int]string
	Queue    chan nn.Layer // want `is a channel of modules`
	Results  chan *tensor.Tensor
	Sizes    chan int
	queue    chan *nn.Linear           // want `Types.queue .* is a private field that holds a module`
	Latest   atomic.Pointer[nn.Linear] // want `holds a module`
}

type Generic[T nn.Module] struct {
	nn.Base
	Inner T
	inner T // want `Generic.inner \(T\) is a private field that holds a module`
}

// Walks knows itself what it holds.
type Walks struct {
	nn.Base
	hidden *nn.Linear
}

func (w *Walks) WalkOwn(child func(string, nn.Module)) { child("hidden", w.hidden) }

// Tail has what the embedded Sequential walks, and a field more.
type Tail struct {
	nn.Sequential
	tail *nn.Linear // want `Tail.tail .* is a private field that holds a module`
}

// trainer is no module.
type trainer struct{ net *nn.Linear }
