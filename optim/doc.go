// Package optim holds PyTorch's optimizers: [SGD], [Adam], [AdamW], [Adamax], [NAdam], [RAdam], [RMSprop], [Rprop],
// [Adagrad], [Adadelta], [ASGD], [Adafactor], [Muon], [SparseAdam] and [LBFGS], with parameter groups, state dicts that
// PyTorch reads and writes, and the same numbers. SGD, Adagrad and SparseAdam also take gradients that are sparse
// tensors, as embedding tables have them.
//
//	opt := optim.NewSGD(params, 0.1, optim.SGDOptions{Momentum: 0.9})
//	for batch := range batches {
//		opt.ZeroGrad()
//		loss(batch).Backward()
//		opt.Step()
//	}
//
// The types to know are [Optimizer], the interface of all of them, [Group], which describes a parameter group when one
// is made, and [ParamGroup], a group as the optimizer holds it, whose settings can be changed between steps; package
// optim/lr does that.
//
// A number that may be left out and whose default is another than 0 is a tensor.Opt, given as torch.Some(x). So 0 is
// always 0: AdamWOptions{WeightDecay: torch.Some(0.0)} switches AdamW's decay off, and a group inherits exactly the
// settings that it does not give.
//
// A step calls one operator on whole lists of tensors for each group, device and dtype: PyTorch's aten::_fused_adam_
// and its like, or an operator of ours whose body is what PyTorch composes. Adafactor, Muon and LBFGS are composed of
// public operators. Parameters may lie on any device; their state lies beside them, except for the step counters, which
// lie on the CPU unless a group's settings "capturable" or "fused" say otherwise. On the CPU such an operator goes over
// memory once: every parameter is read, updated and written together with its state by one kernel, and all parameters
// of the list share one parallel loop, so that many small tensors cost no more than one large one. Work is cut by size
// alone: the result does not depend on the number of threads.
//
// An optimizer belongs to one goroutine at a time. A Step that is called while another one of the same optimizer runs
// is a [tensor.Error], and so are ZeroGrad, AddParamGroup and LoadStateDict during a step; the step that runs is not
// disturbed. Different optimizers may step at once when they share no parameters. Gradients must not be written while a
// step reads them: a Backward in another goroutine has to end first.
package optim
