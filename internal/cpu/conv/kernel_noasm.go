//go:build !(amd64 || arm64) || purego

package conv

var assembly [1][2]kernels

func currentPath() path { return pathGeneric }
