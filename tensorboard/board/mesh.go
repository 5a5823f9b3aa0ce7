package board

import (
	"math"
	"net/http"

	"github.com/gotorch-dev/torch/tensorboard"
)

// What is sent of one mesh: more would neither travel nor turn smoothly.
const (
	maxMeshPoints = 100_000
	maxMeshFaces  = 200_000
)

type meshReply struct {
	Step     int64   `json:"step"`
	Wall     number  `json:"wall"`
	Batch    int     `json:"batch"`
	Total    int     `json:"total"`
	Vertices numbers `json:"vertices"`
	RGB      []int   `json:"colors,omitempty"`
	Faces    []int   `json:"faces,omitempty"`
}

func (s *Server) mesh(r *http.Request, a tagArgs) (any, error) {
	i, err := intArg(r, "i", a.info.Count-1, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	k, err := intArg(r, "k", 0, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	name, _ := tensorboard.MeshName(a.tag)
	parts, err := s.log.MeshAt(a.run, name, i)
	if err != nil {
		return nil, err
	}
	v := parts[0]
	points, batch := meshPart(&v, k)
	if batch == 0 {
		return nil, &apiError{http.StatusNotFound, "there is no such mesh in the batch"}
	}
	out := meshReply{Step: v.Step, Wall: number(v.Wall), Batch: batch, Total: len(points) / 3}
	var faces, colors []float32
	for _, p := range parts[1:] {
		switch d, _ := meshPart(&p, k); {
		case p.Part == "face":
			faces = d
		case len(d) == len(points):
			colors = d
		}
	}
	if len(points) > 3*maxMeshFaces || len(faces) > 3*maxMeshFaces {
		faces = nil // too much to draw as a surface: its points tell the shape
	}
	step := 1
	if faces == nil {
		step = (out.Total + maxMeshPoints - 1) / maxMeshPoints
	}
	bright := float32(1)
	if top := maximum(colors); top <= 1 {
		bright = 255 // of 0…1
	}
	for p := 0; p < out.Total; p += max(step, 1) {
		for c := range 3 {
			out.Vertices = append(out.Vertices, float64(points[3*p+c]))
			if colors != nil {
				out.RGB = append(out.RGB, int(min(max(colors[3*p+c]*bright, 0), 255)))
			}
		}
	}
	out.Faces = meshFaces(faces, out.Total)
	return out, nil
}

// meshPart cuts element k out of a part of shape (B, N, 3); batch is 0 if the
// shape is another, or has no such element.
func meshPart(p *tensorboard.MeshPart, k int) (values []float32, batch int) {
	s := p.Shape
	if len(s) != 3 || s[2] != 3 || s[0] <= int64(k) || s[1] < 0 || int64(len(p.Values)) != s[0]*s[1]*3 {
		return nil, 0
	}
	n := int(s[1]) * 3
	return p.Values[k*n : (k+1)*n], int(s[0])
}

// meshFaces leaves out faces that name vertices there are not.
func meshFaces(f []float32, vertices int) []int {
	var out []int
	for i := 0; i+2 < len(f); i += 3 {
		t := f[i : i+3]
		if valid := func(v float32) bool { return v >= 0 && v < float32(vertices) }; valid(t[0]) && valid(t[1]) &&
			valid(t[2]) {
			out = append(out, int(t[0]), int(t[1]), int(t[2]))
		}
	}
	return out
}

func maximum(v []float32) float32 {
	top := float32(0)
	for _, x := range v {
		top = max(top, x)
	}
	return top
}
