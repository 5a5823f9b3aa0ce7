// Package functorch has the transforms of functions of Python's torch.func: maps over a batch of examples ([Vmap]),
// derivatives in both directions ([Grad], [VJP], [JVP], [Jacrev], [Jacfwd], [Hessian], [Linearize]) and calls of
// modules with other parameters ([FunctionalCall], [StackModuleState]). They nest in any order: gradients of single
// examples are Vmap(Grad(loss)), an ensemble is Vmap of a FunctionalCall over stacked parameters.
//
// The folder has the name of PyTorch's package. The package has another one, that of the project in which torch.func
// began, since func is a word of the language.
//
// A function takes and returns lists of tensors ([Func]); [One] makes such a function of one with a single argument and
// a single result. Python's transforms walk nested dicts and tuples instead.
//
// A mapped function must not read elements (Item, Data, an if over a comparison): the tensors in it stand for all
// examples at once. https://pytorch.org/docs/stable/func.html
package functorch
