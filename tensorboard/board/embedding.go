package board

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gotorch-dev/torch/tensorboard"
)

const (
	maxRows       = 10000     // points that are shown
	maxEmbedding  = 512 << 20 // bytes of a table of numbers
	maxMetadata   = 64 << 20  // bytes of a table of labels
	maxSprite     = 64 << 20
	maxLabel      = 200   // bytes of a label
	maxDims       = 16384 // numbers in a row
	maxComponents = 10
)

func (s *Server) embeddings(r *http.Request) (any, error) {
	run, _, err := s.runName(r.URL.Query().Get("run"))
	if err != nil {
		return nil, err
	}
	list, err := s.log.Embeddings(run)
	if err != nil {
		return nil, err
	}
	type reply struct {
		Name   string  `json:"name"`
		Sprite *[2]int `json:"sprite,omitempty"`
	}
	out := []reply{}
	for _, e := range list {
		x := reply{Name: e.Name}
		if e.SpritePath != "" && e.SpriteWidth > 0 && e.SpriteHeight > 0 {
			x.Sprite = &[2]int{e.SpriteWidth, e.SpriteHeight}
		}
		out = append(out, x)
	}
	return map[string]any{"embeddings": out}, nil
}

// openIn opens a file below a run's directory. A link that leads out of it is
// refused: the page must show nothing but logs.
func openIn(dir, path string) (*os.File, error) {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	f, err := root.Open(rel)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return f, nil
}

type projection struct {
	Rows     int        `json:"rows"`
	Total    int        `json:"total"`
	Dims     int        `json:"dims"`
	Variance numbers    `json:"variance"` // parts of the whole
	Points   []numbers  `json:"points"`
	Header   []string   `json:"header"`
	Labels   [][]string `json:"labels"`
	Index    []int      `json:"index"`
}

// projectionCache keeps the newest few projections.
type projectionCache struct {
	mu sync.Mutex // held while one is made: two at once would only take longer
	m  map[string][]byte
	q  []string
}

func (s *Server) embedding(r *http.Request) (any, error) {
	e, dir, err := s.embeddingArg(r)
	if err != nil {
		return nil, err
	}
	f, err := openIn(dir, e.TensorPath)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > maxEmbedding {
		return nil, &apiError{http.StatusRequestEntityTooLarge, "this embedding is too large to show"}
	}
	key := fmt.Sprintf("%s\x00%s\x00%d\x00%d", e.TensorPath, e.MetadataPath, st.Size(), st.ModTime().UnixNano())
	c := &s.projects
	c.mu.Lock()
	defer c.mu.Unlock()
	if b, ok := c.m[key]; ok {
		return b, nil
	}
	p := &projection{Header: []string{}, Labels: [][]string{}}
	rows, err := p.read(f)
	if err != nil {
		return nil, err
	}
	if e.MetadataPath != "" {
		if m, err := openIn(dir, e.MetadataPath); err != nil {
			s.logf("embedding %q: %v", e.Name, err)
		} else {
			p.readLabels(m)
			m.Close()
		}
	}
	p.project(rows)
	b, err := marshal(p)
	if err != nil {
		return nil, err
	}
	if c.m == nil {
		c.m = map[string][]byte{}
	}
	if len(c.q) >= 8 {
		delete(c.m, c.q[0])
		c.q = c.q[1:]
	}
	c.m[key] = b
	c.q = append(c.q, key)
	return b, nil
}

// read reads a table of numbers, at most maxRows of its rows, spread evenly: while
// it reads on, it keeps every stride-th row and doubles the stride when there are
// too many.
func (p *projection) read(r io.Reader) ([][]float32, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), 4<<20)
	var rows [][]float32
	stride := 1
	for sc.Scan() {
		line := bytes.TrimRight(sc.Bytes(), "\r")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		i := p.Total
		p.Total++
		if i%stride != 0 {
			continue
		}
		row := make([]float32, 0, p.Dims)
		for rest := line; rest != nil; {
			var cell []byte
			if k := bytes.IndexByte(rest, '\t'); k >= 0 {
				cell, rest = rest[:k], rest[k+1:]
			} else {
				cell, rest = rest, nil
			}
			v, err := strconv.ParseFloat(string(bytes.TrimSpace(cell)), 32)
			if err != nil || v != v || math.IsInf(v, 0) {
				v = 0 // one bad number must not hide all points
			}
			if row = append(row, float32(v)); len(row) > maxDims {
				return nil, &apiError{http.StatusRequestEntityTooLarge,
					"the points of this embedding have too many dimensions to show"}
			}
		}
		if p.Dims == 0 {
			p.Dims = len(row)
		}
		if len(row) != p.Dims {
			return nil, &apiError{http.StatusUnprocessableEntity,
				fmt.Sprintf("row %d of this embedding has %d numbers, the first has %d", i+1, len(row), p.Dims)}
		}
		rows, p.Index = append(rows, row), append(p.Index, i)
		// The rows of a wide table are bounded in bytes, too.
		if len(rows) > maxRows || len(rows)*p.Dims > 64<<20 && len(rows) > 2 {
			stride *= 2
			k := 0
			for j := 0; j < len(rows); j += 2 {
				rows[k], p.Index[k] = rows[j], p.Index[j]
				k++
			}
			clear(rows[k:])
			rows, p.Index = rows[:k], p.Index[:k]
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, &apiError{http.StatusUnprocessableEntity, "this embedding has no points"}
	}
	p.Rows = len(rows)
	return rows, nil
}

