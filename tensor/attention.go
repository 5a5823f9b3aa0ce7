package tensor

// AttentionWays are ways to compute scaled_dot_product_attention.
type AttentionWays uint8

// The ways that there are.
const (
	AttentionMath  AttentionWays = 1 << iota // public operators, one after the other, with all scores in memory
	AttentionFlash                           // the fused operator
)

// WithAttention runs f, in which scaled_dot_product_attention is computed in one of the given ways; none of them is an
// error there.
func WithAttention(ways AttentionWays, f func()) { with(func(m *mode) { m.attention = ^ways }, f) }

// AttentionAllowed are the ways in which this goroutine may compute attention: all, unless WithAttention says
// otherwise.
func AttentionAllowed() AttentionWays {
	if m := currentMode(); m != nil {
		return ^m.attention
	}
	return ^AttentionWays(0)
}
