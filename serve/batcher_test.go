package serve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/serve"
	"github.com/gotorch-dev/torch/tensor"
)

var background = context.Background()

// gate is a model that doubles, waits to be let through and notes the sizes of its batches.
type gate struct {
	mu    sync.Mutex
	sizes []int
	in    chan bool // receives when a batch has arrived
	open  chan bool // lets one batch through
}

func newGate() *gate { return &gate{in: make(chan bool, 100), open: make(chan bool)} }

func (g *gate) run(x *torch.Tensor) *torch.Tensor {
	g.in <- true
	<-g.open
	g.mu.Lock()
	g.sizes = append(g.sizes, x.Size(0))
	g.mu.Unlock()
	return x.MulScalar(2)
}

func scalar(v float64) *torch.Tensor { return torch.Full([]int{3}, v) }

// Many goroutines get the answers to their own requests, of several shapes, through a prepared module.
func TestBatcher(t *testing.T) {
	torch.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(6, 16), nn.NewReLU(), nn.NewLinear(16, 3))
	nn.Eval(net)
	var most atomic.Int64
	model := utils.OptimizeForInference(net)
	b := serve.New(func(x *torch.Tensor) *torch.Tensor {
		most.Store(max(most.Load(), int64(x.Size(0))))
		return model.Forward(x)
	}, serve.Options{MaxBatch: torch.Some(4), MaxDelay: time.Millisecond})
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 12 {
				shape := []int{6}
				if (g+i)%3 == 0 {
					shape = []int{2, 6}
				}
				x := torch.Full(shape, float64(g*100+i)/700)
				var want *torch.Tensor
				torch.NoGrad(func() { want = net.Forward(x) })
				y, err := b.Do(background, x)
				if err != nil || !tensor.SameShape(y.Shape(), want.Shape()) || y.Sub(want).Abs().Max().Item() > 1e-5 {
					t.Errorf("goroutine %d, request %d: %v, %v, want %v", g, i, y, err, want)
				}
			}
		}()
	}
	wg.Wait()
	b.Close()
	s := b.Stats()
	if s.Requests != 16*12 || s.Batches >= s.Requests || most.Load() > 4 || most.Load() < 2 || s.Failed+s.Busy != 0 {
		t.Errorf("%+v, the largest batch has %d", s, most.Load())
	}
}

// What gathers while a batch is computed is the next batch; a full queue refuses; Close answers what waits.
func TestBatcherQueue(t *testing.T) {
	g := newGate()
	b := serve.New(g.run, serve.Options{MaxBatch: torch.Some(3), Queue: torch.Some(5)})
	var wg sync.WaitGroup
	ask := func(v float64) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			y, err := b.Do(background, scalar(v))
			if err != nil || y.Select(0, 1).Item() != 2*v {
				t.Errorf("request %g: %v, %v", v, y, err)
			}
		}()
	}
	ask(1)
	<-g.in // the first one alone is with the model
	for i := range 5 {
		ask(float64(i + 2))
	}
	for b.Stats().Waiting < 5 {
		time.Sleep(time.Millisecond)
	}
	if _, err := b.Do(background, scalar(9)); !errors.Is(err, serve.ErrBusy) {
		t.Errorf("full queue: %v", err)
	}
	closed := make(chan bool)
	go func() {
		b.Close()
		closed <- true
	}()
	for {
		if _, err := b.Do(background, scalar(9)); errors.Is(err, serve.ErrClosed) {
			break
		}
	}
	select {
	case <-closed:
		t.Error("Close did not wait")
	default:
	}
	close(g.open)
	<-closed
	wg.Wait()
	b.Close()
	if got := fmt.Sprint(g.sizes); got != "[1 3 2]" {
		t.Errorf("batches of %s, want [1 3 2]", got)
	}
}

// A request whose context is done leaves at once and is not computed.
func TestBatcherCancelled(t *testing.T) {
	g := newGate()
	b := serve.New(g.run)
	ctx, cancel := context.WithCancel(background)
	first := make(chan error)
	go func() {
		_, err := b.Do(background, scalar(1))
		first <- err
	}()
	<-g.in
	waiting := make(chan error)
	go func() {
		_, err := b.Do(ctx, scalar(2))
		waiting <- err
	}()
	for b.Stats().Waiting < 1 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	short, stop := context.WithTimeout(background, time.Millisecond)
	defer stop()
	if _, err := b.Do(short, scalar(3)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("timeout: %v", err)
	}
	if _, err := b.Do(ctx, scalar(4)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	close(g.open)
	if err := <-first; err != nil {
		t.Error(err)
	}
	b.Close()
	if s := b.Stats(); fmt.Sprint(g.sizes) != "[1]" || s.Cancelled != 3 {
		t.Errorf("batches of %v, %+v", g.sizes, s)
	}
}

// An error is that of the request that has caused it; a panic of another kind does not end the server.
func TestBatcherErrors(t *testing.T) {
	hold := make(chan bool)
	b := serve.New(func(x *torch.Tensor) *torch.Tensor {
		<-hold
		for i := range x.Size(0) {
			switch x.Select(0, i).Select(0, 0).Item() {
			case 1:
				x.View([]int{7, 7})
			case 2:
				panic("a fault")
			case 3:
				return nil
			case 4:
				return x.Narrow(0, 0, 0)
			}
		}
		return x.AddScalar(1)
	}, serve.Options{MaxBatch: torch.Some(32)})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			kind := i % 6
			y, err := b.Do(background, scalar(float64(kind)))
			var te *torch.Error
			var pe *serve.PanicError
			switch {
			case kind == 1 && errors.As(err, &te) && errors.Is(err, tensor.ErrShape):
			case kind == 2 && errors.As(err, &pe) && pe.Value == "a fault" &&
				strings.Contains(string(pe.Stack), "batcher_test"):
			case (kind == 3 || kind == 4) && errors.As(err, &te) && strings.Contains(err.Error(), "as many rows"):
			case (kind == 0 || kind == 5) && err == nil && y.Select(0, 0).Item() == float64(kind+1):
			default:
				t.Errorf("request of kind %d: %v, %v", kind, y, err)
			}
		}()
	}
	close(hold)
	wg.Wait()
	if _, err := b.Do(background, nil); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("nil: %v", err)
	}
	b.Close()
	if s := b.Stats(); s.Failed != 8 {
		t.Errorf("%+v", s)
	}
}

func TestNewRefuses(t *testing.T) {
	id := func(x *torch.Tensor) *torch.Tensor { return x }
	for name, f := range map[string]func(){
		"MaxBatch": func() { serve.New(id, serve.Options{MaxBatch: torch.Some(0)}) },
		"Queue":    func() { serve.New(id, serve.Options{Queue: torch.Some(-1)}) },
		"Runners":  func() { serve.New(id, serve.Options{Runners: torch.Some(0)}) },
		"MaxDelay": func() { serve.New(id, serve.Options{MaxDelay: -1}) },
		"model":    func() { serve.New(nil) },
	} {
		if err := torch.Try(f); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ExampleBatcher() {
	net := nn.NewSequential(nn.NewLinear(4, 2), nn.NewSoftmax(-1))
	nn.Eval(net)
	b := serve.New(utils.OptimizeForInference(net).Forward, serve.Options{MaxBatch: torch.Some(16)})
	defer b.Close()

	y, err := b.Do(context.Background(), torch.Ones([]int{4})) // from any goroutine
	fmt.Println(y.Shape(), err)
	_, err = b.Do(context.Background(), torch.Ones([]int{5})) // wrong, and answered as such
	fmt.Println(err != nil)
	// Output:
	// [2] <nil>
	// true
}
