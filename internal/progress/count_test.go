package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	if NewCount(nil, "x", 0, 0, false) != nil || NewCount(nil, "x", 0, 3, true) != nil {
		t.Error("nothing to count, or quiet, is not silent")
	}
	var silent *Count
	silent.Add(1)
	silent.Done()

	var out bytes.Buffer
	clock := time.Unix(1000, 0)
	c := newCount(&out, "pictures", 2, 12, func() time.Time { return clock })
	for range 5 {
		clock = clock.Add(3 * time.Second)
		c.Add(2)
	}
	if got, want := out.String(), "pictures: 6 of 12\npictures: 10 of 12\n"; got != want {
		t.Errorf("not on a terminal: %q, want %q", got, want)
	}

	out.Reset()
	c = newCount(&out, "pictures", 0, 12, time.Now)
	c.draw()
	c.Add(3)
	c.Note(&out, "picture %d is none", 3)
	c.Add(9)
	c.Done()
	for _, s := range []string{"pictures", "picture 3 is none\n", "(12/12"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("%q is not in %q", s, out.String())
		}
	}
}
