package functorch

import "github.com/gotorch-dev/torch/einops"

// Rearrange is [einops.Rearrange] under the name of torch.func: it reorders the elements of a tensor by a pattern of
// axes, "b c h w -> b (h w) c".
// https://docs.pytorch.org/docs/stable/generated/torch.func.rearrange.html
func Rearrange(x *Tensor, pattern string, axes ...einops.Axes) *Tensor {
	return einops.Rearrange(x, pattern, axes...)
}
