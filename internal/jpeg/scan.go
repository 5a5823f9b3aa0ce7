package jpeg

// scanned is a component in a scan.
type scanned struct {
	*component
	dc, ac *huffman
	last   int32 // the last block's mean, of which only the differences are stored
}

// scanState decodes the blocks of a scan.
type scanState struct {
	bits
	from, to  int  // coefficients, in zigzag order
	high, low uint // position of the last bit that is known before and after
	run       int32
}

// scan reads a scan: all coefficients of an image, or some of them, or one bit of them (T.81, annexes F and G).
func (d *decoder) scan(b []byte) error {
	if d.comps == nil {
		return bad("a scan before the frame")
	}
	if d.scans++; d.scans > maxScans {
		return bad("it has more than %d scans", maxScans)
	}
	if len(b) < 1 || len(b) < 4+2*int(b[0]) || b[0] < 1 || b[0] > 4 {
		return bad("a short scan")
	}
	var list []*scanned
	for i := range int(b[0]) {
		id, tables := b[1+2*i], b[2+2*i]
		var s *scanned
		for k := range d.comps {
			if d.comps[k].id == id {
				s = &scanned{component: &d.comps[k]}
			}
		}
		if s == nil || tables>>4 > 3 || tables&15 > 3 {
			return bad("a scan of component %d", id)
		}
		for _, other := range list {
			if other.component == s.component {
				return bad("a scan has component %d twice", id)
			}
		}
		s.dc, s.ac = d.dc[tables>>4], d.ac[tables&15]
		list = append(list, s)
	}
	p := b[1+2*int(b[0]):]
	s := &scanState{from: int(p[0]), to: int(p[1]), high: uint(p[2] >> 4), low: uint(p[2] & 15)}
	if !d.progressive {
		s.from, s.to, s.high, s.low = 0, blockSize-1, 0, 0
	} else if s.from > s.to || s.to >= blockSize || s.low > 13 || s.from == 0 && s.to != 0 ||
		s.from > 0 && len(list) > 1 || s.high != 0 && s.high != s.low+1 {
		return bad("a scan of coefficients %d to %d, bits %d to %d", s.from, s.to, s.high, s.low)
	}
	for _, c := range list {
		if s.from == 0 && s.high == 0 && c.dc == nil || s.to > 0 && c.ac == nil {
			return bad("a scan without its table of codes")
		}
		if c.quant == nil {
			c.quant = d.quant[c.table]
		}
		if c.quant == nil {
			return bad("it has no table of quantisation %d", c.table)
		}
	}
	s.data = d.data
	if err := d.blocks(s, list); err != nil {
		return err
	}
	// the bytes that were read ahead are not needed: the next marker is found from where the data end
	d.data = s.data[s.at:]
	return nil
}

// blocks decodes the blocks of a scan, unit by unit.
func (d *decoder) blocks(s *scanState, list []*scanned) error {
	decode := s.decoder(d.progressive)
	across, down := ceilDiv(d.width, 8*d.maxH), ceilDiv(d.height, 8*d.maxV)
	single := len(list) == 1
	if single { // then a unit is a block, and those that fill up the last unit are left out
		across, down = ceilDiv(list[0].width, 8), ceilDiv(list[0].height, 8)
	}
	left := d.restart
	for unit := range across * down {
		if d.restart > 0 && left == 0 {
			if err := s.resync(list); err != nil {
				return err
			}
			left = d.restart
		}
		left--
		ux, uy := unit%across, unit/across
		for _, c := range list {
			h, v := c.h, c.v
			if single {
				h, v = 1, 1
			}
			for y := range v {
				for x := range h {
					if !decode(c, ux*h+x, uy*v+y) {
						return bad("an unknown code")
					}
				}
			}
		}
		if s.beyond() {
			return bad("the data of a scan end too early")
		}
	}
	return nil
}

// resync goes on behind a restart marker.
func (s *scanState) resync(list []*scanned) error {
	b := s.data[s.at:]
	for len(b) > 1 && b[0] == 0xff && b[1] == 0xff {
		b = b[1:]
	}
	if len(b) < 2 || b[0] != 0xff || b[1]&^7 != markRST0 {
		return bad("no marker of a restart where one should be")
	}
	s.bits = bits{data: b[2:]}
	s.run = 0
	for _, c := range list {
		c.last = 0
	}
	return nil
}

// decoder is the function that decodes the block in column x and row y of blocks.
func (s *scanState) decoder(progressive bool) func(c *scanned, x, y int) bool {
	part := s.refineAC
	switch {
	case !progressive:
		return s.whole
	case s.from == 0 && s.high == 0:
		part = s.firstDC
	case s.from == 0:
		part = s.refineDC
	case s.high == 0:
		part = s.firstAC
	}
	return func(c *scanned, x, y int) bool { return part(&c.coeffs[y*c.across+x], c) }
}

