package cococheck

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/coco/mask"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
)

var npyHeader = regexp.MustCompile(`^\{'descr': '\|([ub])1', 'fortran_order': (False|True), 'shape': \((\d+), (\d+)\), \}\s*$`)

// readNPZ reads two-dimensional arrays of bytes, which is all that masks are.
func readNPZ(path string) (map[string]*mask.Mask, error) {
	golden.Note(path)
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("cococheck: %w", err)
	}
	defer z.Close()
	out := map[string]*mask.Mask{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("cococheck: %s: %w", f.Name, err)
		}
		b, err := io.ReadAll(io.LimitReader(r, 1<<28))
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("cococheck: %s: %w", f.Name, err)
		}
		m, err := readNPY(b)
		if err != nil {
			return nil, fmt.Errorf("cococheck: %s: %w", f.Name, err)
		}
		out[strings.TrimSuffix(f.Name, ".npy")] = m
	}
	return out, nil
}

func readNPY(b []byte) (*mask.Mask, error) {
	if len(b) < 10 || string(b[:6]) != "\x93NUMPY" || b[6] != 1 {
		return nil, fmt.Errorf("not a numpy array of format 1")
	}
	n := int(binary.LittleEndian.Uint16(b[8:]))
	if len(b) < 10+n {
		return nil, fmt.Errorf("the header is cut off")
	}
	head := npyHeader.FindStringSubmatch(string(b[10 : 10+n]))
	if head == nil {
		return nil, fmt.Errorf("want a two-dimensional array of bytes, header is %q", b[10:10+n])
	}
	h, errH := strconv.Atoi(head[3])
	w, errW := strconv.Atoi(head[4])
	data := b[10+n:]
	if errH != nil || errW != nil || h > len(data) || w > len(data)+1 || h*w != len(data) {
		return nil, fmt.Errorf("a %s x %s array in %d bytes", head[3], head[4], len(data))
	}
	m := &mask.Mask{H: h, W: w, Pix: data}
	if head[2] == "True" {
		m.Pix = make([]uint8, len(data))
		for i, v := range data {
			m.Pix[i%h*w+i/h] = v
		}
	}
	return m, nil
}
