package torchscript_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/tensor"
)

// An annotated empty dictionary in a scripted function.
func Example_annotate() {
	m, err := jit.Script(func() *jit.Dict[string, int] {
		d := jit.NewDict[string, int]("d")
		d.Set("name", 20)
		return d
	})
	if err != nil {
		panic(err)
	}
	fmt.Print(m.Code())
	out, _ := m.Call(context.Background(), "forward", nil, nil)
	fmt.Println(graph.Text(out))
	// Output:
	// def forward(self) -> Dict[str, int]:
	//   d = annotate(Dict[str, int], {})
	//   torch._set_item(d, "name", 20)
	//   return d
	// {name: 20}
}

// Outside of a recording an annotation does nothing: the dictionary is an ordinary one.
func TestAnnotateOutside(t *testing.T) {
	d := jit.NewDict[string, int]("d")
	d.Set("a", 1)
	if x, ok := d.Get("a"); x != 1 || !ok || d.Len() != 1 {
		t.Errorf("got %d, %v and %d keys, want 1, true and one key", x, ok, d.Len())
	}
}

// Without an annotation Python's containers hold tensors, and compiling a function that puts a number into one fails.
// In Go the type parameter is the annotation: a call with a number does not compile.
func TestAnnotatedTypes(t *testing.T) {
	for name, method := range map[string]any{
		"Dict.Set":    (*jit.Dict[string, *tensor.Tensor]).Set,
		"List.Append": (*jit.List[*tensor.Tensor]).Append,
	} {
		f := reflect.TypeOf(method)
		if value := f.In(f.NumIn() - 1); reflect.TypeFor[int]().AssignableTo(value) {
			t.Errorf("%s of tensors takes an int as %s", name, value)
		}
	}
}
