package programs

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/conformance/optcheck"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

// tensorClass is torch.Tensor.
var tensorClass = attrs{"__name__": "Tensor"}

// builtin adapts a function that takes neither names nor their values.
func builtin(f func(args []any) any) pylite.Builtin {
	return func(args []any, _ map[string]any) any { return f(args) }
}

// Import gives modules, and names of them.
func (h *Host) Import(module, name string) (any, bool) {
	if name == "" {
		root, _, _ := strings.Cut(module, ".")
		switch root {
		case "torch", "math":
			return h.module(root), true
		}
		return h.module(module), true
	}
	return h.member(module, name)
}

// module is a namespace.
func (h *Host) module(name string) *pylite.Module {
	return &pylite.Module{Name: name, Attr: func(n string) (any, bool) { return h.member(name, n) }}
}

// namespaces are the modules inside torch.
var namespaces = map[string]bool{"torch.nn": true, "torch.nn.functional": true, "torch.nn.init": true,
	"torch.optim": true,
	"torch.amp":   true, "torch.cuda": true, "torch.cuda.amp": true, "torch.cpu": true, "torch.cpu.amp": true,
	"torch.autograd":       true,
	"torch.autograd.graph": true, "torch.utils": true, "torch.utils.checkpoint": true, "torch.linalg": true,
	"torch.fft":     true,
	"torch.special": true, "torch.ops": true, "torch.ops.aten": true, "torch.nn.utils": true, "torch.random": true,
	"torch.backends": true, "torch.backends.quantized": true, "torch.ao": true, "torch.ao.quantization": true,
	"torch.ao.nn": true, "torch.ao.nn.quantized": true, "torch.nn.quantized": true}

// member is a name of a module.
func (h *Host) member(module, name string) (any, bool) {
	full := module + "." + name
	if namespaces[full] {
		return h.module(full), true
	}
	switch module {
	case "math":
		return mathMember(name)
	case "torch":
		return h.torch(name)
	case "torch.nn":
		return h.nn(name)
	case "torch.optim":
		return pylite.Builtin(func(args []any, kw map[string]any) any { return h.optimizer(name, args, kw) }), true
	case "torch.amp", "torch.cuda.amp", "torch.cpu.amp":
		return h.amp(module, name)
	case "torch.autograd", "torch.autograd.graph":
		return h.autograd(name)
	case "torch.utils.checkpoint":
		return h.checkpointing(name)
	case "torch.ao.quantization", "torch.ao.nn.quantized", "torch.nn.quantized":
		return quantizing(name)
	case "torch.nn.utils", "torch.nn.init":
		if f, ok := parameterFunctions[name]; ok {
			return f, true
		}
	case "contextlib":
		return attrs{"__name__": name}, true
	case "torch.ops.aten":
		return overloads(full), true
	}
	if !opcheck.Exists(opcheck.Names(full)) {
		panic(golden.Skip("not there yet: " + full))
	}
	return h.function(full), true
}

// parameterFunctions are functions of torch.nn.utils and torch.nn.init on parameters and their gradients.
var parameterFunctions = map[string]any{
	"clip_grad_norm_": builtin(func(args []any) any {
		return utils.ClipGradNorm(tensorsOf(args[0]), args[1].(float64))
	}),
	"clip_grad_value_": builtin(func(args []any) any {
		utils.ClipGradValue(tensorsOf(args[0]), args[1].(float64))
		return nil
	}),
	"ones_":  builtin(func(args []any) any { return nninit.Ones(asTensor(args[0])) }),
	"zeros_": builtin(func(args []any) any { return nninit.Zeros(asTensor(args[0])) }),
}

