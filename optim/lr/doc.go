// Package lr schedules learning rates: step, cosine, one-cycle, plateau and the rest, each with PyTorch's sequence of
// rates, bit for bit, and its state dict.
//
//	opt := optim.NewSGD(params, 0.1)
//	sched := lr.NewStepLR(opt, 30, lr.Options{Gamma: torch.Some(0.1)})
//	for epoch := range epochs {
//		train(opt)
//		sched.Step()
//	}
//
// A scheduler sets "lr" (and for the cyclic ones the momentum) in the optimizer's groups. It is made after the
// optimizer, sets the rate of the first epoch at once, and steps after it. Options that are not given take PyTorch's
// default; a number whose default is another than 0 is given as torch.Some(x).
//
// See https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate.
package lr
