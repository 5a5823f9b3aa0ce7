// Package optim holds the optimizers: [SGD], [Adam] and [AdamW], with parameter groups, state dicts that PyTorch reads and writes, and
// the same numbers.
//
//	opt := optim.NewSGD(params, 0.1, optim.SGDOptions{Momentum: 0.9})
//	for batch := range batches {
//		opt.ZeroGrad()
//		loss(batch).Backward()
//		opt.Step()
//	}
//
// The types to know are [Optimizer], the interface of all of them, [Group], which describes a parameter group when one is made, and
// [ParamGroup], a group as the optimizer holds it, whose settings can be changed between steps; package optim/lr does that.
//
// A step goes over memory once: every parameter is read, updated and written together with its state by one kernel, and all parameters
// of all groups share one parallel loop, so that many small tensors cost no more than one large one. Work is cut by size alone: the
// result does not depend on the number of threads.
package optim
