// Package einops writes reshaping, transposing, stacking, reducing and repeating as patterns with named axes, as the
// Python package of this name does:
//
//	y := einops.Rearrange(x, "b c (h h1) (w w1) -> b (h w) (h1 w1 c)", einops.Axes{"h1": 2, "w1": 2})
//	z := einops.Reduce(x, "b c h w -> b c", "mean")
//	m := einops.Repeat(x, "h w -> h w c", einops.Axes{"c": 3})
//
// A pattern has two sides. Axes are named by identifiers or, where only their length matters, by numbers; parentheses
// compose several axes into one dimension, the last one varying fastest; "..." stands for any dimensions. What a side
// does not say is found from the shapes, or given in [Axes]. Results are views of the input where views can do.
//
// Patterns are parsed once for each combination of operation, named lengths and number of dimensions, and remembered. A
// pattern that is wrong or does not fit the tensor panics with a *torch.Error of cause torch.ErrValue, whose message is
// that of the Python package.
//
// Package layers has the operations as modules for nn.Sequential.
//
// https://einops.rocks
package einops
