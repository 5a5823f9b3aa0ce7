package summary

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Column is a column of TorchInfo's table, by torchinfo's name.
type Column string

// The columns.
const (
	InputSize     Column = "input_size"
	OutputSize    Column = "output_size"
	NumParams     Column = "num_params"
	ParamsPercent Column = "params_percent"
	KernelSize    Column = "kernel_size"
	MultAdds      Column = "mult_adds"
	Trainable     Column = "trainable"
)

var titles = map[Column]string{InputSize: "Input Shape", OutputSize: "Output Shape", NumParams: "Param #",
	ParamsPercent: "Param %", KernelSize: "Kernel Shape", MultAdds: "Mult-Adds", Trainable: "Trainable"}

// TorchInfoOptions are the options of TorchInfo; the zero value is torchinfo's default.
type TorchInfoOptions struct {
	// Columns are the columns: OutputSize and NumParams if there are none, only NumParams if there are no inputs
	// either.
	Columns []Column
	// ColWidth is the width of a column; 0 means 25.
	ColWidth int
	// Depth is how deep modules are shown, 3 unless given; 0 shows the model alone.
	Depth tensor.Opt[int]
	// Train runs the model in training mode instead of evaluation mode.
	Train bool
	// VarNames shows the names of the modules, NoDepth hides "depth-index", ASCIIOnly draws with ASCII, HideRecursive
	// leaves modules out that were shown before: torchinfo's row_settings.
	VarNames, NoDepth, ASCIIOnly, HideRecursive bool
	// Verbose shows the parameters of each layer, as verbose=2.
	Verbose bool
}

// TorchInfo is the table that the Python package torchinfo prints, of its version 1.8 under Python 3.11 or later,
// without the end of the last line. The model runs once on the inputs, without gradients; without inputs the table has
// only the modules. Modules of your own show their shapes when their Forward calls their hooks, see nn.Base.Run; the
// model itself need not. Modes and statistics of batch norms are afterwards what they were.
// https://github.com/TylerYep/torchinfo
func TorchInfo(m nn.Module, inputs []*tensor.Tensor, opts ...TorchInfoOptions) (string, error) {
	var o TorchInfoOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if len(o.Columns) == 0 {
		o.Columns = []Column{OutputSize, NumParams}
		if inputs == nil {
			o.Columns = []Column{NumParams}
		}
	}
	for _, c := range o.Columns {
		if titles[c] == "" {
			return "", fmt.Errorf("summary: unknown column %q", c)
		}
		if inputs == nil && (c == InputSize || c == OutputSize || c == MultAdds) {
			return "", fmt.Errorf("summary: the column %q needs inputs", c)
		}
	}
	if o.ColWidth == 0 {
		o.ColWidth = 25
	}
	t := &infoTable{TorchInfoOptions: o, depth: o.Depth.Or(3), current: map[nn.Module]*info{},
		seen: map[nn.Module]bool{}, nameWidth: 40}
	if err := t.run(m, inputs); err != nil {
		return "", err
	}
	return t.text(inputs), nil
}

// info is one run of a module, or a container that was not run itself.
type info struct {
	m         nn.Module
	name      string
	class     string
	depth     int
	index     int // among the rows of its depth
	parent    *info
	children  []*info // all that follow below it
	leaf      bool
	recursive bool // shown before
	in, out   []int
	params    int
	trains    int // parameters that require gradients
	bytes     int // of the parameters
	outBytes  int
	macs      int
	inner     []innerRow
}

// innerRow is a parameter in the verbose table.
type innerRow struct {
	name   string
	kernel string
	params int
}

type infoTable struct {
	TorchInfoOptions
	depth     int // modules below it are not shown
	list      []*info
	current   map[nn.Module]*info // the last run, or what stands for a module that does not run
	seen      map[nn.Module]bool  // modules in the list
	nameWidth int
}

