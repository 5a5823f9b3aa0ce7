package fft

import "math"

// planes are the real and the imaginary parts of a tile or a line.
type planes[E Float] struct{ re, im []E }

// swapped exchanges the parts, which turns a transform into its inverse: the inverse of x is the transform of x with
// its parts exchanged, with its parts exchanged.
func (p planes[E]) swapped() planes[E] { return planes[E]{p.im, p.re} }

// from is p without its first i numbers.
func (p planes[E]) from(i int) planes[E] { return planes[E]{p.re[i:], p.im[i:]} }

// part is n numbers of p from number i on.
func (p planes[E]) part(i, n int) planes[E] { return planes[E]{p.re[i:][:n], p.im[i:][:n]} }

// tile transforms the columns of x, a tile of n rows of s numbers each, s a multiple of the vector length; y is as
// large. The result is in x or in y, and returned.
func (p *Plan[E]) tile(x, y planes[E], s int) planes[E] {
	if p.chirp != nil {
		p.chirp.tile(x, s)
		return x
	}
	for i := range p.steps {
		p.steps[i].pass(y, x, s)
		s *= p.steps[i].radix
		x, y = y, x
	}
	return x
}

// pass does one step from x to y. Rows g, g+m, g+2m, … of x, of s numbers each, give rows r·g, r·g+1, … of y.
func (st *step[E]) pass(y, x planes[E], s int) {
	if st.assembly(y, x, s) {
		return
	}
	h := st.m * s // from one input row of a group to the next
	for g := range st.m {
		w := st.roots[2*g*max(st.radix-1, 1):]
		a, b := x.from(g*s), y.from(g*st.radix*s)
		switch st.radix {
		case 1:
			pass1(b, a, w, s)
		case 2:
			pass2(b, a, w, s, h)
		case 3:
			pass3(b, a, w, s, h)
		case 4:
			pass4(b, a, w, s, h)
		case 5:
			pass5(b, a, w, s, h)
		case 6:
			pass6(b, a, w, s, h)
		case 8:
			pass8(b, a, w, s, h)
		default:
			passPrime(b, a, w, st.dft, st.radix, s, h)
		}
	}
}

// row is row k of a group.
func row[E Float](x planes[E], k, h, s int) (re, im []E) { return x.re[k*h:][:s], x.im[k*h:][:s] }

func pass1[E Float](y, x planes[E], w []E, s int) {
	ar, ai := row(x, 0, s, s)
	br, bi := row(y, 0, s, s)
	put(br, bi, ar, ai, w[0], w[1])
}

// put sets a row to another one times a number.
func put[E Float](yr, yi, xr, xi []E, wr, wi E) {
	xi, yr, yi = xi[:len(xr)], yr[:len(xr)], yi[:len(xr)]
	for q, r := range xr {
		i := xi[q]
		yr[q], yi[q] = r*wr-i*wi, r*wi+i*wr
	}
}

func pass2[E Float](y, x planes[E], w []E, s, h int) {
	ar, ai := row(x, 0, h, s)
	br, bi := row(x, 1, h, s)
	cr, ci := row(y, 0, s, s)
	dr, di := row(y, 1, s, s)
	wr, wi := w[0], w[1]
	for q := range ar {
		r, i := ar[q]-br[q], ai[q]-bi[q]
		cr[q], ci[q] = ar[q]+br[q], ai[q]+bi[q]
		dr[q], di[q] = r*wr-i*wi, r*wi+i*wr
	}
}

func pass3[E Float](y, x planes[E], w []E, s, h int) {
	ar, ai := row(x, 0, h, s)
	br, bi := row(x, 1, h, s)
	cr, ci := row(x, 2, h, s)
	y0r, y0i := row(y, 0, s, s)
	y1r, y1i := row(y, 1, s, s)
	y2r, y2i := row(y, 2, s, s)
	w1r, w1i, w2r, w2i := w[0], w[1], w[2], w[3]
	sin := E(math.Sqrt(3) / 2)
	for q := range ar {
		sr, si := br[q]+cr[q], bi[q]+ci[q]
		dr, di := sin*(br[q]-cr[q]), sin*(bi[q]-ci[q])
		mr, mi := ar[q]-sr/2, ai[q]-si/2
		y0r[q], y0i[q] = ar[q]+sr, ai[q]+si
		pr, pi := mr+di, mi-dr
		y1r[q], y1i[q] = pr*w1r-pi*w1i, pr*w1i+pi*w1r
		pr, pi = mr-di, mi+dr
		y2r[q], y2i[q] = pr*w2r-pi*w2i, pr*w2i+pi*w2r
	}
}

