package main

import (
	"go/ast"
	"go/token"
	"math"
	"slices"
	"strconv"
)

// constants are a package's constants by name.
type constants map[string][]constant

// constant is a declaration and the piece of source in which it holds: the block around it, or everything.
type constant struct {
	value    ast.Expr
	from, to token.Pos
}

func constantsOf(files []*ast.File) constants {
	known := constants{}
	var blocks []*ast.BlockStmt
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.BlockStmt:
				blocks = append(blocks, x) // an outer block comes before those in it
			case *ast.GenDecl:
				if x.Tok != token.CONST {
					break
				}
				c := constant{to: math.MaxInt}
				for _, b := range slices.Backward(blocks) {
					if b.Pos() <= x.Pos() && x.Pos() < b.End() {
						c.from, c.to = b.Pos(), b.End()
						break
					}
				}
				for _, s := range x.Specs {
					v := s.(*ast.ValueSpec)
					for i, name := range v.Names {
						c.value = nil
						if i < len(v.Values) {
							c.value = v.Values[i]
						}
						known[name.Name] = append(known[name.Name], c)
					}
				}
			}
			return true
		})
	}
	return known
}

// of is the value of the constant that a name means where it stands, nil without.
func (known constants) of(name *ast.Ident) ast.Expr {
	best := constant{to: math.MaxInt}
	for _, c := range known[name.Name] {
		if c.from <= name.Pos() && name.Pos() < c.to && c.to-c.from <= best.to-best.from {
			best = c
		}
	}
	return best.value
}

// text is the text of a string literal, a constant, or a sum of them; "" for an expression with other parts, which only
// a running program knows.
func (known constants) text(e ast.Expr) string {
	s, _ := known.find(e)
	return s
}

func (known constants) find(e ast.Expr) (text string, ok bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(x.Value)
		return s, err == nil && x.Kind == token.STRING
	case *ast.Ident:
		if v := known.of(x); v != nil {
			return known.find(v)
		}
	case *ast.BinaryExpr:
		a, ok := known.find(x.X)
		b, both := known.find(x.Y)
		if ok && both {
			return a + b, true
		}
	}
	return "", false
}