// run registers hooks on the whole tree, runs the model, and completes the list.
func (t *infoTable) run(m nn.Module, inputs []*tensor.Tensor) error {
	hooks := map[nn.Module][2]nn.Handle{}
	defer func() {
		for _, h := range hooks {
			h[0].Remove()
			h[1].Remove()
		}
	}()
	var visit func(name string, m nn.Module, depth int, parent *info)
	visit = func(name string, m nn.Module, depth int, parent *info) {
		start := func() *info {
			x := newInfo(name, m, depth, parent)
			x.count()
			x.recursive = t.seen[m]
			t.seen[m] = true
			t.list = append(t.list, x)
			t.current[m] = x
			return x
		}
		own := newInfo(name, m, depth, parent)
		t.current[m] = own
		if inputs == nil {
			start()
		} else {
			if h, twice := hooks[m]; twice { // the last name of a shared module counts
				h[0].Remove()
				h[1].Remove()
			}
			hooks[m] = [2]nn.Handle{
				nn.RegisterForwardPreHook(m,
					func(nn.Module, []*tensor.Tensor) []*tensor.Tensor { start(); return nil }),
				nn.RegisterForwardHookAll(m, func(m nn.Module, in, out []*tensor.Tensor) []*tensor.Tensor {
					t.current[m].ran(in, out)
					return nil
				}),
			}
		}
		for name, c := range nn.NamedChildren(m) {
			visit(name, c, depth+1, own)
		}
	}
	visit(nn.ClassName(m), m, 0, nil)
	if inputs == nil {
		t.index()
		return nil
	}
	k := keep(m)
	defer k.restore()
	nn.Train(m, t.Train)
	// A model whose Forward does not call its hooks is put at the beginning by hand.
	root := newInfo(nn.ClassName(m), m, 0, nil)
	root.count()
	out, err := forward(m, inputs)
	if err != nil {
		return err
	}
	if !t.seen[m] {
		root.ran(inputs, out)
		t.list = append([]*info{root}, t.list...)
	}
	t.containers()
	t.index()
	return nil
}

func newInfo(name string, m nn.Module, depth int, parent *info) *info {
	x := &info{m: m, name: name, class: nn.ClassName(m), depth: depth, parent: parent, leaf: true}
	for range nn.Children(m) {
		x.leaf = false
		break
	}
	return x
}

// paramCount is the number of elements of a parameter: of a pruned one ("weight_orig" with "weight_mask") of those that
// are left.
func (x *info) paramCount(name string, p *tensor.Tensor) (int, string) {
	if plain, ok := strings.CutSuffix(name, "_orig"); ok {
		for b, mask := range nn.NamedBuffers(x.m) {
			if b == plain+"_mask" {
				return int(mask.Sum().Item()), plain
			}
		}
	}
	return p.Numel(), name
}

// count counts the parameters.
func (x *info) count() {
	for name, p := range nn.NamedParameters(x.m) {
		n, name := x.paramCount(name, p)
		x.params += n
		x.bytes += n * p.ElementSize()
		if p.RequiresGrad() {
			x.trains += n
		}
		if x.parent != nil || !strings.Contains(name, ".") {
			k := append([]int(nil), p.Shape()...)
			if name == "weight" && len(k) > 1 {
				k[0], k[1] = k[1], k[0]
			}
			x.inner = append(x.inner, innerRow{name, tensor.ShapeString(k), n})
		}
	}
}

// ran notes shapes and multiplications of a run.
func (x *info) ran(in, out []*tensor.Tensor) {
	if len(in) > 0 && in[0] != nil {
		x.in = append([]int{}, in[0].Shape()...)
	}
	if len(out) == 0 || out[0] == nil {
		return
	}
	x.out = append([]int{}, out[0].Shape()...)
	x.outBytes = out[0].ElementSize() * prod(x.out)
	for name, p := range nn.NamedParameters(x.m) {
		n, name := x.paramCount(name, p)
		switch {
		case name == "weight" || name == "bias":
			if len(x.out) == 0 {
				continue
			}
			if strings.Contains(x.class, "Conv") { // not the channels
				x.macs += n * x.out[0] * prod(x.out[min(2, len(x.out)):])
			} else {
				x.macs += n * x.out[0]
			}
		case strings.Contains(name, "weight") || strings.Contains(name, "bias"): // as the weight_ih_l0 of an LSTM
			x.macs += n * prod(x.out[:min(2, len(x.out))])
		}
	}
}

