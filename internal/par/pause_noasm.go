//go:build !amd64 || purego

package par

//go:noinline
func pause() {}
