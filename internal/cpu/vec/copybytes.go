package vec

// copyPiece is how many bytes are copied at once: some 30 µs beyond the caches.
const copyPiece = 256 << 10

// CopyBytes is copy for slices of one length that do not overlap, in pieces between which the collector can stop the
// goroutine: the runtime cannot interrupt its own copy, which takes 0.1 s for a gigabyte.
func CopyBytes(dst, src []byte) {
	for len(src) > copyPiece {
		copy(dst[:copyPiece], src)
		dst, src = dst[copyPiece:], src[copyPiece:]
		preemptible(0)
	}
	copy(dst, src)
}
