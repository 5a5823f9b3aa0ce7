package tensor

import "sync/atomic"

// Witness is a Layer that records a program in order to run it again with other elements. Operators run again by
// themselves; what Go code does with elements does not, so the witness is told when Go code comes by them. One witness
// is set on a goroutine at a time.
type Witness interface {
	Layer
	// Read is called when the program itself, no operator, reads elements of s on the witness's goroutine.
	Read(s *Storage)
	// Depends is called before an operator runs whose results depend on elements in their size, or are numbers of Go,
	// also inside another operator.
	Depends(op *Op)
}

// witnesses counts the witnesses of all goroutines: while it is zero nobody has to look.
var witnesses atomic.Int32

// strays counts uses of traced memory by goroutines without a witness.
var strays atomic.Uint64

// Trace marks the memory of t as the subject of a recording, until Untrace. Reading marked memory is reported to the
// goroutine's witness, or, on another goroutine, counted by Strays.
func Trace(t *Tensor) { t.st.bits.Or(stTraced) }

// Untrace takes the mark off.
func (s *Storage) Untrace() { s.bits.And(^stTraced) }

// Strays counts how often goroutines without a witness have used memory that another one traces. A program that hands
// tensors to other goroutines escapes a recording; that the count has grown tells it.
func Strays() uint64 { return strays.Load() }

// StorageMark is a moment in the order in which storages are made.
func StorageMark() uint64 { return storageSeq.Add(1) }

// MadeSince reports that the storage was made after the mark. The answer holds for storages made while a layer or
// another mode was on.
func (s *Storage) MadeSince(mark uint64) bool { return s.seq > mark }

// watches reports that the goroutine's witness looks on: Go code that runs now is the program's.
func (m *mode) watches() bool {
	for _, l := range m.layers {
		if l == Layer(m.witness) {
			return true
		}
	}
	return false
}

// looked is called where only programs read elements, never a kernel.
func (s *Storage) looked() {
	m := currentMode()
	switch {
	case m == nil || m.witness == nil:
		if s.bits.Load()&stTraced != 0 {
			strays.Add(1)
		}
	case m.watches():
		m.witness.Read(s)
	}
}

// access is called when memory is read that is not simply there: it was released, is another device's, or is traced.
func (s *Storage) access() {
	if s.bits.Load()&(stReleased|stForeign) != 0 {
		s.panicAccess()
	}
	// Kernels read here, too, on goroutines of their own.
	if m := currentMode(); m != nil && m.witness != nil && m.watches() {
		m.witness.Read(s)
	}
}

// witnessed tells a witness about a call.
func (c *Ctx) witnessed() {
	if m := c.mode; m != nil && m.witness != nil {
		if c.op.DataDependent {
			m.witness.Depends(c.op)
		}
		return
	}
	for i := range c.args {
		if t := c.args[i].T; t != nil {
			t.stray()
		} else if l, ok := c.args[i].X.([]*Tensor); ok {
			for _, t := range l {
				t.stray()
			}
		}
	}
}

func (t *Tensor) stray() {
	if t != nil && t.st.bits.Load()&stTraced != 0 {
		strays.Add(1)
	}
}
