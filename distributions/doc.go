// Package distributions holds probability distributions with PyTorch's names, numbers and gradients: it is Python's
// torch.distributions.
//
//	d := distributions.NewNormal(loc, scale)       // tensors, broadcast against each other
//	x := d.RSample(5)                              // 5 samples of the whole batch; gradients reach loc and scale
//	loss := d.LogProb(x).Mean().Neg()
//
// # Shapes
//
// A distribution has a batch shape (many distributions side by side) and an event shape (one draw of one of them).
// Sample(s…) has the shape s + batch + event, LogProb takes values of that shape, or of one that broadcasts with it,
// and drops the event dimensions.
//
// # Random numbers
//
// The same seed gives the same draws as PyTorch on a CPU. Sample does not record gradients, RSample does where the
// family can be reparameterized, and is an error elsewhere.
//
// # Errors
//
// Parameters and values are checked against [Distribution.ArgConstraints] and [Distribution.Support]; a violation
// panics with a *torch.Error of the cause torch.ErrValue in PyTorch's words. Options.ValidateArgs switches the checks
// off for one distribution, [SetDefaultValidateArgs] for those made afterwards. What PyTorch does not implement for a
// family, such as the mode of a mixture, panics with the cause tensor.ErrNotImpl. On the meta device, where there are
// no numbers, nothing is checked.
//
// # Transforms, KL divergence, constraints
//
// [NewTransformedDistribution] pushes a distribution through [Transform] values, whose log-determinants enter the
// density. [KLDivergence] finds a closed form in a registry by the types of both distributions; [RegisterKL] adds one.
// [BijectTo] and [TransformTo] lead from all real numbers to a constraint of package constraints.
//
// https://pytorch.org/docs/stable/distributions.html
package distributions
