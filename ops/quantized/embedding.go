package quantized

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/tensor"
)

const embeddingClass = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase"

// rows is a table of quantized rows: row i's number j is scale[i]*q + bias[i].
type rows struct {
	n, width    int
	q           []uint8 // n*width numbers
	scale, bias []float32
}

// fusedRows reads the format that prepack operators write: each row's numbers, packed, and behind them its scale and
// bias, float32 for 8 bits and float16 for fewer.
func fusedRows(c *Ctx, t *T, bits int) *rows {
	if t.DType() != tensor.Uint8 || t.Dim() != 2 {
		c.Fail(tensor.ErrDType, "%s: expected packed rows, uint8 of two dimensions, got %s of shape %s",
			c.Op().FullName(),
			t.DType(), tensor.ShapeString(t.Shape()))
	}
	tail := 4
	if bits == 8 {
		tail = 8
	}
	stride := t.Size(1)
	if stride < tail {
		c.Fail(tensor.ErrShape, "%s: rows of %d bytes have no room for scale and bias", c.Op().FullName(), stride)
	}
	per := 8 / bits
	r := &rows{n: t.Size(0), width: (stride - tail) * per}
	b := tensor.Data[uint8](tensor.Dense(t))
	for i := range r.n {
		row := b[i*stride:][:stride]
		for _, x := range row[:stride-tail] {
			for k := range per {
				r.q = append(r.q, x>>(bits*k)&uint8(1<<bits-1))
			}
		}
		end := row[stride-tail:]
		if bits == 8 {
			r.scale = append(r.scale, math.Float32frombits(binary.LittleEndian.Uint32(end)))
			r.bias = append(r.bias, math.Float32frombits(binary.LittleEndian.Uint32(end[4:])))
			continue
		}
		r.scale = append(r.scale, dtype.Float16Bits(binary.LittleEndian.Uint16(end)).F32())
		r.bias = append(r.bias, dtype.Float16Bits(binary.LittleEndian.Uint16(end[2:])).F32())
	}
	return r
}

// dense is the table as float32.
func (r *rows) dense() *T {
	d := tensor.New([]int{r.n, r.width}, tensor.Float32)
	x := tensor.Data[float32](d)
	for i := range r.n {
		for j := i * r.width; j < (i+1)*r.width; j++ {
			x[j] = r.scale[i]*float32(r.q[j]) + r.bias[i]
		}
	}
	return d
}

// fuse quantizes each row of w by its range, or the given one: see fusedRows. The ranges are those of fbgemm, whose
// bias of fewer than 8 bits is rounded before the scale is chosen.
func fuse(c *Ctx, w *T, bits int, ranges *T) *T {
	if w.Dim() != 2 || w.DType() != tensor.Float32 && w.DType() != tensor.Float16 {
		c.Fail(tensor.ErrDType, "%s: the weight must be float32 or float16 of two dimensions, got %s of shape %s",
			c.Op().FullName(), w.DType(), tensor.ShapeString(w.Shape()))
	}
	if ranges != nil && (ranges.Dim() != 2 || ranges.Size(0) != w.Size(0) || ranges.Size(1) != 2) {
		c.Fail(tensor.ErrShape, "%s: rowwise_min_max must have shape [%d, 2], got %s", c.Op().FullName(), w.Size(0),
			tensor.ShapeString(ranges.Shape()))
	}
	n, width := w.Size(0), w.Size(1)
	per := 8 / bits
	if width%per != 0 {
		c.Fail(tensor.ErrShape, "%s: rows of %d numbers do not fill bytes of %d", c.Op().FullName(), width, per)
	}
	tail := 4
	if bits == 8 {
		tail = 8
	}
	stride := width/per + tail
	d := tensor.New([]int{n, stride}, tensor.Uint8)
	out, x := tensor.Data[uint8](d), tensor.Data[float32](tensor.DenseAs(w.Detach(), tensor.Float32))
	clear(out)
	var given []float32
	if ranges != nil {
		given = tensor.Data[float32](tensor.DenseAs(ranges.Detach(), tensor.Float32))
	}
	for i := range n {
		row, o := x[i*width:(i+1)*width], out[i*stride:(i+1)*stride]
		lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
		for _, v := range row {
			lo, hi = min(lo, v), max(hi, v)
		}
		if width == 0 {
			lo, hi = 0, 0
		}
		if given != nil {
			lo, hi = given[2*i], given[2*i+1]
		}
		top, end := float32(int(1)<<bits-1), o[stride-tail:]
		var inv float32
		if bits == 8 {
			binary.LittleEndian.PutUint32(end, math.Float32bits((hi-lo)/top))
			binary.LittleEndian.PutUint32(end[4:], math.Float32bits(lo))
			inv = top / ((hi - lo) + 1e-8)
		} else {
			half := dtype.ToFloat16(lo)
			lo = half.F32()
			scale := float32(1)
			if hi != lo {
				scale = dtype.ToFloat16((hi - lo) / top).F32()
			}
			if inv = 1 / scale; scale == 0 || math.IsInf(float64(inv), 0) {
				scale, inv = 1, 1
			}
			binary.LittleEndian.PutUint16(end, uint16(dtype.ToFloat16(scale)))
			binary.LittleEndian.PutUint16(end[2:], uint16(half))
		}
		for j, v := range row {
			q := uint8(min(max(quant.Round((v-lo)*inv), 0), top))
			o[j/per] |= q << (bits * (j % per))
		}
	}
	return d
}

