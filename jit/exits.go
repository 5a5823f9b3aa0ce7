package jit

import (
	"fmt"
	"slices"
	"sort"
)

// PyTorch's compiler turns break, continue and return inside of control flow into conditions before it prints a
// program, so that archives have none of them. This file does the same for code that has them: a flag says that a loop
// or the function is left, what follows runs only while it is not set, and loops end with it.

// exitsOf lists what may happen to the statements behind these: "return", "break", "continue".
func exitsOf(l []stmt, inLoop bool) map[string]bool {
	out := map[string]bool{}
	add := func(m map[string]bool) {
		for k := range m {
			out[k] = true
		}
	}
	for _, s := range l {
		switch s := s.(type) {
		case *returnStmt:
			out["return"] = true
		case *jumpStmt:
			if inLoop {
				out[s.kind] = true
			}
		case *ifStmt:
			add(exitsOf(s.then, inLoop))
			add(exitsOf(s.else_, inLoop))
		case *withStmt:
			add(exitsOf(s.body, inLoop))
		case *whileStmt:
			if exitsOf(s.body, false)["return"] {
				out["return"] = true
			}
		case *forStmt:
			if exitsOf(s.body, false)["return"] {
				out["return"] = true
			}
		}
	}
	return out
}

// always reports that the statements never reach their end.
func always(l []stmt) bool {
	if len(l) == 0 {
		return false
	}
	switch s := l[len(l)-1].(type) {
	case *returnStmt, *jumpStmt, *raiseStmt:
		return true
	case *ifStmt:
		return always(s.then) && always(s.else_)
	case *withStmt:
		return always(s.body)
	}
	return false
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
func lowerExits(body []stmt) []stmt {
	early := false
	for i, s := range body {
		if _, ok := s.(*returnStmt); ok && i == len(body)-1 {
			continue
		}
		if len(exitsOf([]stmt{s}, true)) > 0 || hasJumps([]stmt{s}) {
			early = true
		}
	}
	if !early {
		return body
	}
	l := &lowering{}
	line := body[0].at()
	out := []stmt{
		set(line, resultName, &callExpr{f: &nameExpr{name: "uninitialized result"}}),
		set(line, returnedName, &constExpr{v: false}),
	}
	out = append(out, l.block(body, "", "")...)
	return append(out, &returnStmt{x: &nameExpr{name: resultName}})
}

func hasJumps(l []stmt) bool {
	for _, s := range l {
		switch s := s.(type) {
		case *jumpStmt:
			return true
		case *ifStmt:
			if hasJumps(s.then) || hasJumps(s.else_) {
				return true
			}
		case *withStmt:
			if hasJumps(s.body) {
				return true
			}
		case *whileStmt:
			if hasJumps(s.body) {
				return true
			}
		case *forStmt:
			if hasJumps(s.body) {
				return true
			}
		}
	}
	return false
}

func set(line int, name string, v expr) stmt {
	return &assignStmt{node: node{line: line}, targets: []expr{&nameExpr{name: name}}, value: v}
}

func isFalse(name string) expr { return &unaryExpr{op: "not", x: &nameExpr{name: name}} }

// block lowers statements; broken and continued are the flags of the loop around them, "" outside.
func (l *lowering) block(body []stmt, broken, continued string) []stmt {
	var out []stmt
	for i, s := range body {
		rest := body[i+1:]
		line := s.at()
		switch s := s.(type) {
		case *returnStmt:
			v := s.x
			if v == nil {
				v = &constExpr{}
			}
			out = append(out, set(line, resultName, v), set(line, returnedName, &constExpr{v: true}))
			if broken != "" {
				out = append(out, set(line, broken, &constExpr{v: true}), set(line, continued, &constExpr{v: true}))
			}
			return out
		case *jumpStmt:
			if broken == "" {
				return append(out, s) // a mistake, which the translator reports
			}
			if s.kind == "break" {
				out = append(out, set(line, broken, &constExpr{v: true}))
			}
			return append(out, set(line, continued, &constExpr{v: true}))
		case *raiseStmt:
			return append(out, s)
		case *ifStmt:
			if len(exitsOf([]stmt{s}, true)) == 0 {
				out = append(out, &ifStmt{s.node, s.cond, l.block(s.then, broken, continued),
					l.block(s.else_, broken, continued)})
				continue
			}
			// what follows belongs to the side that goes on
			switch {
			case always(s.then):
				return append(out, &ifStmt{s.node, s.cond, l.block(s.then, broken, continued),
					l.block(slices.Concat(s.else_, rest), broken, continued)})
			case always(s.else_):
				return append(out, &ifStmt{s.node, s.cond, l.block(slices.Concat(s.then, rest), broken, continued),
					l.block(s.else_, broken, continued)})
			}
			out = append(out, &ifStmt{s.node, s.cond, l.block(s.then, broken, continued),
				l.block(s.else_, broken, continued)})
			return append(out, l.guard(line, rest, broken, continued)...)
		case *withStmt:
			out = append(out, &withStmt{s.node, s.items, s.names, l.block(s.body, broken, continued)})
			if len(exitsOf([]stmt{s}, true)) > 0 {
				return append(out, l.guard(line, rest, broken, continued)...)
			}
		case *whileStmt:
			out = append(out, l.loop(line, s.body, func(b string, body []stmt) stmt {
				return &whileStmt{s.node, &boolExpr{op: "and", l: isFalse(b), r: s.cond}, body}
			}, func(body []stmt) stmt { return &whileStmt{s.node, s.cond, body} })...)
			if exitsOf(s.body, false)["return"] {
				out = append(out, l.leave(line, broken, continued)...)
				return append(out, l.guard(line, rest, broken, continued)...)
			}
		case *forStmt:
			out = append(out, l.loop(line, s.body, func(b string, body []stmt) stmt {
				return &forStmt{s.node, s.target, s.iter, body, b}
			}, func(body []stmt) stmt { return &forStmt{s.node, s.target, s.iter, body, ""} })...)
			if exitsOf(s.body, false)["return"] {
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
func (l *lowering) leave(line int, broken, continued string) []stmt {
	if broken == "" {
		return nil
	}
	yes := &constExpr{v: true}
	return []stmt{&ifStmt{node{line: line}, &nameExpr{name: returnedName},
		[]stmt{set(line, broken, yes), set(line, continued, yes)}, nil}}
}

// guard runs statements only while nothing has been left.
func (l *lowering) guard(line int, rest []stmt, broken, continued string) []stmt {
	if len(rest) == 0 {
		return nil
	}
	flag := continued
	if flag == "" {
		flag = returnedName
	}
	return []stmt{&ifStmt{node{line: line}, isFalse(flag), l.block(rest, broken, continued), nil}}
}

// loop lowers the body of a loop; with flags where something leaves it.
func (l *lowering) loop(line int, body []stmt, flagged func(string, []stmt) stmt, plain func([]stmt) stmt) []stmt {
	if len(exitsOf(body, true)) == 0 {
		return []stmt{plain(l.block(body, "", ""))}
	}
	l.loops++
	b, c := fmt.Sprintf("loop %d is left", l.loops), fmt.Sprintf("loop %d goes on", l.loops)
	no := &constExpr{v: false}
	inner := append([]stmt{set(line, c, no)}, l.block(body, b, c)...)
	return []stmt{set(line, b, no), set(line, c, no), flagged(b, inner)}
}

// assigned gathers the names that statements assign.
func assigned(l []stmt, out map[string]bool) {
	var target func(x expr)
	target = func(x expr) {
		switch x := x.(type) {
		case *nameExpr:
			out[x.name] = true
		case *tupleExpr:
			for _, e := range x.items {
				target(e)
			}
		case *listExpr:
			for _, e := range x.items {
				target(e)
			}
		}
	}
	for _, s := range l {
		switch s := s.(type) {
		case *assignStmt:
			for _, x := range s.targets {
				target(x)
			}
		case *ifStmt:
			assigned(s.then, out)
			assigned(s.else_, out)
		case *whileStmt:
			assigned(s.body, out)
		case *forStmt:
			target(s.target)
			assigned(s.body, out)
		case *withStmt:
			for _, x := range s.names {
				target(x)
			}
			assigned(s.body, out)
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
