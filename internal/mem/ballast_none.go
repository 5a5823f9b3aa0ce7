//go:build js || wasip1

package mem

func dropBallast() {}
