package python

// The syntax tree. Every node knows its place in the source.

// Expr is an expression.
type Expr interface{ At() int }

// Stmt is a statement.
type Stmt interface{ At() int }

// Node is the place of an expression or a statement.
type Node struct {
	Line       int
	Start, End int // offsets in the source
}

// At is the line.
func (n Node) At() int { return n.Line }

// Span is the piece of the source.
func (n Node) Span() (start, end int) { return n.Start, n.End }

// Expressions.
type (
	// Name is a name, and "..." is one, too.
	Name struct {
		Node
		Name string
	}
	// Attr is x.name.
	Attr struct {
		Node
		X    Expr
		Name string
	}
	// Call is f(args, name=value).
	Call struct {
		Node
		Func   Expr
		Args   []Expr // *x is a Star
		Kwargs []Keyword
	}
	// Index is x[a, b].
	Index struct {
		Node
		X    Expr
		Subs []Expr
		Many bool // there is a comma: the subscript is a tuple
	}
	// Slice is lo:hi:step; what is left out is nil.
	Slice struct {
		Node
		Lo, Hi, Step Expr
	}
	// Tuple is (a, b).
	Tuple struct {
		Node
		Items []Expr
	}
	// List is [a, b].
	List struct {
		Node
		Items []Expr
	}
	// Set is {a, b}.
	Set struct {
		Node
		Items []Expr
	}
	// Dict is {key: value}; a nil key stands for **value.
	Dict struct {
		Node
		Keys, Vals []Expr
	}
	// Comprehension is [elem for target in iter if cond], or the like of a set, a dict or a generator.
	Comprehension struct {
		Node
		Kind      CompKind
		Key, Elem Expr // Key is nil but for a dict
		Loops     []CompLoop
	}
	// Binary is an arithmetic operator.
	Binary struct {
		Node
		Op   string
		L, R Expr
	}
	// Compare is l < r, or a chain: l < r[0] < r[1].
	Compare struct {
		Node
		L   Expr
		Ops []string // "not in" and "is not" are one
		R   []Expr
	}
	// Unary is -x, +x, ~x or not x.
	Unary struct {
		Node
		Op string
		X  Expr
	}
	// Bool is "and" or "or".
	Bool struct {
		Node
		Op   string
		L, R Expr
	}
	// Conditional is then if cond else other.
	Conditional struct {
		Node
		Cond, Then, Other Expr
	}
	// Lambda is lambda params: body.
	Lambda struct {
		Node
		Params []Param
		Body   Expr
	}
	// Const is a number (int64, float64, complex128), a string, a bool or nil.
	Const struct {
		Node
		Value any
	}
	// Format is a formatted string literal: its parts are string constants and FormatValues.
	Format struct {
		Node
		Parts []Expr
	}
	// FormatValue is {x!conv:spec}.
	FormatValue struct {
		Node
		X    Expr
		Conv byte // r, s, a or 0
		Spec string
	}
	// Star is *x among the elements of a list, the arguments of a call, or the targets of an assignment.
	Star struct {
		Node
		X Expr
	}
)

// CompKind tells comprehensions apart.
type CompKind uint8

// The comprehensions.
const (
	ListComp CompKind = iota
	SetComp
	DictComp
	Generator
)

// CompLoop is one "for target in iter if cond" of a comprehension.
type CompLoop struct {
	Target, Iter Expr
	Conds        []Expr
}

// Keyword is name=value in a call; without a name it is **value.
type Keyword struct {
	Name  string
	Value Expr
}

// Statements.
type (
	// Assign is a = b = value, target op= value, or target: type = value.
	Assign struct {
		Node
		Targets []Expr // a = b = value has two
		Type    Expr   // nil: none
		Value   Expr   // nil: a declaration
		Op      string // of +=
	}
	// ExprStmt is an expression that stands alone.
	ExprStmt struct {
		Node
		X Expr
	}
	// If has an If as the only statement of Else where Python has elif.
	If struct {
		Node
		Cond       Expr
		Then, Else []Stmt
	}
	// While is a loop with a condition.
	While struct {
		Node
		Cond Expr
		Body []Stmt
	}
	// For is a loop over values.
	For struct {
		Node
		Target, Iter Expr
		Body         []Stmt
	}
	// Return leaves a function.
	Return struct {
		Node
		X Expr // nil: None
	}
	// Raise raises an exception.
	Raise struct {
		Node
		X Expr // nil: the one that is being handled
	}
	// Assert is assert cond, msg.
	Assert struct {
		Node
		Cond, Msg Expr
	}
	// With runs a body inside context managers.
	With struct {
		Node
		Items []Expr
		Names []Expr // nil where there is no "as"
		Body  []Stmt
	}
	// Try catches exceptions.
	Try struct {
		Node
		Body        []Stmt
		Handlers    []Handler
		Else, Final []Stmt
	}
	// Del is del targets.
	Del struct {
		Node
		Targets []Expr
	}
	// Jump is break or continue.
	Jump struct {
		Node
		Kind string
	}
	// Pass does nothing.
	Pass struct{ Node }
	// Scope is global or nonlocal.
	Scope struct {
		Node
		Names []string
	}
	// Def defines a function.
	Def struct {
		Node
		Name       string
		Params     []Param
		Result     Expr // nil: none
		Body       []Stmt
		Decorators []Expr
	}
	// Class defines a class.
	Class struct {
		Node
		Name       string
		Bases      []Expr
		Body       []Stmt
		Decorators []Expr
	}
	// Import is import module as name, or from module import name as as.
	Import struct {
		Node
		Module, Name string // without a Name: import module
		As           string // the name that is bound: of "import a.b" it is a
	}
)

// Handler is except typ as name.
type Handler struct {
	Type Expr // nil: all
	Name string
	Body []Stmt
}

// Param is a parameter of a function.
type Param struct {
	Name    string // a bare * has none
	Type    Expr
	Default Expr // nil: none
	Star    int  // 1 for *args, 2 for **kwargs
	KwOnly  bool
}

// Base is the last part of the name of a class's last base, "" without one.
func (c *Class) Base() string {
	for i := len(c.Bases) - 1; i >= 0; i-- {
		switch b := c.Bases[i].(type) {
		case *Name:
			return b.Name
		case *Attr:
			return b.Name
		}
	}
	return ""
}