// whole decodes all coefficients of a block and computes its samples.
func (s *scanState) whole(c *scanned, x, y int) bool {
	var b block
	last, ok := s.baseline(&b, c)
	if ok && 8*x < c.width && 8*y < c.height { // other blocks fill up the last unit
		c.samples(&b, x, y, last == 0)
	}
	return ok
}

// mean reads the difference of the block's mean from the last one's.
func (s *scanState) mean(c *scanned) bool {
	n := s.symbol(c.dc)
	if n < 0 || n > 15 {
		return false
	}
	c.last += s.signed(int(n))
	return true
}

// baseline decodes the coefficients of a block that is zero before, and returns the place of the last one that is not
// zero in the order of the file. The bits are kept in variables, which the compiler keeps in registers.
func (s *scanState) baseline(b *block, c *scanned) (last int, ok bool) {
	if !s.mean(c) {
		return 0, false
	}
	b[0] = int16(c.last)
	acc, n, ac := s.acc, s.n, c.ac
	for k := 1; k < blockSize; k++ {
		if n < 32 { // a code and a coefficient have 16 and 15 bits at most
			s.acc, s.n = acc, n
			s.fill()
			acc, n = s.acc, s.n
		}
		if e := ac.pairs[acc>>(64-pairBits)]; e != 0 {
			if k += int(e>>8) & 15; k >= blockSize {
				return 0, false
			}
			b[zigzag[k]], last = int16(e>>16), k
			acc <<= uint(e) & 63
			n -= int(e & 63)
			continue
		}
		v, length := ac.find(acc)
		if v < 0 {
			return 0, false
		}
		acc <<= length & 63
		n -= int(length)
		run, size := int(v>>4), int(v&15)
		if size == 0 {
			if run != 15 {
				break
			}
			k += 15
			continue
		}
		if k += run; k >= blockSize {
			return 0, false
		}
		b[zigzag[k]], last = int16(extend(int32(acc>>(64-size)), size)), k
		acc <<= size & 63
		n -= size
	}
	s.acc, s.n = acc, n
	return last, true
}

func (s *scanState) firstDC(b *block, c *scanned) bool {
	ok := s.mean(c)
	b[0] = int16(c.last << s.low)
	return ok
}

func (s *scanState) refineDC(b *block, _ *scanned) bool {
	b[0] |= int16(s.take(1) << s.low)
	return true
}

func (s *scanState) firstAC(b *block, c *scanned) bool {
	if s.run > 0 {
		s.run--
		return true
	}
	for k := s.from; k <= s.to; k++ {
		v := s.symbol(c.ac)
		if v < 0 {
			return false
		}
		run, size := int(v>>4), int(v&15)
		if size == 0 {
			if run != 15 { // this block and as many more end here
				s.run = 1<<run - 1
				if run > 0 {
					s.run += s.take(run)
				}
				break
			}
			k += 15
			continue
		}
		if k += run; k > s.to {
			return false
		}
		b[zigzag[k]] = int16(s.signed(size) << s.low)
	}
	return true
}

// refineAC reads a further bit of coefficients (T.81, figure G.7).
func (s *scanState) refineAC(b *block, c *scanned) bool {
	bit := int16(1) << s.low
	refine := func(p *int16) { // a bit of one that is not zero
		if s.take(1) != 0 && *p&bit == 0 {
			if *p >= 0 {
				*p += bit
			} else {
				*p -= bit
			}
		}
	}
	k := s.from
	if s.run == 0 {
		for ; k <= s.to; k++ {
			v := s.symbol(c.ac)
			if v < 0 {
				return false
			}
			run, size := v>>4, v&15
			value := int16(0)
			if size > 1 {
				return false
			} else if size == 1 {
				value = -bit
				if s.take(1) != 0 {
					value = bit
				}
			} else if run != 15 {
				s.run = 1 << run
				if run > 0 {
					s.run += s.take(int(run))
				}
				break
			}
			for ; k <= s.to; k++ { // over as many zeros as the run is long
				p := &b[zigzag[k]]
				if *p != 0 {
					refine(p)
				} else if run--; run < 0 {
					break
				}
			}
			if value != 0 {
				if k > s.to {
					return false
				}
				b[zigzag[k]] = value
			}
		}
	}
	if s.run > 0 {
		for ; k <= s.to; k++ {
			if p := &b[zigzag[k]]; *p != 0 {
				refine(p)
			}
		}
		s.run--
	}
	return true
}
