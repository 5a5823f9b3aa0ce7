package attention_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn/attention"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/torchtest"
)

func qkv() (q, k, v *torch.Tensor) {
	torch.ManualSeed(1)
	return torch.Randn([]int{2, 4, 5, 8}), torch.Randn([]int{2, 4, 7, 8}), torch.Randn([]int{2, 4, 7, 3})
}

// TestSDPAKernel computes attention in both ways, and in none.
func TestSDPAKernel(t *testing.T) {
	q, k, v := qkv()
	want := F.ScaledDotProductAttention(q, k, v)
	for _, b := range []attention.SDPBackend{attention.Math, attention.FlashAttention} {
		attention.SDPAKernel([]attention.SDPBackend{b}, func() {
			if err := torchtest.AssertClose(F.ScaledDotProductAttention(q, k, v), want); err != nil {
				t.Errorf("%v: %v", b, err)
			}
		})
	}
	for text, c := range map[string]func(){
		"No viable backend": func() {
			attention.SDPAKernel([]attention.SDPBackend{attention.EfficientAttention}, func() {
				F.ScaledDotProductAttention(q, k, v)
			})
		},
		"No available kernel": func() {
			attention.SDPAKernel([]attention.SDPBackend{attention.FlashAttention}, func() {
				F.ScaledDotProductAttention(q.NewZeros([]int{2, 4, 0, 8}), k, v)
			})
		},
		"there is no backend": func() { attention.SDPAKernel([]attention.SDPBackend{9}, func() {}) },
	} {
		if err := torch.Try(c); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
}

// TestBias compares a bias with the mask that it stands for.
func TestBias(t *testing.T) {
	q, k, v := qkv()
	for _, b := range []*attention.CausalBias{attention.CausalUpperLeft(5, 7), attention.CausalLowerRight(5, 7)} {
		want := F.ScaledDotProductAttention(q, k, v,
			F.ScaledDotProductAttentionOptions{AttnMask: b.Materialize(q.Device())})
		if err := torchtest.AssertClose(b.Attention(q, k, v), want); err != nil {
			t.Errorf("variant %d: %v", b.Variant, err)
		}
	}
}

// TestFlexAttention compares with scaled_dot_product_attention: a mask, a bias, few heads of keys, gradients.
func TestFlexAttention(t *testing.T) {
	q, k, v := qkv()
	near := func(name string, got, want *torch.Tensor) {
		t.Helper()
		if err := torchtest.AssertClose(got, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, _ := attention.FlexAttention(q, k, v)
	near("plain", out, F.ScaledDotProductAttention(q, k, v))
	mask := attention.CreateBlockMask(attention.CausalMask, 0, 0, 5, 7)
	out, lse := attention.FlexAttention(q, k, v, attention.FlexOptions{BlockMask: mask})
	near("causal", out, F.ScaledDotProductAttention(q, k, v, F.ScaledDotProductAttentionOptions{IsCausal: true}))
	near("one key", lse.Select(2, 0), q.Select(2,
		0).Mul(k.Select(2, 0)).SumDim([]int{-1}).DivScalar(2.8284271247461903))
	bias := torch.Randn([]int{5, 7})
	mod := func(s, _, _, q, kv *torch.Tensor) *torch.Tensor { return s.Add(bias) }
	out, _ = attention.FlexAttention(q, k, v, attention.FlexOptions{ScoreMod: mod})
	near("bias", out, F.ScaledDotProductAttention(q, k, v, F.ScaledDotProductAttentionOptions{AttnMask: bias}))
	k2, v2 := k.Narrow(1, 0, 2), v.Narrow(1, 0, 2)
	out, _ = attention.FlexAttention(q, k2, v2, attention.FlexOptions{EnableGQA: true})
	near("few heads", out, F.ScaledDotProductAttention(q, k2, v2, F.ScaledDotProductAttentionOptions{EnableGqa: true}))
	never := attention.CreateBlockMask(attention.AndMasks(attention.CausalMask,
		func(_, _, q, kv *torch.Tensor) *torch.Tensor { return q.Lt(kv) }), 0, 0, 5, 7)
	out, _ = attention.FlexAttention(q, k, v, attention.FlexOptions{BlockMask: never})
	near("no keys", out, torch.ZerosLike(out))
	if s := never.Sparsity(); s != 100 {
		t.Errorf("sparsity %v, want 100", s)
	}
	if err := torch.Try(func() { attention.FlexAttention(q, k2, v2) }); err == nil {
		t.Error("different numbers of heads pass")
	}
}

func ExampleSDPAKernel() {
	x := torch.Ones([]int{1, 1, 2, 4})
	attention.SDPAKernel([]attention.SDPBackend{attention.Math}, func() {
		fmt.Println(F.ScaledDotProductAttention(x, x, x).Shape())
	})
	// Output: [1 1 2 4]
}

func ExampleFlexAttention() {
	x := torch.Ones([]int{1, 1, 2, 4})
	mask := attention.CreateBlockMask(attention.CausalMask, 0, 0, 2, 2)
	out, _ := attention.FlexAttention(x, x, x, attention.FlexOptions{BlockMask: mask})
	fmt.Println(out.Shape())
	// Output: [1 1 2 4]
}

func ExampleCausalLowerRight() {
	fmt.Println(attention.CausalLowerRight(2, 3))
	// Output:
	// tensor([[ True,  True, False],
	//         [ True,  True,  True]])
}