func pass4[E Float](y, x planes[E], w []E, s, h int) {
	ar, ai := row(x, 0, h, s)
	br, bi := row(x, 1, h, s)
	cr, ci := row(x, 2, h, s)
	dr, di := row(x, 3, h, s)
	y0r, y0i := row(y, 0, s, s)
	y1r, y1i := row(y, 1, s, s)
	y2r, y2i := row(y, 2, s, s)
	y3r, y3i := row(y, 3, s, s)
	w1r, w1i, w2r, w2i, w3r, w3i := w[0], w[1], w[2], w[3], w[4], w[5]
	for q := range ar {
		er, ei := ar[q]+cr[q], ai[q]+ci[q]
		fr, fi := ar[q]-cr[q], ai[q]-ci[q]
		gr, gi := br[q]+dr[q], bi[q]+di[q]
		hr, hi := br[q]-dr[q], bi[q]-di[q]
		y0r[q], y0i[q] = er+gr, ei+gi
		pr, pi := fr+hi, fi-hr
		y1r[q], y1i[q] = pr*w1r-pi*w1i, pr*w1i+pi*w1r
		pr, pi = er-gr, ei-gi
		y2r[q], y2i[q] = pr*w2r-pi*w2i, pr*w2i+pi*w2r
		pr, pi = fr-hi, fi+hr
		y3r[q], y3i[q] = pr*w3r-pi*w3i, pr*w3i+pi*w3r
	}
}

// pass6 is one of radix 3 on the rows of even and on those of odd places, whose results make three pairs: the prime
// factor algorithm (Good 1958, "The interaction algorithm and practical Fourier analysis"), which has no roots of unity
// in between.
func pass6[E Float](y, x planes[E], w []E, s, h int) {
	sin := E(math.Sqrt(3) / 2)
	var xr, xi, yr, yi [6][]E
	for k := range 6 {
		xr[k], xi[k] = row(x, k, h, s)
		yr[k], yi[k] = row(y, k, s, s)
	}
	var tr, ti [2][3]E
	for q := range s {
		for i := range 2 {
			j, k := (3*i+2)%6, (3*i+4)%6
			sr, si := xr[j][q]+xr[k][q], xi[j][q]+xi[k][q]
			dr, di := sin*(xr[j][q]-xr[k][q]), sin*(xi[j][q]-xi[k][q])
			ar, ai := xr[3*i][q], xi[3*i][q]
			mr, mi := ar-sr/2, ai-si/2
			tr[i] = [3]E{ar + sr, mr + di, mr - di}
			ti[i] = [3]E{ai + si, mi - dr, mi + dr}
		}
		for k := range 3 {
			yr[4*k%6][q], yi[4*k%6][q] = tr[0][k]+tr[1][k], ti[0][k]+ti[1][k]
			yr[(4*k+3)%6][q], yi[(4*k+3)%6][q] = tr[0][k]-tr[1][k], ti[0][k]-ti[1][k]
		}
	}
	for k := 1; k < 6; k++ {
		put(yr[k], yi[k], yr[k], yi[k], w[2*k-2], w[2*k-1])
	}
}

// pass8 is one of radix 4 on the rows of even and on those of odd places, whose results make four pairs.
func pass8[E Float](y, x planes[E], w []E, s, h int) {
	ones := []E{1, 0, 1, 0, 1, 0}
	pass4(y, x, ones, s, 2*h)
	pass4(y.from(4*s), x.from(h), ones, s, 2*h)
	c := E(math.Sqrt(0.5))
	for k, v := range [4][2]E{{1, 0}, {c, -c}, {0, -1}, {-c, -c}} {
		ar, ai := row(y, k, s, s)
		br, bi := row(y, k+4, s, s)
		for q := range ar {
			r, i := br[q]*v[0]-bi[q]*v[1], br[q]*v[1]+bi[q]*v[0]
			br[q], bi[q] = ar[q]-r, ai[q]-i
			ar[q], ai[q] = ar[q]+r, ai[q]+i
		}
	}
	for k := 1; k < 8; k++ {
		yr, yi := row(y, k, s, s)
		put(yr, yi, yr, yi, w[2*k-2], w[2*k-1])
	}
}

// cos and sin of 2π/5 and 4π/5
const (
	cos51 = 0.309016994374947424102293417182819059
	cos52 = -0.809016994374947424102293417182819059
	sin51 = 0.951056516295153572116439333379382143
	sin52 = 0.587785252292473129168705954639072769
)

