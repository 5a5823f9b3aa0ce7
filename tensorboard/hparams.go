package tensorboard

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// HParamKind is the type of a hyperparameter.
type HParamKind uint8

// Types of hyperparameters.
const (
	HParamNumber HParamKind = iota
	HParamString
	HParamBool
)

// HParamValue is the value of a hyperparameter.
type HParamValue struct {
	Kind   HParamKind
	Number float64
	Str    string
	Bool   bool
}

// String formats the value alone.
func (v HParamValue) String() string {
	switch v.Kind {
	case HParamString:
		return v.Str
	case HParamBool:
		return strconv.FormatBool(v.Bool)
	}
	return strconv.FormatFloat(v.Number, 'g', -1, 64)
}

// HParam is a hyperparameter. Make one with [NumberParam], [StringParam] or
// [BoolParam].
type HParam struct {
	Name   string
	Value  HParamValue
	Domain []HParamValue // the values it may take; empty: not said
}

// NumberParam is a number, and optionally all values that it may take.
func NumberParam(name string, v float64, domain ...float64) HParam {
	h := HParam{Name: name, Value: HParamValue{Number: v}}
	for _, d := range domain {
		h.Domain = append(h.Domain, HParamValue{Number: d})
	}
	return h
}

// StringParam is a string, and optionally all values that it may take.
func StringParam(name, v string, domain ...string) HParam {
	h := HParam{Name: name, Value: HParamValue{Kind: HParamString, Str: v}}
	for _, d := range domain {
		h.Domain = append(h.Domain, HParamValue{Kind: HParamString, Str: d})
	}
	return h
}

// BoolParam is a truth value. Python's writer stores it as the number 0 or 1, and
// so does this one unless [HParamsOptions] say otherwise.
func BoolParam(name string, v bool, domain ...bool) HParam {
	h := HParam{Name: name, Value: HParamValue{Kind: HParamBool, Bool: v}}
	for _, d := range domain {
		h.Domain = append(h.Domain, HParamValue{Kind: HParamBool, Bool: d})
	}
	return h
}

// HParamsOptions are the options of [SummaryWriter.AddHParams].
type HParamsOptions struct {
	RunName  string // directory below the writer's; "": the time in seconds
	Step     int64
	BoolType bool    // store truth values as such rather than as 0 and 1
	WallTime float64 // seconds since 1970; 0: now
}

// Tags that the hparams plugin looks for.
const (
	hparamsExperimentTag = "_hparams_/experiment"
	hparamsStartTag      = "_hparams_/session_start_info"
	hparamsEndTag        = "_hparams_/session_end_info"
)

func appendHParamValue(v HParamValue) []byte { // google.protobuf.Value
	switch v.Kind {
	case HParamString:
		return putMsg(nil, 3, []byte(v.Str))
	case HParamBool:
		n := uint64(0)
		if v.Bool {
			n = 1
		}
		return protowire.AppendVarint(protowire.AppendTag(nil, 4, wVar), n)
	}
	return protowire.AppendFixed64(protowire.AppendTag(nil, 2, wI64), math.Float64bits(v.Number))
}

