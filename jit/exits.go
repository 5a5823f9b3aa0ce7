package jit

import (
	"fmt"
	"slices"
	"sort"

	"github.com/gotorch-dev/torch/internal/python"
)

// PyTorch's compiler turns break, continue and return inside of control flow into conditions before it prints a
// program, so that archives have none of them. This file does the same for code that has them: a flag says that a loop
// or the function is left, what follows runs only while it is not set, and loops end with it.

// exitsOf lists what may happen to the statements behind these: "return", "break", "continue".
func exitsOf(l []python.Stmt, inLoop bool) map[string]bool {
	out := map[string]bool{}
	add := func(m map[string]bool) {
		for k := range m {
			out[k] = true
		}
	}
	for _, s := range l {
		switch s := s.(type) {
		case *python.Return:
			out["return"] = true
		case *python.Jump:
			if inLoop {
				out[s.Kind] = true
			}
		case *python.If:
			add(exitsOf(s.Then, inLoop))
			add(exitsOf(s.Else, inLoop))
		case *python.With:
			add(exitsOf(s.Body, inLoop))
		case *python.While:
			if exitsOf(s.Body, false)["return"] {
				out["return"] = true
			}
		case *python.For:
			if exitsOf(s.Body, false)["return"] {
				out["return"] = true
			}
		}
	}
	return out
}

// always reports that the statements never reach their end.
func always(l []python.Stmt) bool {
	if len(l) == 0 {
		return false
	}
	switch s := l[len(l)-1].(type) {
	case *python.Return, *python.Jump, *python.Raise:
		return true
	case *python.If:
		return always(s.Then) && always(s.Else)
	case *python.With:
		return always(s.Body)
	}
	return false
}

// forUntil is a for with a name in it that ends the loop once it is true.
type forUntil struct {
	*python.For
	until string
}

type lowering struct {
	loops int
}

// The names that the transformation adds are no names of the language.
const (
	resultName   = "return value"
	returnedName = "has returned"
)

// lowerExits removes returns that are not at the end, and all breaks and continues.
func lowerExits(body []python.Stmt) []python.Stmt {
	early := false
	for i, s := range body {
		if _, ok := s.(*python.Return); ok && i == len(body)-1 {
			continue
		}
		if len(exitsOf([]python.Stmt{s}, true)) > 0 || hasJumps([]python.Stmt{s}) {
			early = true
		}
	}
	if !early {
		return body
	}
	l := &lowering{}
	line := body[0].At()
	out := []python.Stmt{
		set(line, resultName, &python.Call{Func: &python.Name{Name: "uninitialized result"}}),
		set(line, returnedName, &python.Const{Value: false}),
	}
	out = append(out, l.block(body, "", "")...)
	return append(out, &python.Return{X: &python.Name{Name: resultName}})
}

func hasJumps(l []python.Stmt) bool {
	for _, s := range l {
		switch s := s.(type) {
		case *python.Jump:
			return true
		case *python.If:
			if hasJumps(s.Then) || hasJumps(s.Else) {
				return true
			}
		case *python.With:
			if hasJumps(s.Body) {
				return true
			}
		case *python.While:
			if hasJumps(s.Body) {
				return true
			}
		case *python.For:
			if hasJumps(s.Body) {
				return true
			}
		}
	}
	return false
}

func set(line int, name string, v python.Expr) python.Stmt {
	return &python.Assign{Node: python.Node{Line: line}, Targets: []python.Expr{&python.Name{Name: name}}, Value: v}
}

func isFalse(name string) python.Expr { return &python.Unary{Op: "not", X: &python.Name{Name: name}} }

