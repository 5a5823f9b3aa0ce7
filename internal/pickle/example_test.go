package pickle_test

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/pickle"
)

func ExampleUnmarshal() {
	// What Python's pickle.dumps({"lr": 0.1, "betas": (0.9, 0.999)}, 2) wrote.
	data := []byte("\x80\x02}q\x00(X\x02\x00\x00\x00lrq\x01G?\xb9\x99\x99\x99\x99\x99\x9a" +
		"X\x05\x00\x00\x00betasq\x02G?\xec\xcc\xcc\xcc\xcc\xcc\xcdG?\xef\xf7\xce\xd9\x16\x87+\x86q\x03u.")
	v, err := pickle.Unmarshal(data, pickle.DecodeOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	lr, _ := v.(*pickle.Dict).Get("lr")
	fmt.Println(v, lr)
	// Output: {'lr': 0.1, 'betas': (0.9, 0.999)} 0.1
}

// A call in the stream is described, never made.
func ExampleObject() {
	v, _ := pickle.Unmarshal([]byte("cos\nsystem\nU\x08rm -rf /\x85R."), pickle.DecodeOptions{})
	o := v.(*pickle.Object)
	fmt.Println(o.Class, o.Args)
	// Output: os.system ('rm -rf /',)
}

func ExampleMarshal() {
	d := pickle.NewDict(pickle.OrderedDict)
	d.Set("epoch", int64(3))
	b, err := pickle.Marshal(d, pickle.EncodeOptions{})
	fmt.Printf("%q %v\n", b, err)
	// Output: "\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01X\x05\x00\x00\x00epochq\x02K\x03s." <nil>
}
