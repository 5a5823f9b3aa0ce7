package modcheck_test

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	sharedata "github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// exported reads the operators of a program that torch.export wrote, in their order, without those that only read
// sizes. whole is false for a program with parts that are no calls of operators.
func exported(t *testing.T, path string) (ops []string, whole bool) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	i := slices.IndexFunc(z.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, "models/model.json") })
	if i < 0 {
		t.Fatalf("%s has no program", path)
	}
	r, err := z.File[i].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var program struct {
		Module struct {
			Graph struct{ Nodes []struct{ Target string } }
		} `json:"graph_module"`
	}
	if err := json.Unmarshal(raw, &program); err != nil {
		t.Fatal(err)
	}
	whole = true
	for _, n := range program.Module.Graph.Nodes {
		o, ok := strings.CutPrefix(n.Target, "torch.ops.aten.")
		switch {
		case ok && !strings.HasPrefix(o, "sym_size"):
			ops = append(ops, "aten::"+strings.TrimSuffix(o, ".default"))
		case !ok && strings.HasPrefix(n.Target, "torch.ops."):
			whole = false
		}
	}
	return ops, whole
}

// number is a number as an operand: Python's x * 2 calls the operator for tensors with one.
func number(v float64) *torch.Tensor { return tensor.Num{K: tensor.KFloat, F: v}.Tensor() }

