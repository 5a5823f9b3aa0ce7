package gguf

import (
	"encoding/binary"
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// format is a type of tensors: plain numbers of a dtype, or blocks that decode makes float32.
type format struct {
	name         string
	block, bytes int // elements and bytes of a block
	dtype        string
	decode       func(y []float32, b []byte)
}

// formats has the types by ggml's numbers (enum ggml_type). The layouts of the blocks are those of ggml-quants.c.
var formats = map[uint32]*format{
	0: {"F32", 1, 4, "float32", nil}, 1: {"F16", 1, 2, "float16", nil}, 30: {"BF16", 1, 2, "bfloat16", nil},
	28: {"F64", 1, 8, "float64", nil}, 24: {"I8", 1, 1, "int8", nil}, 25: {"I16", 1, 2, "int16", nil},
	26: {"I32", 1, 4, "int32", nil}, 27: {"I64", 1, 8, "int64", nil},
	2: {"Q4_0", 32, 18, "", q40}, 3: {"Q4_1", 32, 20, "", q41}, 6: {"Q5_0", 32, 22, "", q50},
	7: {"Q5_1", 32, 24, "", q51}, 8: {"Q8_0", 32, 34, "", q80},
	10: {"Q2_K", 256, 84, "", q2k}, 11: {"Q3_K", 256, 110, "", q3k}, 12: {"Q4_K", 256, 144, "", q4k},
	13: {"Q5_K", 256, 176, "", q5k}, 14: {"Q6_K", 256, 210, "", q6k}, 15: {"Q8_K", 256, 292, "", q8k},
	20: {"IQ4_NL", 32, 18, "", iq4nl}, 23: {"IQ4_XS", 256, 136, "", iq4xs},
	34: {"TQ1_0", 256, 54, "", tq10}, 35: {"TQ2_0", 256, 66, "", tq20}, 39: {"MXFP4", 32, 17, "", mxfp4},
	16: {"IQ2_XXS", 256, 66, "", iq2xxs}, 17: {"IQ2_XS", 256, 74, "", iq2xs}, 18: {"IQ3_XXS", 256, 98, "", iq3xxs},
	19: {"IQ1_S", 256, 50, "", iq1s}, 21: {"IQ3_S", 256, 110, "", iq3s}, 22: {"IQ2_S", 256, 82, "", iq2s},
	29: {"IQ1_M", 256, 56, "", iq1m}, 40: {"NVFP4", 64, 36, "", nvfp4},
	9: {"Q8_1", 32, 36, "", nil}, 41: {"Q1_0", 128, 18, "", nil},
}

func half(b []byte) float32 { return vec.F16ToF32(binary.LittleEndian.Uint16(b)) }

// q40 has a scale and 4-bit numbers around 8: the low halves of the bytes first, then the high ones, as in the other
// types of 32.
func q40(y []float32, b []byte) {
	d := half(b)
	for i, q := range b[2:18] {
		y[i], y[i+16] = float32(int(q&15)-8)*d, float32(int(q>>4)-8)*d
	}
}

// q41 has a scale and a minimum.
func q41(y []float32, b []byte) {
	d, m := half(b), half(b[2:])
	for i, q := range b[4:20] {
		y[i], y[i+16] = float32(q&15)*d+m, float32(q>>4)*d+m
	}
}

// fifth is the fifth bit of element i.
func fifth(bits uint32, i int) int { return int(bits>>i&1) << 4 }

// q50 is q40 with a fifth bit of each number in a word of its own.
func q50(y []float32, b []byte) {
	d, h := half(b), binary.LittleEndian.Uint32(b[2:])
	for i, q := range b[6:22] {
		y[i] = float32((int(q&15)|fifth(h, i))-16) * d
		y[i+16] = float32((int(q>>4)|fifth(h, i+16))-16) * d
	}
}

func q51(y []float32, b []byte) {
	d, m, h := half(b), half(b[2:]), binary.LittleEndian.Uint32(b[4:])
	for i, q := range b[8:24] {
		y[i] = float32(int(q&15)|fifth(h, i))*d + m
		y[i+16] = float32(int(q>>4)|fifth(h, i+16))*d + m
	}
}

func q80(y []float32, b []byte) {
	d := half(b)
	for i, q := range b[2:34] {
		y[i] = float32(int8(q)) * d
	}
}

// q2k has 16 groups of 16 numbers of 2 bits, each with a 4-bit scale and a 4-bit minimum.
func q2k(y []float32, b []byte) {
	scales, qs, d, m := b[:16], b[16:80], half(b[80:]), half(b[82:])
	for i := range y {
		s := scales[i/16]
		q := qs[i/128*32+i%32] >> (i % 128 / 32 * 2) & 3
		y[i] = d*float32(s&15)*float32(q) - m*float32(s>>4)
	}
}

// q3k has 16 groups of 16 numbers of 3 bits, the highest of which is inverted, with 6-bit scales.
func q3k(y []float32, b []byte) {
	high, qs, packed, d := b[:32], b[32:96], b[96:108], half(b[108:])
	var scales [16]float32
	for i := range scales {
		low := packed[i%8] >> (i / 8 * 4) & 15
		scales[i] = d * float32(int(low|packed[8+i%4]>>(i/4*2)&3<<4)-32)
	}
	for i := range y {
		q := int(qs[i/128*32+i%32] >> (i % 128 / 32 * 2) & 3)
		if high[i%32]>>(i/32)&1 == 0 {
			q -= 4
		}
		y[i] = scales[i/16] * float32(q)
	}
}

// scaleMin unpacks the 6-bit scale and minimum of group i of the types Q4_K and Q5_K.
func scaleMin(p []byte, i int) (scale, least byte) {
	if i < 4 {
		return p[i] & 63, p[i+4] & 63
	}
	return p[i+4]&15 | p[i-4]>>6<<4, p[i+4]>>4 | p[i]>>6<<4
}

// q4k has 8 groups of 32 numbers of 4 bits.
func q4k(y []float32, b []byte) {
	d, m := half(b), half(b[2:])
	for i := range y {
		s, least := scaleMin(b[4:16], i/32)
		q := b[16+i/64*32+i%32] >> (i / 32 % 2 * 4) & 15
		y[i] = d*float32(s)*float32(q) - m*float32(least)
	}
}

// q5k is q4k with a fifth bit of each number in bytes of their own.
func q5k(y []float32, b []byte) {
	d, m := half(b), half(b[2:])
	for i := range y {
		s, least := scaleMin(b[4:16], i/32)
		q := b[48+i/64*32+i%32]>>(i/32%2*4)&15 | b[16+i%32]>>(i/32)&1<<4
		y[i] = d*float32(s)*float32(q) - m*float32(least)
	}
}

// q6k has 16 groups of 16 numbers of 6 bits around 32, with 8-bit scales.
func q6k(y []float32, b []byte) {
	low, high, scales, d := b[:128], b[128:192], b[192:208], half(b[208:])
	for i := range y {
		part, j := i%128/32, i%32
		q := low[i/128*64+part%2*32+j]>>(part/2*4)&15 | high[i/128*32+j]>>(part*2)&3<<4
		y[i] = d * float32(int8(scales[i/16])) * float32(int(q)-32)
	}
}

func q8k(y []float32, b []byte) {
	d := math.Float32frombits(binary.LittleEndian.Uint32(b))
	for i, q := range b[4:260] {
		y[i] = d * float32(int8(q))
	}
}

// levels are the 16 numbers that the types IQ4 choose from.
var levels = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func iq4nl(y []float32, b []byte) {
	d := half(b)
	for i, q := range b[2:18] {
		y[i], y[i+16] = d*levels[q&15], d*levels[q>>4]
	}
}

func iq4xs(y []float32, b []byte) {
	d, high := half(b), binary.LittleEndian.Uint16(b[2:])
	for g := range 8 {
		s := b[4+g/2]>>(g%2*4)&15 | byte(high>>(2*g)&3)<<4
		dl := d * float32(int(s)-32)
		for i, q := range b[8+16*g : 24+16*g] {
			y[32*g+i], y[32*g+i+16] = dl*levels[q&15], dl*levels[q>>4]
		}
	}
}

// tq10 packs five digits of base 3 in a byte, as a fraction: the product with 3^n has digit n above the byte.
func tq10(y []float32, b []byte) {
	d := half(b[52:])
	i := 0
	digits := func(part []byte, count int) {
		pow := byte(1)
		for range count {
			for _, q := range part {
				y[i] = float32(int(uint16(q*pow)*3>>8)-1) * d
				i++
			}
			pow *= 3
		}
	}
	digits(b[:32], 5)
	digits(b[32:48], 5)
	digits(b[48:52], 4)
}

func tq20(y []float32, b []byte) {
	d := half(b[64:])
	for i := range y {
		y[i] = float32(int(b[i/128*32+i%32]>>(i%128/32*2)&3)-1) * d
	}
}

// e2m1 are the numbers of 4 bits with 2 of exponent and 1 of mantissa, times 2.
var e2m1 = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

// mxfp4 is the format of the Open Compute Project: a power of two and 32 numbers of 4 bits.
func mxfp4(y []float32, b []byte) {
	d := float32(math.Ldexp(1, int(b[0])-128))
	for i, q := range b[1:17] {
		y[i], y[i+16] = d*e2m1[q&15], d*e2m1[q>>4]
	}
}

// nvfp4 is NVIDIA's format: four times 16 numbers of 4 bits, each with a scale of 8 bits without a sign, of which 4 are
// exponent and 3 mantissa.
func nvfp4(y []float32, b []byte) {
	for g := range 4 {
		d := ue4m3(b[g]) / 2
		for i, q := range b[4+8*g : 12+8*g] {
			y[16*g+i], y[16*g+8+i] = d*e2m1[q&15], d*e2m1[q>>4]
		}
	}
}

// ue4m3 is the number of a scale; 127 stands for none, as for zero.
func ue4m3(b byte) float32 {
	exp, man := int(b>>3&15), float64(b&7)
	switch {
	case b == 127:
		return 0
	case exp == 0:
		return float32(math.Ldexp(man, -9))
	}
	return float32(math.Ldexp(8+man, exp-10))
}