func mathMember(name string) (any, bool) {
	switch name {
	case "inf":
		return math.Inf(1), true
	case "nan":
		return math.NaN(), true
	case "pi":
		return math.Pi, true
	}
	f, ok := map[string]func(float64) float64{"sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log, "sin": math.Sin,
		"cos": math.Cos, "floor": math.Floor, "ceil": math.Ceil}[name]
	return builtin(func(args []any) any {
		switch x := args[0].(type) {
		case int:
			return f(float64(x))
		case float64:
			return f(x)
		}
		pylite.Throw("TypeError", "must be real number, not %s", pylite.TypeName(args[0]))
		return nil
	}), ok
}

// region makes a context manager of a function that runs another one.
func region(name string, run func(f func())) context {
	return context{name, func(body func(any)) { run(func() { body(nil) }) }}
}

// torch is a name of the module torch.
func (h *Host) torch(name string) (any, bool) {
	if d := dtype.Parse(name); d != 0 {
		return d, true
	}
	if q, ok := scheme(name); ok {
		return q, true
	}
	if c, ok := constant(name); ok {
		return c, true
	}
	switch name {
	case "half":
		return tensor.Float16, true
	case "float":
		return tensor.Float32, true
	case "double":
		return tensor.Float64, true
	case "long":
		return tensor.Int64, true
	case "Tensor":
		return tensorClass, true
	case "autocast":
		return pylite.Builtin(h.autocast), true
	case "no_grad":
		return builtin(func([]any) any { return region(name, tensor.NoGrad) }), true
	case "enable_grad":
		return builtin(func([]any) any { return region(name, tensor.EnableGrad) }), true
	case "inference_mode":
		return builtin(func([]any) any { return region(name, tensor.InferenceMode) }), true
	case "set_grad_enabled":
		return builtin(func(args []any) any {
			return region(name, func(f func()) { tensor.SetGradEnabled(args[0] == true, f) })
		}), true
	case "is_grad_enabled":
		return builtin(func([]any) any { return tensor.IsGradEnabled() }), true
	case "is_autocast_enabled":
		return builtin(func(args []any) any { return amp.IsEnabled(deviceType(args, 0, "cuda")) }), true
	case "is_autocast_cpu_enabled":
		return builtin(func([]any) any { return amp.IsEnabled(tensor.CPUDevice) }), true
	case "get_autocast_dtype":
		return builtin(func(args []any) any { return amp.DType(deviceType(args, 0, "cpu")) }), true
	case "is_autocast_cache_enabled":
		return builtin(func([]any) any { return amp.IsCacheEnabled() }), true
	case "clear_autocast_cache":
		return builtin(func([]any) any { amp.ClearCache(); return nil }), true
	case "is_anomaly_enabled":
		return builtin(func([]any) any { return autograd.IsAnomalyEnabled() }), true
	case "is_anomaly_check_nan_enabled":
		return builtin(func([]any) any { return autograd.IsAnomalyCheckNaNEnabled() }), true
	case "manual_seed":
		return builtin(func(args []any) any {
			n, _ := args[0].(int)
			torch.ManualSeed(int64(n))
			return nil
		}), true
	case "device":
		return builtin(func(args []any) any {
			text := fmt.Sprint(args[0])
			if len(args) > 1 {
				text = fmt.Sprintf("%v:%v", args[0], args[1])
			}
			// A device may be named that the program does not have.
			if index, ok := strings.CutPrefix(text, "cuda:"); ok {
				if n, err := strconv.Atoi(index); err == nil {
					return tensor.Device{Type: tensor.CUDADevice, Index: int8(n)}
				}
			}
			return h.device(text)
		}), true
	case "sparse_coo_tensor", "sparse_csr_tensor":
		f := h.function("torch." + name)
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			for i, a := range args {
				if _, isList := a.(*pylite.List); isList && asTensor(a) == nil && i < len(args)-1 {
					args[i] = h.newTensor([]any{a}, nil)
				}
			}
			return f(args, kw)
		}), true
	case "tensor":
		return pylite.Builtin(h.newTensor), true
	case "arange", "zeros", "ones", "full", "empty", "rand", "randn", "eye", "linspace", "randint":
		f := h.function("torch." + name)
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			rg := kw["requires_grad"] == true
			rest := map[string]any{}
			for k, v := range kw {
				if k != "requires_grad" {
					rest[k] = v
				}
			}
			if name == "zeros" || name == "ones" || name == "empty" || name == "rand" || name == "randn" {
				args = sizes(args)
			}
			t := asTensor(f(args, rest))
			if rg {
				t.SetRequiresGrad(true)
			}
			return t
		}), true
	}
	return h.function("torch." + name), true
}

