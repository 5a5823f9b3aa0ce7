//go:build !purego

#include "textflag.h"

// Broadcasts the 32-bit constant c to all lanes of Y register y (X register x).
#define SPLAT(c, x, y) MOVL $c, AX; VMOVD AX, x; VPBROADCASTD x, y

// func twist8(p, m *uint32, n int)
// p[i] = m[i] ^ (p[i]&upper | p[i+1]&lower)>>1 ^ -(p[i+1]&1)&matrixA
TEXT ·twist8(SB), NOSPLIT, $0-24
	MOVQ  p+0(FP), SI
	MOVQ  m+8(FP), DI
	MOVQ  n+16(FP), CX
	SPLAT(0x80000000, X8, Y8)
	SPLAT(0x7fffffff, X9, Y9)
	SPLAT(0x9908b0df, X10, Y10)

twist:
	VMOVDQU (SI), Y0
	VMOVDQU 4(SI), Y1
	VPAND   Y0, Y8, Y2
	VPAND   Y1, Y9, Y3
	VPOR    Y2, Y3, Y2
	VPSRLD  $1, Y2, Y2
	VPSLLD  $31, Y1, Y3
	VPSRAD  $31, Y3, Y3
	VPAND   Y10, Y3, Y3
	VPXOR   Y3, Y2, Y2
	VPXOR   (DI), Y2, Y2
	VMOVDQU Y2, (SI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	DECQ    CX
	JNZ     twist
	VZEROUPPER
	RET

// func temper8(dst, src *uint32, n int)
TEXT ·temper8(SB), NOSPLIT, $0-24
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  n+16(FP), CX
	SPLAT(0x9d2c5680, X8, Y8)
	SPLAT(0xefc60000, X9, Y9)

temper:
	VMOVDQU (SI), Y0
	VPSRLD  $11, Y0, Y1
	VPXOR   Y1, Y0, Y0
	VPSLLD  $7, Y0, Y1
	VPAND   Y8, Y1, Y1
	VPXOR   Y1, Y0, Y0
	VPSLLD  $15, Y0, Y1
	VPAND   Y9, Y1, Y1
	VPXOR   Y1, Y0, Y0
	VPSRLD  $18, Y0, Y1
	VPXOR   Y1, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	DECQ    CX
	JNZ     temper
	VZEROUPPER
	RET

// func uniform8(dst *float32, src *uint32, n int, a, scale, b float32)
TEXT ·uniform8(SB), NOSPLIT, $0-36
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS a+24(FP), Y8
	VBROADCASTSS scale+28(FP), Y9
	VBROADCASTSS b+32(FP), Y10
	SPLAT(0x00ffffff, X11, Y11)
	SPLAT(0x33800000, X12, Y12)       // 2^-24

uniform:
	VPAND       (SI), Y11, Y0
	VCVTDQ2PS   Y0, Y0
	VMULPS      Y12, Y0, Y0
	VFMADD213PS Y8, Y9, Y0            // u*scale + a
	VCMPPS      $0, Y10, Y0, Y1       // equal to b
	VBLENDVPS   Y1, Y8, Y0, Y0
	VMOVUPS     Y0, (DI)
	ADDQ        $32, SI
	ADDQ        $32, DI
	DECQ        CX
	JNZ         uniform
	VZEROUPPER
	RET

// func bernoulli8(dst *byte, src *uint32, n int, limit uint64)
// Two words make a number of 53 bits, the first one its upper half; a byte is 1
// where that is below limit.
TEXT ·bernoulli8(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTQ limit+24(FP), Y8
	MOVQ         $0x001fffffffffffff, AX
	VMOVQ        AX, X9
	VPBROADCASTQ X9, Y9
	SPLAT(0x01010101, X10, Y10)

bernoulli:
	VPSHUFD   $0xb1, (SI), Y0   // halves exchanged
	VPSHUFD   $0xb1, 32(SI), Y1
	VPAND     Y9, Y0, Y0
	VPAND     Y9, Y1, Y1
	VPCMPGTQ  Y0, Y8, Y0        // numbers 0 1 | 2 3
	VPCMPGTQ  Y1, Y8, Y1        // 4 5 | 6 7
	VPACKSSDW Y1, Y0, Y0        // 0 0 1 1 4 4 5 5 | 2 2 3 3 6 6 7 7, in words
	VPERMQ    $0xd8, Y0, Y0     // 0 0 1 1 2 2 3 3 | 4 4 5 5 6 6 7 7
	VEXTRACTI128 $1, Y0, X1
	VPACKSSWB X1, X0, X0        // each number twice, in bytes
	VPSRLW    $8, X0, X0        // once, in words
	VPACKUSWB X0, X0, X0
	VPAND     X10, X0, X0
	VMOVQ     X0, (DI)
	ADDQ      $64, SI
	ADDQ      $8, DI
	DECQ      CX
	JNZ       bernoulli
	VZEROUPPER
	RET

// Constant k of the table in R8.
#define K(k) (32*k)(R8)

// func normal16(x *float32, n int, mean, std float32, consts *[8]float32)
// The steps are those of normalBlocks32Go, log32 and sincos32, eight pairs at a
// time. 1-x is at least 2^-24, so the logarithm needs no lower bound.
TEXT ·normal16(SB), NOSPLIT, $0-32
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSS mean+16(FP), Y14
	VBROADCASTSS std+20(FP), Y15
	MOVQ         consts+24(FP), R8
	VMOVUPS      K(0), Y13            // 1

normal:
	// Y0 = 1 - x[0:8]; Y1 = exponent; Y0 = mantissa in [0.5,1)
	VSUBPS    (SI), Y13, Y0
	VPSRLD    $23, Y0, Y1
	VPSUBD    K(1), Y1, Y1
	VCVTDQ2PS Y1, Y1
	VADDPS    Y13, Y1, Y1
	VPAND     K(2), Y0, Y0
	VPOR      K(3), Y0, Y0

	// below sqrt(1/2): one exponent less, (x-1)+x; else x-1
	VCMPPS $1, K(4), Y0, Y2
	VANDPS Y2, Y0, Y3
	VSUBPS Y13, Y0, Y0
	VANDPS Y2, Y13, Y2
	VSUBPS Y2, Y1, Y1
	VADDPS Y3, Y0, Y0

	// polynomial in Y5, z = x*x in Y4
	VMULPS       Y0, Y0, Y4
	VMOVUPS      K(5), Y5
	VFMADD213PS  K(6), Y0, Y5
	VFMADD213PS  K(7), Y0, Y5
	VFMADD213PS  K(8), Y0, Y5
	VFMADD213PS  K(9), Y0, Y5
	VFMADD213PS  K(10), Y0, Y5
	VFMADD213PS  K(11), Y0, Y5
	VFMADD213PS  K(12), Y0, Y5
	VFMADD213PS  K(13), Y0, Y5
	VMULPS       Y0, Y5, Y5
	VMULPS       K(14), Y1, Y6
	VFMADD213PS  Y6, Y4, Y5           // y*x*z + e*c
	VFNMADD231PS K(3), Y4, Y5         // - z/2
	VADDPS       Y5, Y0, Y0
	VFMADD231PS  K(15), Y1, Y0        // log(u1)
	VMULPS       K(16), Y0, Y0
	VSQRTPS      Y0, Y0               // r

	// Y1 = t, Y2 = octant j made even, Y1 reduced
	VMOVUPS     K(17), Y1
	VMULPS      32(SI), Y1, Y1
	VMULPS      K(18), Y1, Y2
	VCVTTPS2DQ  Y2, Y2
	VPADDD      K(19), Y2, Y2
	VPAND       K(20), Y2, Y2
	VCVTDQ2PS   Y2, Y3
	VFMADD231PS K(21), Y3, Y1
	VFMADD231PS K(22), Y3, Y1
	VFMADD231PS K(23), Y3, Y1

	// Y5 = cosine polynomial, Y6 = sine polynomial
	VMULPS      Y1, Y1, Y4
	VMOVUPS     K(24), Y5
	VFMADD213PS K(25), Y4, Y5
	VFMADD213PS K(26), Y4, Y5
	VMULPS      Y4, Y5, Y5
	VMULPS      K(3), Y4, Y6
	VFMSUB213PS Y6, Y4, Y5
	VADDPS      Y13, Y5, Y5
	VMOVUPS     K(27), Y6
	VFMADD213PS K(28), Y4, Y6
	VFMADD213PS K(29), Y4, Y6
	VMULPS      Y4, Y6, Y6
	VFMADD213PS Y1, Y1, Y6

	// exchange them where j&2; signs from j&4 and (j-2)&4
	VPAND     K(30), Y2, Y7
	VPXOR     Y8, Y8, Y8
	VPCMPEQD  Y8, Y7, Y7
	VBLENDVPS Y7, Y6, Y5, Y9          // sine
	VBLENDVPS Y7, Y5, Y6, Y10         // cosine
	VPAND     K(31), Y2, Y11
	VPSLLD    $29, Y11, Y11
	VXORPS    Y11, Y9, Y9
	VPSUBD    K(30), Y2, Y12
	VPANDN    K(31), Y12, Y12
	VPSLLD    $29, Y12, Y12
	VXORPS    Y12, Y10, Y10

	VMULPS      Y0, Y10, Y10
	VMULPS      Y0, Y9, Y9
	VFMADD213PS Y14, Y15, Y10         // r*cos*std + mean
	VFMADD213PS Y14, Y15, Y9
	VMOVUPS     Y10, (SI)
	VMOVUPS     Y9, 32(SI)
	ADDQ        $64, SI
	DECQ        CX
	JNZ         normal
	VZEROUPPER
	RET
