package pylite

// The syntax tree. Statements and expressions are plain structs; eval.go switches over them.
type (
	expr interface{}
	stmt interface{}

	nameExpr  struct{ name string }
	constExpr struct{ v any }
	fstrExpr  struct{ parts []expr } // strings and formatted values
	fmtExpr   struct {
		x    expr
		conv byte
		spec string
	}
	tupleExpr struct{ elts []expr }
	listExpr  struct{ elts []expr }
	setExpr   struct{ elts []expr }
	dictExpr  struct{ keys, vals []expr } // a nil key: **vals
	compExpr  struct {                    // list and dict comprehensions, generator expressions
		kind byte // '[', '{' of a dict, 's' of a set, '('
		key  expr // of a dict
		elt  expr
		fors []compFor
	}
	compFor struct {
		target, iter expr
		ifs          []expr
	}
	starExpr  struct{ x expr }
	unaryExpr struct {
		op string
		x  expr
	}
	binExpr struct {
		op   string
		l, r expr
	}
	boolExpr struct {
		op   string
		l, r expr
	}
	cmpExpr struct {
		l   expr
		ops []string
		rs  []expr
	}
	condExpr   struct{ cond, yes, no expr }
	lambdaExpr struct {
		params []param
		body   expr
	}
	attrExpr struct {
		x    expr
		name string
	}
	indexExpr struct{ x, i expr }
	sliceExpr struct{ lo, hi, step expr }
	callExpr  struct {
		fn   expr
		args []expr // starExpr for *x
		kws  []keyword
		line int
	}
	keyword struct {
		name string // "": **x
		x    expr
	}

	exprStmt   struct{ x expr }
	assignStmt struct {
		targets []expr
		x       expr
	}
	augStmt struct {
		target expr
		op     string
		x      expr
	}
	ifStmt struct {
		cond    expr
		yes, no []stmt
	}
	whileStmt struct {
		cond expr
		body []stmt
	}
	forStmt struct {
		target, iter expr
		body         []stmt
	}
	withStmt struct {
		items []withItem
		body  []stmt
	}
	withItem struct{ ctx, as expr }
	tryStmt  struct {
		body     []stmt
		handlers []handler
		els, fin []stmt
	}
	handler struct {
		typ  expr
		as   string
		body []stmt
	}
	defStmt struct {
		name       string
		params     []param
		body       []stmt
		decorators []expr
	}
	classStmt struct {
		name       string
		bases      []expr
		body       []stmt
		decorators []expr
	}
	returnStmt   struct{ x expr }
	raiseStmt    struct{ x expr }
	assertStmt   struct{ cond, msg expr }
	importStmt   struct{ module, name, as string } // name "" for "import module"
	delStmt      struct{ targets []expr }
	scopeStmt    struct{ names []string } // global and nonlocal
	passStmt     struct{}
	breakStmt    struct{}
	continueStmt struct{}
	lineStmt     struct{ line int } // before each statement
)

type param struct {
	name string
	def  expr // nil: none
	star int  // 1 for *args, 2 for **kwargs; a bare * has no name
}