// sizes joins sizes that are given one by one.
func sizes(args []any) []any {
	for _, a := range args {
		if _, ok := a.(int); !ok {
			return args
		}
	}
	return []any{pylite.Tuple(args)}
}

func deviceType(args []any, i int, def string) tensor.DeviceType {
	s := def
	if i < len(args) {
		s = pylite.Str(args[i])
	}
	s, _, _ = strings.Cut(s, ":")
	if s == "cuda" {
		return tensor.CUDADevice
	}
	d, err := tensor.ParseDevice(s)
	if err != nil {
		panic(err)
	}
	return d.Type
}

// autocast is torch.autocast(device_type, dtype=None, enabled=True, cache_enabled=None).
func (h *Host) autocast(args []any, kw map[string]any) any {
	get := func(i int, name string) any {
		if i < len(args) {
			return args[i]
		}
		return kw[name]
	}
	dev := deviceType([]any{get(0, "device_type")}, 0, "")
	dt, _ := get(1, "dtype").(tensor.DType)
	o := amp.AutocastOptions{Disabled: get(2, "enabled") == false, NoCache: get(3, "cache_enabled") == false}
	return region("autocast", func(f func()) { amp.Autocast(dev, dt, f, o) })
}

// newTensor is torch.tensor.
func (h *Host) newTensor(args []any, kw map[string]any) any {
	var shape []int
	var flat []any
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		var l []any
		switch x := v.(type) {
		case *pylite.List:
			l = x.Elts
		case pylite.Tuple:
			l = x
		case *tensor.Tensor:
			v = x.Item()
			flat = append(flat, v)
			return
		default:
			flat = append(flat, v)
			return
		}
		if depth == len(shape) {
			shape = append(shape, len(l))
		}
		for _, e := range l {
			walk(e, depth+1)
		}
	}
	walk(args[0], 0)
	if shape == nil {
		shape = []int{}
	}
	dt := tensor.Int64
	for _, v := range flat {
		switch v.(type) {
		case float64:
			dt = tensor.Float32
		case bool:
			if dt == tensor.Int64 && len(flat) > 0 {
				dt = tensor.Bool
			}
		}
	}
	if len(flat) == 0 {
		dt = tensor.Float32
	}
	nums := make([]float64, len(flat))
	for i, v := range flat {
		switch x := v.(type) {
		case int:
			nums[i] = float64(x)
		case float64:
			nums[i] = x
		case bool:
			if x {
				nums[i] = 1
			}
		default:
			pylite.Throw("TypeError", "must be real number, not %s", pylite.TypeName(v))
		}
	}
	if d, ok := kw["dtype"].(tensor.DType); ok {
		dt = d
	}
	t := tensor.FromSlice(nums, len(nums)).ToDType(dt).Reshape(shape)
	if kw["requires_grad"] == true {
		t.SetRequiresGrad(true)
	}
	return t
}

// nn is a class of torch.nn.
func (h *Host) nn(name string) (any, bool) {
	if name == "Module" {
		return moduleClass, true
	}
	if name == "Parameter" {
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			t := asTensor(args[0]).Detach()
			t.SetRequiresGrad(kw["requires_grad"] != false)
			return &Param{t}
		}), true
	}
	return pylite.Builtin(func(args []any, kw map[string]any) any {
		m := golden.Module{Cls: name, Kwargs: map[string]any{}}
		for _, a := range args {
			m.Args = append(m.Args, argumentOf(a))
		}
		for k, v := range kw {
			m.Kwargs[k] = argumentOf(v)
		}
		mod, err := modcheck.Build(m)
		if err != nil {
			panic(golden.Skip(err.Error()))
		}
		return mod
	}), true
}

