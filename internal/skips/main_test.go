package main

import (
	"strings"
	"testing"
)

func TestFilter(t *testing.T) {
	const in = `{"Action":"start","Package":"github.com/gotorch-dev/torch/a"}
{"Action":"output","Package":"github.com/gotorch-dev/torch/a","Test":"TestX","Output":"=== RUN   TestX\n"}
{"Action":"output","Package":"github.com/gotorch-dev/torch/a","Test":"TestX","Output":"    x_test.go:7: no data\n"}
{"Action":"output","Package":"github.com/gotorch-dev/torch/a","Test":"TestX","Output":"--- SKIP: TestX (0.00s)\n"}
{"Action":"skip","Package":"github.com/gotorch-dev/torch/a","Test":"TestX"}
{"Action":"output","Package":"github.com/gotorch-dev/torch/a","Test":"TestY/z","Output":"    y_test.go:9: slow: -short\n"}
{"Action":"skip","Package":"github.com/gotorch-dev/torch/a","Test":"TestY/z"}
{"Action":"output","Package":"github.com/gotorch-dev/torch/a","Test":"TestF","Output":"    f_test.go:1: bad\n"}
{"Action":"fail","Package":"github.com/gotorch-dev/torch/a","Test":"TestF"}
{"Action":"output","Package":"github.com/gotorch-dev/torch/a","Test":"TestP","Output":"    p_test.go:1: fine\n"}
{"Action":"pass","Package":"github.com/gotorch-dev/torch/a","Test":"TestP"}
{"Action":"output","Package":"github.com/gotorch-dev/torch/b","Test":"TestX","Output":"    b_test.go:7: no data\n"}
{"Action":"skip","Package":"github.com/gotorch-dev/torch/b","Test":"TestX"}
{"Action":"output","Package":"github.com/gotorch-dev/torch/a","Output":"FAIL\tgithub.com/gotorch-dev/torch/a\t0.1s\n"}
{"Action":"fail","Package":"github.com/gotorch-dev/torch/a"}
# a message of go
`
	var out strings.Builder
	list, err := filter(strings.NewReader(in), &out)
	if err != nil {
		t.Fatal(err)
	}
	if want := "  no data: a.TestX b.TestX\n  slow: -short: a.TestY/z\n"; list != want {
		t.Errorf("skipped:\n%s\nwant\n%s", list, want)
	}
	if want := "    f_test.go:1: bad\nFAIL\tgithub.com/gotorch-dev/torch/a\t0.1s\n# a message of go\n"; out.String() != want {
		t.Errorf("printed:\n%s\nwant\n%s", out.String(), want)
	}
}
