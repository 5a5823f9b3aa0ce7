package jit

// The syntax tree of the serialized language, which is a part of Python.

type expr interface{ at() int }

type node struct {
	line       int
	start, end int // offsets in the source
}

func (n node) at() int { return n.line }

// span is the piece of the source.
func (n node) span() (start, end int) { return n.start, n.end }

type (
	nameExpr struct {
		node
		name string
	}
	attrExpr struct {
		node
		x    expr
		name string
	}
	callExpr struct {
		node
		f      expr
		args   []expr
		kwargs []kwarg
	}
	indexExpr struct {
		node
		x    expr
		subs []expr // more than one: x[a, b]
	}
	sliceExpr struct {
		node
		lo, hi, step expr // nil: left out
	}
	tupleExpr struct {
		node
		items []expr
	}
	listExpr struct {
		node
		items []expr
	}
	dictExpr struct {
		node
		keys, vals []expr
	}
	compExpr struct { // list and dict comprehensions
		node
		key, elem expr // key is nil for a list
		target    expr
		iter      expr
		cond      expr // nil: none
	}
	binExpr struct {
		node
		op   string
		l, r expr
	}
	unaryExpr struct {
		node
		op string
		x  expr
	}
	boolExpr struct { // and, or
		node
		op   string
		l, r expr
	}
	ifExpr struct {
		node
		cond, then, other expr
	}
	constExpr struct {
		node
		v any // int64, float64, complex128, string, bool, nil
	}
	formatExpr struct { // a formatted string literal
		node
		text string // with {} for each value
		vals []expr
	}
	starExpr struct {
		node
		x expr
	}
)

type kwarg struct {
	name string
	v    expr
}

type stmt interface{ at() int }

type (
	assignStmt struct {
		node
		targets []expr // a = b = value has two
		typ     expr   // nil: none
		value   expr   // nil: a declaration
		op      string // of +=
	}
	exprStmt struct {
		node
		x expr
	}
	ifStmt struct {
		node
		cond        expr
		then, else_ []stmt
	}
	whileStmt struct {
		node
		cond expr
		body []stmt
	}
	forStmt struct {
		node
		target, iter expr
		body         []stmt
		until        string // the variable that ends the loop once it is true, "" for none
	}
	returnStmt struct {
		node
		x expr // nil: None
	}
	raiseStmt struct {
		node
		x expr
	}
	assertStmt struct {
		node
		cond, msg expr
	}
	withStmt struct {
		node
		items []expr
		names []expr // nil where there is no "as"
		body  []stmt
	}
	delStmt struct {
		node
		targets []expr
	}
	jumpStmt struct { // break, continue
		node
		kind string
	}
	passStmt struct{ node }
	defStmt  struct {
		node
		name   string
		params []paramDecl
		result expr
		body   []stmt
	}
	classStmt struct {
		node
		name string
		base string // the last part of its name, "" without
		body []stmt
	}
	importStmt struct{ node }
)

type paramDecl struct {
	name   string
	typ    expr
	def    expr
	kwOnly bool
}