// programs are models of the reference programs, in the words of their Python source. The others are in notBuilt.
func programs() map[string]func() {
	conv := func(in, out int) *nn.Conv2d {
		return nn.NewConv2d(in, out, 3, nn.Conv2dOptions{Padding: nn.Size{1}, NoBias: true})
	}
	layer := func(m nn.Layer, shape ...int) func() {
		nn.Eval(m)
		x := torch.Randn(shape)
		return func() { m.Forward(x) }
	}
	attention := nn.NewMultiheadAttention(6, 2, nn.MultiheadAttentionOptions{BatchFirst: true})
	on := func(f func(x *torch.Tensor), shape ...int) func() {
		x := torch.Randn(shape)
		return func() { f(x) }
	}
	last := func(x *torch.Tensor) *torch.Tensor { // GLU by hand
		c := x.Chunk(2, torch.ChunkOptions{Dim: -1})
		return c[0].Mul(c[1].Sigmoid())
	}
	gate := func(x *torch.Tensor) *torch.Tensor { return x.Mul(x.Softmax(1)) }
	prefix := func(x *torch.Tensor) *torch.Tensor { return x.CumSum(1).Div(number(5)) }
	lin := func(in, out int) *nn.Linear { return nn.NewLinear(in, out) }
	padded := func(in, out int) *nn.Conv2d {
		return nn.NewConv2d(in, out, 3, nn.Conv2dOptions{Padding: nn.Size{1}})
	}
	normed := func(in, out int) *nn.Sequential {
		return nn.NewSequential(padded(in, out), nn.NewGroupNorm(2, out), nn.NewSiLU())
	}
	cat := func(dim int, x ...*torch.Tensor) *torch.Tensor {
		return torch.Cat(x, torch.CatOptions{Dim: dim})
	}
	encoder := nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(8, 2,
		nn.TransformerLayerOptions{DimFeedforward: torch.Some(16), BatchFirst: true}), 2, nil)
	encoder.Eval()
	lstm := nn.NewLSTM(5, 6, nn.RNNOptions{BatchFirst: true})
	trained := nn.NewSequential(nn.NewConv2d(2, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewFlatten())
	a, b := lin(4, 4), lin(4, 4)
	return map[string]func(){
		"convbn": layer(nn.NewSequential(conv(3, 6), nn.NewBatchNorm2d(6), nn.NewReLU(), nn.NewMaxPool2d(2), conv(6, 8),
			nn.NewBatchNorm2d(8), nn.NewReLU(),
			nn.NewMaxPool2d(2), nn.NewAdaptiveAvgPool2d(1), nn.NewFlatten(), lin(8, 5)), 2, 3, 16, 16),
		"bn_train":            on(func(x *torch.Tensor) { trained.Forward(x) }, 4, 2, 6, 6),
		"lstm":                on(func(x *torch.Tensor) { lstm.Forward(x) }, 2, 4, 5),
		"transformer_encoder": on(func(x *torch.Tensor) { encoder.Forward(x) }, 2, 5, 8),
		"bf16_net":            layer(nn.NewSequential(lin(4, 6), nn.NewGELU(), nn.NewLayerNorm(6), lin(6, 3)), 3, 4),
		"double_net":          layer(nn.NewSequential(lin(4, 6), nn.NewSoftplus(), lin(6, 3), nn.NewSoftmax(1)), 3, 4),
		"dim_range":           on(func(x *torch.Tensor) { a.Forward(x).SumDim([]int{1}) }, 3, 4),
		"dim_equal":           on(func(x *torch.Tensor) { x.MatMul(x).ReLU() }, 4, 4),
		"kwargs_none":         on(func(x *torch.Tensor) { a.Forward(x).Mul(number(1)).Add(x) }, 3, 4),
		"shared_params":       on(func(x *torch.Tensor) { a.Forward(b.Forward(a.Forward(x))) }, 3, 4),
		"unused_params":       on(func(x *torch.Tensor) { a.Forward(x) }, 3, 4),
		"strict_mode":         on(func(x *torch.Tensor) { a.Forward(x).Add(number(1)) }, 3, 4),
		"preserve_signature": on(func(x *torch.Tensor) {
			y := x.Mul(number(2))
			a.Forward(x).Add(y).Tanh().Add(number(0))
		}, 3, 4),
		"checkpointed":      on(func(x *torch.Tensor) { a.Forward(x).ReLU().Add(number(0)) }, 3, 4),
		"bool_guard_branch": on(func(x *torch.Tensor) { x.Cos() }, 3),
		"rand_ops": on(func(x *torch.Tensor) {
			F.Dropout(x, F.DropoutOptions{P: torch.Some(0.4)}).Add(torch.RandLike(x))
		}, 3, 4),
		"flex_like_attention": on(func(x *torch.Tensor) {
			F.ScaledDotProductAttention(x, x, x)
			F.ScaledDotProductAttention(x, x, x, F.ScaledDotProductAttentionOptions{IsCausal: true})
			F.ScaledDotProductAttention(x, x, x, F.ScaledDotProductAttentionOptions{Scale: torch.Some(0.3)})
		}, 1, 2, 5, 4),
		"lists_outputs": on(func(x *torch.Tensor) {
			y := cat(0, x, x)
			y.SplitWithSizes([]int{2, 4})
			y.Unbind(torch.UnbindOptions{Dim: 1})
			y.Aminmax()
			x.Mean()
			x.Mean()
		}, 3, 4),
		"multi_head_dict": func() func() {
			cls, reg := lin(4, 3), lin(4, 1)
			return on(func(x *torch.Tensor) {
				h := a.Forward(x).Add(x).ReLU()
				cls.Forward(h)
				reg.Forward(h)
				h.Mul(number(2))
				h.Sum()
			}, 3, 4)
		}(),
		"dense_inception": func() func() {
			l := []*nn.Conv2d{padded(3, 2), padded(5, 2), padded(7, 2)}
			one, wide := nn.NewConv2d(9, 3, 1),
				nn.NewConv2d(9, 3, nn.Size{1, 7}, nn.Conv2dOptions{Padding: nn.Size{0, 3}})
			tall, pool := nn.NewConv2d(9, 3, nn.Size{7, 1}, nn.Conv2dOptions{Padding: nn.PaddingSame}),
				nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{1}, Padding: nn.Size{1}})
			return on(func(x *torch.Tensor) {
				for _, c := range l {
					x = cat(1, x, c.Forward(x).ReLU())
				}
				cat(1, one.Forward(x), wide.Forward(x), tall.Forward(x), pool.Forward(x)).MeanDim([]int{2, 3})
			}, 2, 3, 12, 10)
		}(),
		"unet": func() func() {
			first, second := normed(3, 4), normed(4, 8)
			up, join, out := nn.NewConvTranspose2d(8, 4, 2, nn.ConvTranspose2dOptions{Stride: nn.Size{2}}),
				nn.NewSequential(padded(8, 4), nn.NewReLU()), nn.NewConv2d(4, 2, 1)
			return on(func(x *torch.Tensor) {
				x = first.Forward(x)
				y := up.Forward(second.Forward(F.MaxPool2d(x, []int{2})))
				out.Forward(join.Forward(cat(1, y, x))).Sigmoid()
			}, 1, 3, 16, 16)
		}(),
		"gpt_tied": func() func() {
			e, p := nn.NewEmbedding(17, 8), nn.NewEmbedding(16, 8)
			n1, n2, n := nn.NewLayerNorm(8), nn.NewLayerNorm(8), nn.NewLayerNorm(8)
			qkv, o := lin(8, 24), lin(8, 8)
			m := nn.NewSequential(lin(8, 32), nn.NewGELU(nn.GELUOptions{Approximate: nn.TanhApprox}), lin(32, 8))
			ids := torch.Zeros([]int{2, 6}, torch.ZerosOptions{DType: torch.Int64})
			return func() {
				x := e.Forward(ids).Add(p.Forward(torch.Arange(6)))
				heads := qkv.Forward(n1.Forward(x)).Chunk(3, torch.ChunkOptions{Dim: -1})
				for i, h := range heads {
					heads[i] = h.View([]int{2, 6, 2, 4}).Transpose(1, 2)
				}
				y := F.ScaledDotProductAttention(heads[0], heads[1], heads[2],
					F.ScaledDotProductAttentionOptions{IsCausal: true})
				x = x.Add(o.Forward(y.Transpose(1, 2).Reshape([]int{2, 6, 8})))
				x = x.Add(m.Forward(n2.Forward(x)))
				F.Linear(n.Forward(x), e.Weight)
			}
		}(),
		"cells": func() func() {
			a, b, c := nn.NewLSTMCell(3, 4), nn.NewGRUCell(4, 4), nn.NewRNNCell(4, 2)
			return on(func(x *torch.Tensor) {
				h := x.NewZeros([]int{2, 4})
				s, g, r := torch.OnesLike(h), h, x.NewZeros([]int{2, 2})
				var out []*torch.Tensor
				for i := range 3 {
					h, s = a.Forward(x.Select(0, i), h, s)
					g = b.Forward(h, g)
					r = c.Forward(g, r)
					out = append(out, r)
				}
				torch.Stack(out)
			}, 3, 2, 3)
		}(),
		"vae_eval": func() func() {
			e, mu, lv, d := lin(6, 8), lin(8, 3), lin(8, 3), nn.NewSequential(lin(3, 8), nn.NewReLU(), lin(8, 6))
			eps := torch.Randn([]int{4, 3})
			return on(func(x *torch.Tensor) {
				h := F.Softplus(e.Forward(x))
				m, v := mu.Forward(h), lv.Forward(h).ClampScalar(torch.ClampScalarOptions{Min: -3, Max: 3})
				d.Forward(m.Add(eps.Mul(v.Mul(number(0.5)).Exp())))
				v.Add(number(1)).Sub(m.PowScalar(2)).Sub(v.Exp()).SumDim([]int{1}).Mul(number(-0.5))
			}, 4, 6)
		}(),
		"convlstm": func() func() {
			c, o := padded(4, 12), nn.NewConv2d(3, 1, 1)
			return on(func(x *torch.Tensor) {
				h := x.NewZeros([]int{1, 3, 5, 5})
				s := h.Clone()
				for i := range 3 {
					g := c.Forward(cat(1, x.Select(1, i), h)).Chunk(4, torch.ChunkOptions{Dim: 1})
					keep := g[1].Sigmoid().Mul(s)
					s = keep.Add(g[0].Sigmoid().Mul(g[2].Tanh()))
					h = g[3].Sigmoid().Mul(s.Tanh())
				}
				o.Forward(h)
			}, 1, 3, 1, 5, 5)
		}(),
		"moe": func() func() {
			g, w1, w2 := lin(6, 4), torch.Randn([]int{4, 6, 8}), torch.Randn([]int{4, 8, 6})
			return on(func(x *torch.Tensor) {
				p := F.Softmax(g.Forward(x), F.SoftmaxOptions{Dim: torch.Some(-1)})
				v, i := p.TopK(1)
				s := torch.ZerosLike(p).Scatter(-1, i, v)
				h := torch.Einsum("nd,edh->neh", []*torch.Tensor{x, w1}).ReLU()
				torch.Einsum("neh,ehd,ne->nd", []*torch.Tensor{h, w2, s})
			}, 5, 6)
		}(),
		"random_img_2": func() func() {
			l := nn.NewSequential(nn.NewConv2d(6, 6, 1,
				nn.Conv2dOptions{Padding: nn.PaddingSame, Dilation: nn.Size{2}}), nn.NewBatchNorm2d(6), nn.NewReLU())
			bn := nn.NewBatchNorm2d(6)
			l.Eval()
			bn.Eval()
			return on(func(x *torch.Tensor) {
				x = l.Forward(x)
				top := x.Index(tensor.Slice(),
					tensor.Slice(nil, 3)).Amax(torch.AmaxOptions{Dim: []int{2, 3}, KeepDim: true})
				x = cat(1, top.ExpandAs(x.Index(tensor.Slice(), tensor.Slice(nil, 3))),
					x.Index(tensor.Slice(), tensor.Slice(3))).Sub(x)
				bn.Forward(x).Add(x.Mul(number(0.5))).MeanDim([]int{2, 3})
			}, 2, 6, 8, 8)
		}(),
		"random_seq_3": func() func() {
			l := lin(6, 12)
			return on(func(x *torch.Tensor) {
				y, _ := attention.Forward(x, x, x)
				last(l.Forward(gate(prefix(gate(x.Add(y)))))).Roll([]int{1}, torch.RollOptions{Dims: []int{1}})
			}, 2, 5, 6)
		}(),
		"random_seq_5": func() func() {
			n1, n2, l1, l2 := nn.NewRMSNorm(6), nn.NewRMSNorm(6), lin(6, 12), lin(6, 12)
			return on(func(x *torch.Tensor) {
				last(l2.Forward(prefix(last(l1.Forward(n2.Forward(n1.Forward(gate(x)))))).Tanh()))
			}, 2, 5, 6)
		}(),
	}
}

