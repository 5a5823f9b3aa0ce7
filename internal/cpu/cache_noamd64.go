//go:build !amd64 || purego

package cpu

func detectCache(level int) int { return 0 }
