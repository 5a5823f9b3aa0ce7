package cpu

// Sizes in bytes of the caches that one core meets: what kernels cut their blocks by, and the size from which a result
// is stored past the caches. Where the processor does not tell, they are those of a current server.
var (
	L1 = cacheSize(1, 32<<10, 64<<10, 32<<10)
	L2 = cacheSize(2, 256<<10, 2<<20, 1<<20)
	L3 = cacheSize(3, 4<<20, 64<<20, 32<<20) // as far as it is shared by the cores beside
)

// cacheSize is what the processor tells of a level, within limits that blocks are good for: virtual machines may tell
// anything.
func cacheSize(level, least, most, otherwise int) int {
	size := detectCache(level)
	if size == 0 {
		size = otherwise
	}
	return min(max(size, least), most)
}