// notBuilt are the reference programs that are left out, with the reason.
var notBuilt = map[string]string{}

func init() {
	for why, names := range map[string]string{
		"control flow that is part of the program (cond, while_loop, scan, map)":  "cond_simple cond_nested cond_shape while_loop_count while_loop_sym map_hop scan_hop assoc_scan",
		"calls of vmap that are part of the program":                              "vmap_grad",
		"regions with autocast or without gradients that are part of the program": "autocast_block no_grad_block",
		"arithmetic with sizes or with elements that are part of the program":     "dim_derived dim_auto dim_mod symint_arith symint_input unbacked_item unbacked_nonzero asserts",
		"tensor methods only, whose names torchtest checks operator by operator": "const_inputs varargs pytree_nested pytree_namedtuple pytree_dataclass buffer_mutate input_mutate " +
			"inplace_views set_item_slices constants views_of_weight complex_ops stft_spec int_quant_like " +
			"dtype_casts linalg empty_and_scalar einsums elementwise",
		"affine_grid and grid_sample, which are not there":       "stn",
		"a cache in buffers, written by hand":                    "kv_cache",
		"an operator of the program's own":                       "custom_op",
		"models of torchvision with tables of the program's own": "tvision_shuffle tvision_misc",
	} {
		for _, n := range strings.Fields(names) {
			notBuilt[n] = why
		}
	}
}

// The operators that a tracer sees are those of the programs that torch.export writes for the same models, in the same
// order.
func TestExportedNames(t *testing.T) {
	dir := sharedata.Path(t, "golden/graphs/pt2")
	raw, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Models []struct{ Name, File string } }
	if err := json.Unmarshal(raw, &index); err != nil {
		t.Fatal(err)
	}
	models := programs()
	for _, m := range index.Models {
		name, ok := strings.CutSuffix(m.Name, "-training")
		if !ok {
			continue
		}
		run := models[name]
		delete(models, name)
		switch {
		case run == nil && notBuilt[name] == "":
			t.Errorf("%s is neither built nor listed with a reason", name)
		case run != nil && notBuilt[name] != "":
			t.Errorf("%s is built and listed as one that is not", name)
		case run != nil:
			want, whole := exported(t, filepath.Join(dir, m.File))
			if !whole {
				t.Errorf("%s is no plain list of operators", name)
			}
			var tr modcheck.Tracer
			if err := tensor.Try(func() { tensor.WithLayer(&tr, run) }); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			same(t, name, tr.Names, want)
		}
	}
	for name := range models {
		t.Errorf("there is no program %s", name)
	}
}
