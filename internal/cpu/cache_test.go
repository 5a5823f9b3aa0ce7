package cpu

import "testing"

func TestCacheSize(t *testing.T) {
	if L2 < 256<<10 || L2 > L3 || L3 > 64<<20 {
		t.Errorf("L2 %d, L3 %d bytes: expected sizes within limits", L2, L3)
	}
	if told := detectCache(1); told != 0 && (told < 8<<10 || told > 1<<20) {
		t.Errorf("the first level has %d bytes, expected some 32 KB", told)
	}
	if got := cacheSize(9, 1, 100, 50); got != 50 {
		t.Errorf("a level that does not exist: got %d, expected what is assumed, 50", got)
	}
}
