// Package pylite runs small Python programs: the snippets that reference data records together with their results. It
// knows the language only (statements, functions, classes, exceptions, the built-in types and functions); what torch
// means comes from the Host. Of Python it has what such snippets use: no generators, no async, no imports of files.
//
// Interp runs a program; Raise is a Python exception; a Host gives names, attributes and operators of foreign values.
//
// Values are Go values: nil, bool, int, float64, string, Tuple, *List, *Dict, *Func, *Class, *Object, Builtin, *Module,
// and whatever the Host makes.
package pylite
