//go:build !purego

package par

//go:noescape
func pause()
