//go:build !amd64 || purego

package vec

func tapsNow() *tapAsm { return nil }
