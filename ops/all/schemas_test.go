package all_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSchemas compares the operators of the namespace aten, with all forms derived from them, with PyTorch's list of
// operators: each must be in the list, with the same parameters and results. testdata/schemas.txt holds the exceptions.
func TestSchemas(t *testing.T) {
	pytorch := readSchemas(t, shared.Path(t, "golden/schemas.tsv"))
	except := readExceptions(t, "testdata/schemas.txt")
	for _, o := range tensor.Ops() {
		name := o.FullName()
		if !strings.HasPrefix(name, "aten::") {
			continue
		}
		why := ""
		if want := pytorch[name]; want == nil {
			why = "PyTorch has no such operator"
		} else if w, g := canonical(want), canonical(o.Sch); w != g {
			why = fmt.Sprintf("the schema is\n  %s, PyTorch's is\n  %s", g, w)
		}
		_, excepted := except[name]
		switch {
		case why != "" && !excepted:
			t.Errorf("%s: %s", name, why)
		case why == "" && excepted:
			t.Errorf("%s is as in PyTorch and needs no exception", name)
		}
		delete(except, name)
	}
	for name := range except {
		t.Errorf("the exception %s is no operator", name)
	}
}

// readSchemas reads PyTorch's operators by full name. Those of lists, strings and other types that no operator here
// takes stay out.
func readSchemas(t *testing.T, path string) map[string]*tensor.Schema {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]*tensor.Schema{}
	for s := bufio.NewScanner(f); s.Scan(); {
		col := strings.Split(s.Text(), "\t")
		if len(col) < 3 || !strings.HasPrefix(col[0], "aten::") {
			continue
		}
		if sch, err := tensor.ParseSchema(col[2]); err == nil {
			all[sch.FullName()] = sch
		}
	}
	return all
}

// readExceptions reads lines of a full name and a reason.
func readExceptions(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		if reason == "" {
			t.Errorf("%s: %s has no reason", path, name)
		}
		all[name] = reason
	}
	return all
}

// canonical writes a schema so that equal ones have equal texts: int for SymInt, and defaults by their values.
func canonical(s *tensor.Schema) string {
	var b strings.Builder
	b.WriteString(s.FullName() + "(")
	star := false
	for i, p := range s.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		if p.KwOnly && !star {
			b.WriteString("*, ")
			star = true
		}
		fmt.Fprintf(&b, "%s %s", typeText(p.Kind, p.Alias, p.ElemOpt, p.Fixed, p.Optional), p.Name)
		if p.Default != nil {
			fmt.Fprintf(&b, "=%s", defaultText(&p))
		}
	}
	b.WriteString(") -> (")
	for i, r := range s.Results {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strings.TrimSpace(typeText(r.Kind, r.Alias, false, 0, r.Optional) + " " + r.Name))
	}
	return b.String() + ")"
}

func typeText(k tensor.Kind, alias string, elemOpt bool, fixed int, optional bool) string {
	elem, list := k, false
	for list, e := range map[tensor.Kind]tensor.Kind{tensor.KTensors: tensor.KTensor, tensor.KInts: tensor.KInt,
		tensor.KFloats: tensor.KFloat,
		tensor.KBools:  tensor.KBool, tensor.KScalars: tensor.KScalar} {
		if k == list {
			elem = e
		}
	}
	list = elem != k
	text := map[tensor.Kind]string{tensor.KTensor: "Tensor", tensor.KInt: "int", tensor.KFloat: "float",
		tensor.KBool:    "bool",
		tensor.KComplex: "complex", tensor.KScalar: "Scalar", tensor.KStr: "str", tensor.KDType: "ScalarType",
		tensor.KDevice: "Device",
		tensor.KLayout: "Layout", tensor.KFormat: "MemoryFormat", tensor.KGenerator: "Generator"}[elem]
	if text == "" {
		text = "Any"
	}
	if alias != "" {
		text += "(" + alias + ")"
	}
	if elemOpt {
		text += "?"
	}
	switch {
	case list && fixed > 0:
		text += fmt.Sprintf("[%d]", fixed)
	case list:
		text += "[]"
	}
	if optional {
		text += "?"
	}
	return text
}

// defaultText writes a default so that equal values have equal texts: PyTorch's list has numbers, "4" for the dtype
// long and "0" for the contiguous memory format, where its documentation has names.
func defaultText(p *tensor.Param) string {
	d := *p.Default
	switch {
	case p.Kind == tensor.KDType && p.DefText == "4":
		d = tensor.DTypeValue(tensor.Int64)
	case p.Kind == tensor.KFormat && p.DefText == "0":
		d = tensor.FormatValue(tensor.ContiguousFormat)
	case (p.Kind == tensor.KFloat || p.Kind == tensor.KScalar) && (d.K == tensor.KInt || d.K == tensor.KFloat):
		return fmt.Sprintf("%v:%d", d.Num().F, d.K)
	}
	return fmt.Sprint(d)
}

// Every functional operator that the recorded programs use can be called by its name. Operators of sparse and quantized
// tensors and of backward passes are left out.
func TestProgramsCanBeCalled(t *testing.T) {
	pytorch := readSchemas(t, shared.Path(t, "golden/schemas.tsv"))
	used, found := programOperators(t), 0
	for _, name := range slices.Sorted(maps.Keys(used)) {
		s := pytorch[name]
		switch {
		case s == nil || strings.Contains(name, "backward") || strings.Contains(name, "sparse") ||
			strings.Contains(name, "quant"):
			continue
		case slices.ContainsFunc(s.Params, func(p tensor.Param) bool { return p.Writes }):
			continue
		}
		found++
		if tensor.LookupOp(name) == nil {
			t.Errorf("%s is used by %s and cannot be called", name, used[name])
		}
	}
	if found < 100 {
		t.Errorf("only %d operators were found in the programs", found)
	}
}

// programOperators reads the names of the operators that the recorded programs use, each with one of its programs.
func programOperators(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "golden/graphs"), "*", "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var index any
		if err := json.Unmarshal(b, &index); err != nil {
			t.Fatal(err)
		}
		collectOperators(index, filepath.Base(filepath.Dir(file)), used)
	}
	return used
}

// collectOperators looks for lists under the key "ops" at any depth. Names are spelled as schemas spell them,
// aten::add.Tensor, or as torch.ops does, aten.add.Tensor and aten.relu.default.
func collectOperators(v any, program string, used map[string]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collectOperators(e, program, used)
		}
	case map[string]any:
		if name, ok := v["name"].(string); ok {
			program = name
		}
		list, _ := v["ops"].([]any)
		for _, e := range list {
			name, _ := e.(string)
			if rest, ok := strings.CutPrefix(name, "aten."); ok {
				name = "aten::" + strings.TrimSuffix(rest, ".default")
			}
			if strings.HasPrefix(name, "aten::") {
				used[name] = program
			}
		}
		for _, e := range v {
			collectOperators(e, program, used)
		}
	}
}