// readLabels reads the labels of the rows that are shown. A table with several
// columns has their names in its first line.
func (p *projection) readLabels(r io.Reader) {
	sc := bufio.NewScanner(io.LimitReader(r, maxMetadata))
	sc.Buffer(make([]byte, 64<<10), 4<<20)
	at, line := 0, 0
	for first := true; sc.Scan(); first = false {
		cells := strings.Split(strings.TrimRight(sc.Text(), "\r"), "\t")
		for i, c := range cells {
			if len(c) > maxLabel {
				c = c[:maxLabel] + "…"
			}
			cells[i] = strings.ToValidUTF8(c, "�")
		}
		if first && len(cells) > 1 {
			p.Header = cells
			continue
		}
		if at >= len(p.Index) {
			break
		}
		if line == p.Index[at] {
			p.Labels = append(p.Labels, cells)
			at++
		}
		line++
	}
	if len(p.Header) == 0 {
		p.Header = []string{"label"}
	}
}

// project finds the principal components by subspace iteration: multiply a few
// random directions by the covariance, again and again, keeping them orthogonal.
// It needs no D×D matrix, and a fixed seed gives the same picture every time.
func (p *projection) project(rows [][]float32) {
	n, d := len(rows), p.Dims
	mean := make([]float64, d)
	for _, r := range rows {
		for j, v := range r {
			mean[j] += float64(v) / float64(n)
		}
	}
	total := 0.0
	for _, r := range rows {
		for j := range r {
			x := float64(r[j]) - mean[j]
			r[j] = float32(x)
			total += x * x
		}
	}
	k := min(maxComponents, d, n)
	// Directions are found on a part of the rows if there are many.
	fit := rows
	if n > 3000 {
		fit = nil
		for _, i := range pick(n, 3000) {
			fit = append(fit, rows[i])
		}
	}
	m := min(k+4, d) // a few more converge faster
	rnd := rand.New(rand.NewPCG(1, 2))
	q := make([][]float64, m)
	for i := range q {
		q[i] = make([]float64, d)
		for j := range q[i] {
			q[i][j] = rnd.NormFloat64()
		}
	}
	orthonormal(q)
	deadline := time.Now().Add(5 * time.Second) // a huge table gets a rougher picture
	for it := 0; it < 30 && time.Now().Before(deadline); it++ {
		next := make([][]float64, m)
		for i := range next {
			next[i] = make([]float64, d)
		}
		for _, r := range fit {
			for i := range q {
				t := 0.0
				for j, v := range r {
					t += float64(v) * q[i][j]
				}
				for j, v := range r {
					next[i][j] += t * float64(v)
				}
			}
		}
		orthonormal(next)
		same := 0.0
		for i := range k {
			same += math.Abs(dot(q[i], next[i]))
		}
		q = next
		if same > float64(k)*(1-1e-9) {
			break
		}
	}
	q = q[:k]
	for _, v := range q { // the sign is arbitrary: make the largest entry positive
		big := 0.0
		for _, x := range v {
			if math.Abs(x) > math.Abs(big) {
				big = x
			}
		}
		if big < 0 {
			for j := range v {
				v[j] = -v[j]
			}
		}
	}
	p.Variance = make(numbers, k)
	p.Points = make([]numbers, n)
	for i, r := range rows {
		p.Points[i] = make(numbers, k)
		for c := range q {
			t := 0.0
			for j, v := range r {
				t += float64(v) * q[c][j]
			}
			p.Variance[c] += t * t
			p.Points[i][c] = short(t)
		}
	}
	// Directions of nearly equal variance can come in any order.
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Variance[b], p.Variance[a]) })
	variance := make(numbers, k)
	for c, o := range order {
		if total > 0 {
			variance[c] = short(p.Variance[o] / total)
		}
	}
	p.Variance = variance
	row := make(numbers, k)
	for i := range p.Points {
		copy(row, p.Points[i])
		for c, o := range order {
			p.Points[i][c] = row[o]
		}
	}
}

// short drops digits that no screen shows.
func short(v float64) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 32)
	if err != nil {
		return 0
	}
	return f
}

func dot(a, b []float64) float64 {
	t := 0.0
	for i, v := range a {
		t += v * b[i]
	}
	return t
}

// orthonormal is Gram and Schmidt's method, done twice for accuracy.
func orthonormal(q [][]float64) {
	for i := range q {
		for range 2 {
			for j := range i {
				t := dot(q[i], q[j])
				for x := range q[i] {
					q[i][x] -= t * q[j][x]
				}
			}
		}
		norm := math.Sqrt(dot(q[i], q[i]))
		if !(norm > 1e-12) { // no such direction: the points lie in a smaller space
			clear(q[i])
			continue
		}
		for x := range q[i] {
			q[i][x] /= norm
		}
	}
}

func (s *Server) sprite(w http.ResponseWriter, r *http.Request) error {
	e, dir, err := s.embeddingArg(r)
	if err != nil {
		return err
	}
	if e.SpritePath == "" {
		return fmt.Errorf("%w: sprite", tensorboard.ErrNotFound)
	}
	f, err := openIn(dir, e.SpritePath)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSprite))
	if err != nil {
		return err
	}
	return s.blob(w, r, [][]byte{b}, imageKind)
}