// table is the table of packed parameters. PyTorch keeps scale and bias of 4-bit rows as float16.
func (p *Embedding) table() *rows {
	w := p.Weight
	q := tensor.QuantizerOf(w)
	r := &rows{n: w.Size(0), width: w.Size(1), q: tensor.Data[uint8](tensor.Dense(ints(w)))}
	if w.DType() != tensor.QUInt8 {
		r.q = unpack(r.q, w.Shape(), w.DType())
	}
	scales, zeros := tensor.Data[float32](tensor.DenseAs(q.Scales, tensor.Float32)),
		tensor.Data[float32](tensor.DenseAs(q.ZeroPoints, tensor.Float32))
	for i, s := range scales {
		b := -(zeros[i] * s)
		if w.DType() != tensor.QUInt8 {
			s, b = dtype.ToFloat16(s).F32(), dtype.ToFloat16(b).F32()
		}
		r.scale, r.bias = append(r.scale, s), append(r.bias, b)
	}
	return r
}

// PackEmbedding packs a table: QUInt8 or QUInt4x2 of two dimensions, quantized per row with zero points of float32.
func PackEmbedding(c *Ctx, w *T) *Embedding {
	q := tensor.QuantizerOf(w)
	if q == nil || w.Dim() != 2 || q.Scheme != tensor.PerChannelAffineFloatQParams || q.Axis != 0 ||
		w.DType() != tensor.QUInt8 && w.DType() != tensor.QUInt4x2 {
		c.Fail(tensor.ErrDType, "%s: Expect embedding_bag weights to be quantized using "+
			"kPerChannelAffineFloatQParams, of type quint8 or quint4x2", c.Op().FullName())
	}
	return &Embedding{Weight: w}
}

// look is a function that finds a row for each index; -1 stands for a row that was pruned.
func look(c *Ctx, r *rows, mapping *T) func(i int64) int {
	var m []int64
	if mapping != nil && mapping.Numel() > 0 {
		m = tensor.Data[int64](tensor.DenseAs(mapping.Detach(), tensor.Int64))
	}
	return func(i int64) int {
		if m != nil {
			if i < 0 || i >= int64(len(m)) {
				c.Fail(tensor.ErrIndex, "%s: index %d is out of bounds for a mapping of %d rows", c.Op().FullName(), i,
					len(m))
			}
			if i = m[i]; i == -1 {
				return -1
			}
		}
		if i < 0 || i >= int64(r.n) {
			c.Fail(tensor.ErrIndex, "%s: index %d is out of bounds for a table of %d rows", c.Op().FullName(), i, r.n)
		}
		return int(i)
	}
}

func integers(c *Ctx, t *T, what string) []int64 {
	if t.DType() != tensor.Int32 && t.DType() != tensor.Int64 {
		c.Fail(tensor.ErrDType, "%s: %s must be int32 or int64, got %s", c.Op().FullName(), what, t.DType())
	}
	return tensor.Data[int64](tensor.DenseAs(t, tensor.Int64))
}