func prod(s []int) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// containers puts modules into the list that were not run themselves but whose children were, such as ModuleLists. The
// list grows while it is walked, so that an entry with a new container in front of it is met again.
func (t *infoTable) containers() {
	open := map[int]*info{} // by depth
	for i := 0; i < len(t.list); i++ {
		x := t.list[i]
		above := map[int]*info{}
		for p := x.parent; p != nil && p.depth > 0; p = p.parent {
			above[p.depth] = p
		}
		added := 0
		for d := 1; d < x.depth; d++ {
			if before := t.list[(i+added-1+len(t.list))%len(t.list)]; (open[d] == nil || open[d].m != above[d].m) &&
				before != above[d] {
				c := above[d]
				c.params, c.bytes, c.trains, c.inner = 0, 0, 0, nil
				c.count()
				c.recursive = c.recursive || t.seen[c.m]
				t.list = append(t.list[:i+added], append([]*info{c}, t.list[i+added:]...)...)
				t.seen[c.m] = true
				open[d] = c
				added++
			}
		}
		open[x.depth] = x
		for d := x.depth + 1; open[d] != nil; d++ {
			delete(open, d)
		}
	}
}

// index numbers the entries of each depth and finds what is below each.
func (t *infoTable) index() {
	n := map[int]int{}
	for i, x := range t.list {
		n[x.depth]++
		x.index = n[x.depth]
		end := i + 1
		for end < len(t.list) && t.list[end].depth > x.depth {
			end++
		}
		x.children = t.list[i+1 : end]
	}
}

// left counts parameters of a container that are not its children's; those that require gradients with trains.
func (x *info) left(trains bool) int {
	count := func(x *info) int {
		if trains {
			return x.trains
		}
		return x.params
	}
	n := count(x)
	for _, c := range x.children {
		switch {
		case c.recursive:
		case c.leaf:
			n -= count(c)
		default:
			n -= c.left(trains)
		}
	}
	return n
}

func (t *infoTable) title(x *info) string {
	s := x.class
	if t.VarNames && x.name != "" {
		s += " (" + x.name + ")"
	}
	if !t.NoDepth && x.depth > 0 {
		s += fmt.Sprintf(": %d-%d", x.depth, x.index)
	}
	return s
}

// branch is what is drawn before a name.
func (t *infoTable) branch(depth int) string {
	first, last, line := "├─", "└─", "│    "
	if t.ASCIIOnly {
		first, last, line = "+ ", "+ ", "|    "
	}
	switch depth {
	case 0:
		return ""
	case 1:
		return first
	}
	return strings.Repeat(line, depth-1) + last
}

// row formats a row; what is missing is blank.
func (t *infoTable) row(name string, cells map[Column]string) string {
	pad := func(s string, n int) string {
		return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) + " "
	}
	line := pad(name, t.nameWidth)
	for _, c := range t.Columns {
		line += pad(cells[c], t.ColWidth)
	}
	return strings.TrimRight(line, " ") + "\n"
}

func (t *infoTable) text(inputs []*tensor.Tensor) string {
	var macs, params, trains, outBytes, paramBytes int
	width := 0
	for _, x := range t.list {
		width = max(width, utf8.RuneCountInString(t.title(x))+5*x.depth+1)
		switch {
		case x.leaf:
			macs += x.macs
			if x.params > 0 {
				outBytes += 2 * x.outBytes // twice, for the gradients
			}
			if !x.recursive {
				params, trains, paramBytes = params+x.params, trains+x.trains, paramBytes+x.bytes
			}
		case !x.recursive:
			params, trains = params+max(0, x.left(false)), trains+max(0, x.left(true))
		}
	}
	if width >= t.nameWidth {
		t.nameWidth = (width + 4) / 5 * 5
	}
	var b strings.Builder
	divider := strings.Repeat("=", len(t.Columns)*t.ColWidth+t.nameWidth) + "\n"
	head := "Layer (type"
	if t.VarNames {
		head += " (var_name)"
	}
	if !t.NoDepth {
		head += ":depth-idx"
	}
	b.WriteString(divider + t.row(head+")", titles) + divider)
	for _, x := range t.list {
		if x.depth <= t.depth && !(t.HideRecursive && x.recursive) {
			t.layer(&b, x, params)
		}
	}
	fmt.Fprintf(&b, "%sTotal params: %s\nTrainable params: %s\nNon-trainable params: %s\n", divider, comma(params),
		comma(trains), comma(params-trains))
	if inputs != nil {
		in := 0
		for _, x := range inputs {
			in += x.Numel() * x.ElementSize()
		}
		mb := func(n int) float64 { return float64(n) / 1e6 }
		fmt.Fprintf(&b, "Total mult-adds%s\n%sInput size (MB): %.2f\nForward/backward pass size (MB): %.2f\n"+
			"Params size (MB): %.2f\nEstimated Total Size (MB): %.2f\n", readable(macs), divider, mb(in), mb(outBytes),
			mb(paramBytes), mb(in+outBytes+paramBytes))
	}
	b.WriteString(strings.TrimSuffix(divider, "\n"))
	return b.String()
}