// block lowers statements; broken and continued are the flags of the loop around them, "" outside.
func (l *lowering) block(body []python.Stmt, broken, continued string) []python.Stmt {
	var out []python.Stmt
	for i, s := range body {
		rest := body[i+1:]
		line := s.At()
		switch s := s.(type) {
		case *python.Return:
			v := s.X
			if v == nil {
				v = &python.Const{}
			}
			out = append(out, set(line, resultName, v), set(line, returnedName, &python.Const{Value: true}))
			if broken != "" {
				out = append(out, set(line, broken, &python.Const{Value: true}),
					set(line, continued, &python.Const{Value: true}))
			}
			return out
		case *python.Jump:
			if broken == "" {
				return append(out, s) // a mistake, which the translator reports
			}
			if s.Kind == "break" {
				out = append(out, set(line, broken, &python.Const{Value: true}))
			}
			return append(out, set(line, continued, &python.Const{Value: true}))
		case *python.Raise:
			return append(out, s)
		case *python.If:
			if len(exitsOf([]python.Stmt{s}, true)) == 0 {
				out = append(out, &python.If{Node: s.Node, Cond: s.Cond, Then: l.block(s.Then, broken, continued),
					Else: l.block(s.Else, broken, continued)})
				continue
			}
			// what follows belongs to the side that goes on
			switch {
			case always(s.Then):
				return append(out, &python.If{Node: s.Node, Cond: s.Cond, Then: l.block(s.Then, broken, continued),
					Else: l.block(slices.Concat(s.Else, rest), broken, continued)})
			case always(s.Else):
				return append(out, &python.If{Node: s.Node, Cond: s.Cond,
					Then: l.block(slices.Concat(s.Then, rest), broken, continued),
					Else: l.block(s.Else, broken, continued)})
			}
			out = append(out, &python.If{Node: s.Node, Cond: s.Cond, Then: l.block(s.Then, broken, continued),
				Else: l.block(s.Else, broken, continued)})
			return append(out, l.guard(line, rest, broken, continued)...)
		case *python.With:
			out = append(out, &python.With{Node: s.Node, Items: s.Items, Names: s.Names,
				Body: l.block(s.Body, broken, continued)})
			if len(exitsOf([]python.Stmt{s}, true)) > 0 {
				return append(out, l.guard(line, rest, broken, continued)...)
			}
		case *python.While:
			out = append(out, l.loop(line, s.Body, func(b string, body []python.Stmt) python.Stmt {
				return &python.While{Node: s.Node, Cond: &python.Bool{Op: "and", L: isFalse(b), R: s.Cond}, Body: body}
			}, func(body []python.Stmt) python.Stmt {
				return &python.While{Node: s.Node, Cond: s.Cond,
					Body: body}
			})...)
			if exitsOf(s.Body, false)["return"] {
				out = append(out, l.leave(line, broken, continued)...)
				return append(out, l.guard(line, rest, broken, continued)...)
			}
		case *python.For:
			out = append(out, l.loop(line, s.Body, func(b string, body []python.Stmt) python.Stmt {
				return &forUntil{&python.For{Node: s.Node, Target: s.Target, Iter: s.Iter, Body: body}, b}
			}, func(body []python.Stmt) python.Stmt {
				return &python.For{Node: s.Node, Target: s.Target, Iter: s.Iter, Body: body}
			})...)
			if exitsOf(s.Body, false)["return"] {
				out = append(out, l.leave(line, broken, continued)...)
				return append(out, l.guard(line, rest, broken, continued)...)
			}
		default:
			out = append(out, s)
		}
	}
	return out
}

// leave sets the flags of the loop around a loop in which the function has returned.
func (l *lowering) leave(line int, broken, continued string) []python.Stmt {
	if broken == "" {
		return nil
	}
	yes := &python.Const{Value: true}
	return []python.Stmt{&python.If{Node: python.Node{Line: line}, Cond: &python.Name{Name: returnedName},
		Then: []python.Stmt{set(line, broken, yes), set(line, continued, yes)}}}
}

// guard runs statements only while nothing has been left.
func (l *lowering) guard(line int, rest []python.Stmt, broken, continued string) []python.Stmt {
	if len(rest) == 0 {
		return nil
	}
	flag := continued
	if flag == "" {
		flag = returnedName
	}
	return []python.Stmt{&python.If{Node: python.Node{Line: line}, Cond: isFalse(flag),
		Then: l.block(rest, broken, continued)}}
}

// loop lowers the body of a loop; with flags where something leaves it.
func (l *lowering) loop(line int, body []python.Stmt, flagged func(string, []python.Stmt) python.Stmt,
	plain func([]python.Stmt) python.Stmt) []python.Stmt {
	if len(exitsOf(body, true)) == 0 {
		return []python.Stmt{plain(l.block(body, "", ""))}
	}
	l.loops++
	b, c := fmt.Sprintf("loop %d is left", l.loops), fmt.Sprintf("loop %d goes on", l.loops)
	no := &python.Const{Value: false}
	inner := append([]python.Stmt{set(line, c, no)}, l.block(body, b, c)...)
	return []python.Stmt{set(line, b, no), set(line, c, no), flagged(b, inner)}
}

// assigned gathers the names that statements assign.
func assigned(l []python.Stmt, out map[string]bool) {
	var target func(x python.Expr)
	target = func(x python.Expr) {
		switch x := x.(type) {
		case *python.Name:
			out[x.Name] = true
		case *python.Tuple:
			for _, e := range x.Items {
				target(e)
			}
		case *python.List:
			for _, e := range x.Items {
				target(e)
			}
		}
	}
	for _, s := range l {
		switch s := s.(type) {
		case *python.Assign:
			for _, x := range s.Targets {
				target(x)
			}
		case *python.If:
			assigned(s.Then, out)
			assigned(s.Else, out)
		case *python.While:
			assigned(s.Body, out)
		case *python.For:
			target(s.Target)
			assigned(s.Body, out)
		case *forUntil:
			target(s.Target)
			assigned(s.Body, out)
		case *python.With:
			for _, x := range s.Names {
				target(x)
			}
			assigned(s.Body, out)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