func pass5[E Float](y, x planes[E], w []E, s, h int) {
	ar, ai := row(x, 0, h, s)
	br, bi := row(x, 1, h, s)
	cr, ci := row(x, 2, h, s)
	dr, di := row(x, 3, h, s)
	er, ei := row(x, 4, h, s)
	y0r, y0i := row(y, 0, s, s)
	y1r, y1i := row(y, 1, s, s)
	y2r, y2i := row(y, 2, s, s)
	y3r, y3i := row(y, 3, s, s)
	y4r, y4i := row(y, 4, s, s)
	w1r, w1i, w2r, w2i, w3r, w3i, w4r, w4i := w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
	for q := range ar {
		pr, pi, mr, mi := br[q]+er[q], bi[q]+ei[q], br[q]-er[q], bi[q]-ei[q]
		sr, si, tr, ti := cr[q]+dr[q], ci[q]+di[q], cr[q]-dr[q], ci[q]-di[q]
		y0r[q], y0i[q] = ar[q]+(pr+sr), ai[q]+(pi+si)
		ur, ui := ar[q]+(cos51*pr+cos52*sr), ai[q]+(cos51*pi+cos52*si)
		vr, vi := sin51*mr+sin52*tr, sin51*mi+sin52*ti
		kr, ki := ur+vi, ui-vr
		y1r[q], y1i[q] = kr*w1r-ki*w1i, kr*w1i+ki*w1r
		kr, ki = ur-vi, ui+vr
		y4r[q], y4i[q] = kr*w4r-ki*w4i, kr*w4i+ki*w4r
		ur, ui = ar[q]+(cos52*pr+cos51*sr), ai[q]+(cos52*pi+cos51*si)
		vr, vi = sin52*mr-sin51*tr, sin52*mi-sin51*ti
		kr, ki = ur+vi, ui-vr
		y2r[q], y2i[q] = kr*w2r-ki*w2i, kr*w2i+ki*w2r
		kr, ki = ur-vi, ui+vr
		y3r[q], y3i[q] = kr*w3r-ki*w3i, kr*w3i+ki*w3r
	}
}

// passPrime is a pass for an odd prime radix r. Rows j and r-j of a group are added and subtracted first, so that each
// pair of results takes two sums of r/2 products.
func passPrime[E Float](y, x planes[E], w, dft []E, r, s, h int) {
	const block = 32 // of a row at a time: the sums stay in the first-level cache
	var sums [4 * (largestPrime / 2)][block]E
	half := r / 2
	for q0 := 0; q0 < s; q0 += block {
		n := min(block, s-q0)
		ar, ai := x.re[q0:][:n], x.im[q0:][:n]
		yr, yi := y.re[q0:][:n], y.im[q0:][:n]
		copy(yr, ar)
		copy(yi, ai)
		for j := range half {
			br, bi := x.re[(j+1)*h+q0:][:n], x.im[(j+1)*h+q0:][:n]
			cr, ci := x.re[(r-1-j)*h+q0:][:n], x.im[(r-1-j)*h+q0:][:n]
			pr, pi, mr, mi := &sums[4*j], &sums[4*j+1], &sums[4*j+2], &sums[4*j+3]
			for q := range br {
				pr[q], pi[q] = br[q]+cr[q], bi[q]+ci[q]
				mr[q], mi[q] = br[q]-cr[q], bi[q]-ci[q]
				yr[q] += pr[q]
				yi[q] += pi[q]
			}
		}
		for k := 1; k <= half; k++ {
			var ur, ui, vr, vi [block]E
			copy(ur[:], ar)
			copy(ui[:], ai)
			for j := range half {
				e := k * (j + 1) % r
				c, d := dft[2*e], dft[2*e+1]
				pr, pi, mr, mi := &sums[4*j], &sums[4*j+1], &sums[4*j+2], &sums[4*j+3]
				for q := range n {
					ur[q] += c * pr[q]
					ui[q] += c * pi[q]
					vr[q] += d * mr[q]
					vi[q] += d * mi[q]
				}
			}
			// y[k] = u + i·v, y[r-k] = u - i·v
			ar, ai := y.re[k*s+q0:][:n], y.im[k*s+q0:][:n]
			br, bi := y.re[(r-k)*s+q0:][:n], y.im[(r-k)*s+q0:][:n]
			w1r, w1i, w2r, w2i := w[2*k-2], w[2*k-1], w[2*(r-k)-2], w[2*(r-k)-1]
			for q := range n {
				kr, ki := ur[q]-vi[q], ui[q]+vr[q]
				ar[q], ai[q] = kr*w1r-ki*w1i, kr*w1i+ki*w1r
				kr, ki = ur[q]+vi[q], ui[q]-vr[q]
				br[q], bi[q] = kr*w2r-ki*w2i, kr*w2i+ki*w2r
			}
		}
	}
}