// optimizer makes an optimizer by its Python name.
func (h *Host) optimizer(name string, args []any, kw map[string]any) any {
	k := map[string]any{}
	for n, v := range kw {
		if i, ok := v.(int); ok {
			v = float64(i)
		}
		if t, ok := v.(pylite.Tuple); ok {
			v = []any(t)
		}
		k[n] = v
	}
	lr := optcheck.DefaultLR(name)
	if len(args) > 1 {
		k["lr"] = args[1]
	}
	if v, ok := k["lr"].(float64); ok {
		lr = v
	}
	opt := optcheck.Make(name, []optim.Group{{Params: tensorsOf(args[0])}}, lr, k)
	if opt == nil {
		panic(golden.Skip("no optimizer " + name + " yet"))
	}
	return opt
}

func (h *Host) optimizerAttr(o optim.Optimizer, name string) (any, bool) {
	switch name {
	case "step":
		return builtin(func([]any) any { o.Step(); return nil }), true
	case "zero_grad":
		return pylite.Builtin(func(_ []any, kw map[string]any) any {
			how := optim.SetToNone
			if kw["set_to_none"] == false {
				how = optim.KeepZeros
			}
			o.ZeroGrad(how)
			return nil
		}), true
	}
	return nil, false
}

func (h *Host) forward(m nn.Module, args []any, kw map[string]any) any {
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = FromPython(a)
	}
	kwargs := map[string]any{}
	for k, v := range kw {
		kwargs[k] = FromPython(v)
	}
	return ToPython(modcheck.Forward(m, list, kwargs))
}

func (h *Host) children(m nn.Module) []any {
	var out []any
	for c := range nn.Children(m) {
		out = append(out, c)
	}
	return out
}

func (h *Host) child(m nn.Module, i any) (any, bool) {
	l := h.children(m)
	switch n := i.(type) {
	case int:
		if n < 0 {
			n += len(l)
		}
		if n >= 0 && n < len(l) {
			return l[n], true
		}
	case string:
		for name, c := range nn.NamedChildren(m) {
			if name == n {
				return c, true
			}
		}
	}
	return nil, false
}

func (h *Host) moduleAttr(m nn.Module, name string) (any, bool) {
	switch name {
	case "parameters":
		return builtin(func([]any) any {
			var out pylite.Tuple
			for _, p := range nn.Parameters(m) {
				out = append(out, p)
			}
			return out
		}), true
	case "named_parameters":
		return builtin(func([]any) any {
			var out pylite.Tuple
			for n, p := range nn.NamedParameters(m) {
				out = append(out, pylite.Tuple{n, p})
			}
			return out
		}), true
	case "children":
		return builtin(func([]any) any { return pylite.Tuple(h.children(m)) }), true
	case "eval":
		return builtin(func([]any) any { nn.Eval(m); return m }), true
	case "train":
		return builtin(func(args []any) any { nn.Train(m, len(args) == 0 || args[0] == true); return m }), true
	case "zero_grad":
		return builtin(func([]any) any {
			for _, p := range nn.Parameters(m) {
				p.SetGrad(nil)
			}
			return nil
		}), true
	}
	if p, err := nn.GetParameter(m, name); err == nil {
		return p, true
	}
	for n, b := range nn.NamedBuffers(m) {
		if n == name {
			return b, true
		}
	}
	if c, ok := h.child(m, name); ok {
		return c, true
	}
	return nil, false
}

// argumentOf is an argument of a module's constructor: a module of a program stands for itself.
func argumentOf(v any) any {
	if _, ok := v.(*pylite.Object); ok {
		if m := ModuleOf(v); m != nil {
			return m
		}
	}
	return FromPython(v)
}
