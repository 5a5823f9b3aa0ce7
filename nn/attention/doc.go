// Package attention is torch.nn.attention: which kernels scaled_dot_product_attention may use ([SDPAKernel]), masks
// that need no memory ([CausalUpperLeft], [CausalLowerRight]), and attention with functions of the scores and the
// positions ([FlexAttention], [CreateBlockMask]).
//
// https://docs.pytorch.org/docs/stable/nn.attention.html
package attention