// bag sums rows: indices of one dimension with offsets, or of two, one bag for each row. Arguments begin at 1.
func bag(c *Ctx, r *rows) *T {
	idx := c.T(1)
	if c.Int(4) != 0 {
		c.Fail(tensor.ErrNotImpl, "%s: only the mode sum (0) is supported", c.Op().FullName())
	}
	list := integers(c, idx, "indices")
	var off []int64
	switch {
	case idx.Dim() == 2 && c.T(2) == nil:
		for i := range idx.Size(0) + 1 {
			off = append(off, int64(i*idx.Size(1)))
		}
	case idx.Dim() == 1 && c.T(2) != nil && c.T(2).Dim() == 1:
		off = append(off, integers(c, c.T(2), "offsets")...)
		if !c.Bool(8) {
			off = append(off, int64(len(list)))
		}
	default:
		c.Fail(tensor.ErrShape, "%s: indices of one dimension with offsets are wanted, or of two without",
			c.Op().FullName())
	}
	var weight []float32
	if w := c.T(6); w != nil {
		if w.Numel() != len(list) {
			c.Fail(tensor.ErrShape, "%s: per_sample_weights has %d elements for %d indices", c.Op().FullName(),
				w.Numel(),
				len(list))
		}
		weight = tensor.Data[float32](tensor.DenseAs(w.Detach(), tensor.Float32))
	}
	find := look(c, r, c.T(7))
	if len(off) == 0 {
		c.Fail(tensor.ErrShape, "%s: offsets are empty", c.Op().FullName())
	}
	d := tensor.New([]int{len(off) - 1, r.width}, tensor.Float32)
	out := tensor.Data[float32](d)
	clear(out)
	for b := range len(off) - 1 {
		from, to := off[b], off[b+1]
		if from < 0 || to < from || to > int64(len(list)) {
			c.Fail(tensor.ErrIndex, "%s: offsets must rise from 0 to at most %d, got %d after %d", c.Op().FullName(),
				len(list), to, from)
		}
		o := out[b*r.width:][:r.width]
		for k := from; k < to; k++ {
			i := find(list[k])
			if i < 0 {
				continue
			}
			s, z := r.scale[i], r.bias[i]
			if weight != nil {
				s, z = s*weight[k], z*weight[k]
			}
			for j, q := range r.q[i*r.width:][:r.width] {
				o[j] += s*float32(q) + z
			}
		}
	}
	return d
}

const bagArgs = "Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, " +
	"bool pruned_weights=False, Tensor? per_sample_weights=None, Tensor? compressed_indices_mapping=None, " +
	"bool include_last_offset=False) -> Tensor"

func init() {
	define("quantized::embedding_bag_prepack(Tensor weight) -> "+embeddingClass+" W_prepack",
		"packs a quantized table.",
		func(c *Ctx) { c.ReturnValue(tensor.AnyValue(PackEmbedding(c, c.T(0)))) })
	define("quantized::embedding_bag_unpack("+embeddingClass+" W_prepack) -> Tensor W_origin",
		"gives the table that was packed.",
		func(c *Ctx) { c.SetOut(0, argument[Embedding](c, 0).Weight) })
	for _, f := range []struct {
		name string
		bits int
	}{{"byte", 8}, {"4bit", 4}, {"2bit", 2}} {
		bits := f.bits
		name := "embedding_bag_" + f.name
		doc := fmt.Sprintf("quantizes each row of a table to %d bits by its range; scale and bias stand behind a row.",
			bits)
		options := ""
		if bits < 8 {
			options = ", bool optimized_qparams=False, int nbins=200, float ratio=0.16"
		}
		// ranges are those of the rows: given ones, or with optimized_qparams (argument i) those that change them least
		ranges := func(c *Ctx, i int, given *T) *T {
			if bits == 8 || !c.Bool(i) || c.T(0).Dim() != 2 || c.T(0).Size(1) == 0 {
				return given
			}
			return optimizedRanges(c, c.T(0), c.Int(i+1), float32(c.Float(i+2)), bits)
		}
		define("quantized::"+name+"_prepack(Tensor weight"+options+") -> Tensor", doc, func(c *Ctx) {
			c.SetOut(0, fuse(c, c.T(0), bits, ranges(c, 1, nil)))
		})
		define("quantized::"+name+"_prepack_with_rowwise_min_max(Tensor weight, Tensor rowwise_min_max"+options+") -> Tensor", doc,
			func(c *Ctx) {
				c.SetOut(0, fuse(c, c.T(0), bits, ranges(c, 2, c.T(1))))
			})
		define("quantized::"+name+"_unpack(Tensor weight) -> Tensor", "is the table as float32.",
			func(c *Ctx) { c.SetOut(0, fusedRows(c, c.T(0), bits).dense()) })
		define("quantized::"+name+"_rowwise_offsets(Tensor weight, "+bagArgs, "sums rows of a packed table.",
			func(c *Ctx) { c.SetOut(0, bag(c, fusedRows(c, c.T(0), bits))) })
		if bits == 2 {
			continue
		}
		define("quantized::"+name+"("+embeddingClass+" weight, "+bagArgs, "sums rows of a table.",
			func(c *Ctx) { c.SetOut(0, bag(c, argument[Embedding](c, 0).table())) })
		define("quantized::embedding_"+f.name+"("+embeddingClass+" weight, Tensor indices, bool pruned_weights=False) -> Tensor",
			"is rows of a table.", func(c *Ctx) {
				r, idx := argument[Embedding](c, 0).table(), c.T(1)
				find := look(c, r, nil)
				list := integers(c, idx, "indices")
				d := tensor.New(append(append([]int{}, idx.Shape()...), r.width), tensor.Float32)
				out := tensor.Data[float32](d)
				for k, i := range list {
					at := find(i)
					for j, q := range r.q[at*r.width:][:r.width] {
						out[k*r.width+j] = r.scale[at]*float32(q) + r.bias[at]
					}
				}
				c.SetOut(0, d)
			})
	}
}
