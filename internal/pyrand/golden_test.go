package pyrand

// What CPython 3 answers; regenerate with random.seed(s) and the calls named.

var words100 = []uint32{625644691, 1973661107, 1953896601, 4087596401, 3310491232}

// getrandbits(1), (7), (31), (33), (64)
var bits100 = []uint64{0, 58, 976948300, 8382563697, 13014422004860469388}

var shuffles = []struct {
	seed uint64
	want []int
}{
	{100, []int{}},
	{100, []int{0}},
	{100, []int{1, 0}},
	{100, []int{4, 0, 5, 9, 3, 1, 6, 8, 7, 2}},
	{100, []int{13, 8, 15, 3, 9, 0, 16, 1, 10, 5, 6, 11, 2, 12, 7, 14, 4}},
	{0, []int{1, 9, 8, 5, 10, 2, 3, 7, 4, 0, 11, 6}},
	{1099511627776, []int{4, 2, 8, 6, 3, 0, 7, 5, 1}},
	{12345678901234567, []int{0, 7, 3, 2, 6, 5, 4, 1}},
}

// crc32 of the decimal numbers of a shuffled range(2000), joined by commas
const crc2000 = 490741523