// AddHParams writes the hyperparameters of a run and what it reached, for the
// hparams table. They go into a run of their own below the writer's directory,
// with one scalar per metric.
func (w *SummaryWriter) AddHParams(params []HParam, metrics []Named, options ...HParamsOptions) error {
	o := opt(options)
	types := [...]int64{HParamNumber: 3, HParamString: 1, HParamBool: 2} // DATA_TYPE_*
	var infos, exp []byte
	start := map[string][]byte{}
	for _, p := range params {
		all := append([]HParamValue{p.Value}, p.Domain...)
		for i, v := range all {
			if v.Kind != p.Value.Kind {
				return fmt.Errorf("tensorboard: AddHParams: %q: the domain's values must have the type of the value",
					p.Name)
			}
			if v.Kind == HParamBool && !o.BoolType {
				all[i] = HParamValue{}
				if v.Bool {
					all[i].Number = 1
				}
			}
		}
		if _, twice := start[p.Name]; twice {
			return fmt.Errorf("tensorboard: AddHParams: %q is given twice", p.Name)
		}
		start[p.Name] = appendHParamValue(all[0])
		info := putInt(putStr(nil, 1, p.Name), 4, types[all[0].Kind])
		if len(p.Domain) > 0 {
			var list []byte
			for _, v := range all[1:] {
				list = putMsg(list, 1, appendHParamValue(v))
			}
			info = putMsg(info, 5, list)
		}
		infos = putMsg(infos, 4, info)
	}
	exp = infos
	for _, m := range metrics {
		exp = putMsg(exp, 5, putMsg(nil, 1, putStr(nil, 2, m.Name)))
	}
	names := make([]string, 0, len(start))
	for n := range start {
		names = append(names, n)
	}
	sort.Strings(names)
	var session []byte
	for _, n := range names {
		session = putMsg(session, 1, putMsg(putStr(nil, 1, n), 2, start[n]))
	}
	if o.RunName == "" {
		o.RunName = strconv.FormatFloat(now(), 'f', 6, 64)
	}
	dir := filepath.Join(w.dir, o.RunName)
	f, err := NewFileWriter(dir, w.opts.MaxQueue, w.opts.FlushInterval, "")
	if err != nil {
		return err
	}
	status := putInt(nil, 1, 1) // STATUS_SUCCESS
	for _, x := range []struct {
		tag     string
		content []byte
	}{
		{hparamsExperimentTag, putMsg(nil, 2, exp)},
		{hparamsStartTag, putMsg(nil, 3, session)},
		{hparamsEndTag, putMsg(nil, 4, status)},
	} {
		if err == nil {
			err = addTo(f, summaryEvent(o.Step, o.WallTime, pluginValue(x.tag, PluginHParams, x.content, nil)))
		}
	}
	for _, m := range metrics {
		if err == nil {
			err = addTo(f, summaryEvent(o.Step, o.WallTime,
				&Value{Tag: m.Name, Kind: ValueSimple, SimpleValue: float32(m.Value)}))
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// Session is what a run says about its hyperparameters.
type Session struct {
	Run     string
	Params  []HParam // sorted by name
	Metrics []string // tags of the scalars that count as results
	Status  string   // "UNKNOWN", "SUCCESS", "FAILURE", "RUNNING"
	Group   string   // sessions of a group are repetitions with equal parameters
	Start   float64  // seconds since 1970, 0 if not said
	End     float64
}

func parseHParamValue(b []byte) (v HParamValue, err error) {
	err = fields(b, func(num protowire.Number, typ protowire.Type, x uint64, s []byte) error {
		switch {
		case num == 2 && typ == wI64:
			v = HParamValue{Number: f64(x)}
		case num == 3 && typ == wLen:
			v = HParamValue{Kind: HParamString, Str: string(s)}
		case num == 4 && typ == wVar:
			v = HParamValue{Kind: HParamBool, Bool: x != 0}
		}
		return nil
	})
	return
}

// parse merges one HParamsPluginData message into the session. domains collects
// the experiment's lists of values by name.
func (s *Session) parse(content []byte, domains map[string][]HParamValue) error {
	return fields(content, func(num protowire.Number, typ protowire.Type, _ uint64, b []byte) error {
		if typ != wLen {
			return nil
		}
		switch num {
		case 2: // experiment
			return fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, b []byte) error {
				if typ != wLen {
					return nil
				}
				switch num {
				case 4:
					var name string
					var dom []HParamValue
					err := fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, b []byte) error {
						switch {
						case num == 1 && typ == wLen:
							name = string(b)
						case num == 5 && typ == wLen:
							return fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, b []byte) error {
								if num != 1 || typ != wLen {
									return nil
								}
								v, err := parseHParamValue(b)
								dom = append(dom, v)
								return err
							})
						}
						return nil
					})
					domains[name] = dom
					return err
				case 5:
					return fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, b []byte) error {
						if num != 1 || typ != wLen {
							return nil
						}
						return fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, b []byte) error {
							if num == 2 && typ == wLen {
								s.Metrics = append(s.Metrics, string(b))
							}
							return nil
						})
					})
				}
				return nil
			})
		case 3: // session start
			return fields(b, func(num protowire.Number, typ protowire.Type, x uint64, b []byte) error {
				switch {
				case num == 1 && typ == wLen:
					var p HParam
					err := fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, b []byte) (err error) {
						switch {
						case num == 1 && typ == wLen:
							p.Name = string(b)
						case num == 2 && typ == wLen:
							p.Value, err = parseHParamValue(b)
						}
						return err
					})
					s.Params = append(s.Params, p)
					return err
				case num == 4 && typ == wLen:
					s.Group = string(b)
				case num == 5 && typ == wI64:
					s.Start = f64(x)
				}
				return nil
			})
		case 4: // session end
			return fields(b, func(num protowire.Number, typ protowire.Type, x uint64, _ []byte) error {
				switch {
				case num == 1 && typ == wVar:
					names := []string{"UNKNOWN", "SUCCESS", "FAILURE", "RUNNING"}
					s.Status = names[0]
					if x < uint64(len(names)) {
						s.Status = names[x]
					}
				case num == 2 && typ == wI64:
					s.End = f64(x)
				}
				return nil
			})
		}
		return nil
	})
}

// writeFile writes a file whole: under a temporary name first, then renamed, so
// that no reader sees half of it.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fmt.Errorf("tensorboard: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error says more
		return fmt.Errorf("tensorboard: writing %s: %w", path, err)
	}
	return nil
}