// readable prints a number of operations with its unit, as Python prints the package's enumeration of units.
func readable(n int) string {
	unit, by := "MEGABYTES", 1e6
	switch {
	case float64(n) >= 1e12:
		unit, by = "TERABYTES", 1e12
	case float64(n) >= 1e9:
		unit, by = "GIGABYTES", 1e9
	}
	f := float64(n) / by
	if f == math.Trunc(f) {
		return fmt.Sprintf(" (Units.%s): %s", unit, comma(int(f)))
	}
	whole, fraction, _ := strings.Cut(fmt.Sprintf("%.2f", f), ".")
	return fmt.Sprintf(" (Units.%s): %s.%s", unit, commaText(whole), fraction)
}

func commaText(s string) string {
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// layer prints the row of a layer, and in the verbose table the rows of its parameters.
func (t *infoTable) layer(b *strings.Builder, x *info, total int) {
	deepest := x.depth == t.depth
	dash := func(s string) string {
		if s == "" || s == "[]" {
			return "--"
		}
		return s
	}
	shape := func(s []int) string { return dash(tensor.ShapeString(s)) }
	cells := map[Column]string{InputSize: shape(x.in), OutputSize: shape(x.out), KernelSize: dash(kernelSize(x.m)),
		NumParams: x.paramsText(deepest), ParamsPercent: x.percent(total, deepest), MultAdds: x.macsText(deepest),
		Trainable: x.trainable()}
	b.WriteString(t.row(t.branch(x.depth)+t.title(x), cells))
	if !t.Verbose {
		return
	}
	for i, in := range x.inner {
		branch := "├─"
		if i == len(x.inner)-1 {
			branch = "└─"
		}
		b.WriteString(t.row(t.branch(x.depth+1)+in.name, map[Column]string{KernelSize: in.kernel,
			NumParams: branch + comma(in.params)}))
	}
}

func (x *info) paramsText(deepest bool) string {
	switch {
	case x.params == 0:
		return "--"
	case x.recursive:
		return "(recursive)"
	case deepest || x.leaf:
		if x.trains == 0 {
			return "(" + comma(x.params) + ")"
		}
		return comma(x.params)
	}
	if n := x.left(false); n > 0 {
		return comma(n)
	}
	return "--"
}

func (x *info) percent(total int, deepest bool) string {
	n := x.params
	switch {
	case total == 0:
		n = 0
	case x.recursive:
		return "(recursive)"
	case !deepest && !x.leaf:
		n = x.left(false)
	}
	if n == 0 {
		return "     --"
	}
	return fmt.Sprintf("%7s", fmt.Sprintf("%.2f%%", float64(n)/float64(total)*100))
}

func (x *info) macsText(deepest bool) string {
	switch {
	case x.macs <= 0:
		return "--"
	case x.leaf:
		return comma(x.macs)
	case deepest:
		n := 0
		for _, c := range x.children {
			if c.leaf {
				n += c.macs
			}
		}
		return comma(n)
	}
	return "--"
}

func (x *info) trainable() string {
	switch {
	case x.params == 0:
		return "--"
	case x.trains == 0:
		return "False"
	case x.trains == x.params:
		return "True"
	}
	return "Partial"
}

// kernelSize is the attribute kernel_size of a module as Python has it: convolutions have a list, and so do some
// poolings; others have what they were given, a number where the size is the same along all dimensions.
func kernelSize(m nn.Module) string {
	v := reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() != reflect.Struct {
		return ""
	}
	f := v.FieldByName("KernelSize")
	if !f.IsValid() || f.Kind() != reflect.Slice || f.Type().Elem().Kind() != reflect.Int {
		return ""
	}
	size := make([]int, f.Len())
	for i := range size {
		size[i] = int(f.Index(i).Int())
	}
	class := nn.ClassName(m)
	if len(size) == 1 && !strings.Contains(class, "Conv") && class != "AvgPool1d" {
		if size[0] == 0 {
			return ""
		}
		return fmt.Sprint(size[0])
	}
	return tensor.ShapeString(size)
}
