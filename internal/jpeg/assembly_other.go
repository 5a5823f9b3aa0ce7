//go:build !amd64 || purego

package jpeg

func inverseFast(*block, *quantTable, []uint8, int) bool { return false }

func weighFast([]int16, []uint8, []uint8) int { return 0 }

func spreadFast([]uint8, []int16, int, int16, int16, uint) int { return 0 }

func rgbFast([]uint8, []uint8, []uint8, []uint8) int { return 0 }
