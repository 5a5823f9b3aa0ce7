package tensorboard

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Content types of the parts of a mesh.
const (
	meshVertex = 1
	meshFace   = 2
	meshColor  = 3
)

// MeshVertices ends the tag of a mesh's vertices.
const MeshVertices = "_VERTEX"

var meshSuffix = [...]string{meshVertex: MeshVertices, meshFace: "_FACE", meshColor: "_COLOR"}

// MeshOptions are the options of [SummaryWriter.AddMesh].
type MeshOptions struct {
	Colors Array // (B, N, 3), 0…255
	Faces  Array // (B, M, 3): indices of vertices
	// Config configures the three.js scene (camera, lights, material): any value
	// that encoding/json can write as an object.
	Config   map[string]any
	WallTime float64 // seconds since 1970; 0: now
}

// AddMesh writes a mesh, or a cloud of points if there are no faces: vertices has
// shape (B, N, 3).
func (w *SummaryWriter) AddMesh(tag string, vertices Array, step int64, options ...MeshOptions) error {
	o := opt(options)
	config := "{}"
	if o.Config != nil {
		j, err := json.Marshal(pyFloats(o.Config))
		if err != nil {
			return fmt.Errorf("tensorboard: AddMesh: config: %w", err)
		}
		config = spacedJSON(j)
	}
	parts := []struct {
		a    Array
		kind int
	}{{vertices, meshVertex}, {o.Faces, meshFace}, {o.Colors, meshColor}}
	mask := 0
	for _, p := range parts {
		if p.a != nil || p.kind == meshVertex {
			if err := check("AddMesh", p.a, 3); err != nil {
				return err
			}
			mask |= 1 << p.kind
		}
	}
	var values []*Value
	for _, p := range parts {
		if p.a == nil {
			continue
		}
		content := putInt(putStr(nil, 2, tag), 3, int64(p.kind))
		content = putStr(content, 5, config)
		content = putVarints(content, 6, toInt64s(p.a.Shape()))
		content = putInt(content, 7, int64(mask))
		values = append(values, pluginValue(tag+meshSuffix[p.kind], PluginMesh, content,
			&Tensor{DType: DTFloat, Shape: shapeOf(p.a.Shape()...), FloatVal: convert[float32](p.a.Float64s())}))
	}
	return w.add(step, o.WallTime, values...)
}

// pyFloats replaces floating-point numbers by the text that Python gives them:
// 75.0 keeps its point, which tells it from the integer 75.
func pyFloats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = pyFloats(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = pyFloats(x)
		}
		return out
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) { // those are refused by encoding/json
			return json.Number(pyNumber(v, Float64))
		}
	}
	return v
}

// spacedJSON puts a blank after each comma and colon outside strings and escapes
// what is not ASCII: the form that Python's json module writes.
func spacedJSON(j []byte) string {
	var b strings.Builder
	inString := false
	for i := 0; i < len(j); i++ {
		c := j[i]
		switch {
		case c == '\\' && inString:
			// encoding/json hides <, > and & from HTML; Python does not.
			if i+5 < len(j) && j[i+1] == 'u' {
				switch string(j[i+2 : i+6]) {
				case "003c", "003e", "0026":
					b.WriteByte(map[byte]byte{'c': '<', 'e': '>', '6': '&'}[j[i+5]])
					i += 5
					continue
				}
			}
			b.WriteByte(c)
			i++
			b.WriteByte(j[i])
			continue
		case c == 0x7f:
			b.WriteString(`\u007f`)
			continue
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(j[i:])
			if r >= 0x10000 {
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
			i += n - 1
			continue
		case c == '"':
			inString = !inString
		}
		b.WriteByte(c)
		if !inString && (c == ',' || c == ':') {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// MeshPart is one tensor of a mesh as it stands in a log.
type MeshPart struct {
	Name       string // the tag that AddMesh was called with
	Part       string // "vertex", "face" or "color"
	Config     string // JSON
	Components uint32 // bits 1 vertices, 2 faces, 3 colours
	Step       int64
	Wall       float64
	Shape      []int64
	Values     []float32
}

func (m *MeshPart) parse(content []byte) error {
	return fields(content, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		switch {
		case num == 2 && typ == wLen:
			m.Name = string(s)
		case num == 3 && typ == wVar:
			switch v {
			case meshVertex:
				m.Part = "vertex"
			case meshFace:
				m.Part = "face"
			case meshColor:
				m.Part = "color"
			}
		case num == 5 && typ == wLen:
			m.Config = string(s)
		case num == 7 && typ == wVar:
			m.Components = uint32(v)
		}
		return nil
	})
}
