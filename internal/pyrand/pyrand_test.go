package pyrand

import (
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func shuffled(seed uint64, count int) []int {
	l := make([]int, count)
	for i := range l {
		l[i] = i
	}
	New(seed).Shuffle(count, func(i, j int) { l[i], l[j] = l[j], l[i] })
	return l
}

func TestAgainstPython(t *testing.T) {
	r := New(100)
	for i, want := range words100 {
		if got := r.Uint32(); got != want {
			t.Errorf("word %d = %d, want %d", i, got, want)
		}
	}
	r = New(100)
	for i, k := range []int{1, 7, 31, 33, 64} {
		if got := r.Bits(k); got != bits100[i] {
			t.Errorf("Bits(%d) = %d, want %d", k, got, bits100[i])
		}
	}
	for _, c := range shuffles {
		if got := shuffled(c.seed, len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("seed %d: %v, want %v", c.seed, got, c.want)
		}
	}
	var s []string
	for _, v := range shuffled(100, 2000) {
		s = append(s, strconv.Itoa(v))
	}
	if got := crc32.ChecksumIEEE([]byte(strings.Join(s, ","))); got != crc2000 {
		t.Errorf("2000 numbers: crc %d, want %d", got, crc2000)
	}
}
