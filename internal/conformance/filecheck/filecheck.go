// Package filecheck reads folders of files that other programs wrote: weights, pickles and archives, arrays of NumPy.
//
// Every file goes through these checks, each of which is a case. Nothing is known of a file by its name.
//
//	load   it loads, or is refused with a reason, which skips the case
//	refuse it is refused, as an array of Python objects has to be
//	again  what was loaded is the same when it was saved and loaded again
//	map    it loads the same when the file is mapped into memory
//	cut    cut short at many places it is an error, or the same value where only padding was cut off
//	flip   with a byte changed at many places it is an error or a value, and neither panics nor hangs
package filecheck

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/filekind"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/gguf"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/serialize/safetensors"
	"github.com/gotorch-dev/torch/tensor"
)

// Run checks every file below dir that holds weights or values.
func Run(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
	tally := golden.Tally{Verbose: verbose}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		golden.Note(path)
		name := filepath.ToSlash(rel)
		if only != nil && !only.MatchString(name) || filepath.Base(path) == "meta.json" {
			return nil
		}
		return file(&tally, name, path)
	})
	if err != nil {
		return nil, fmt.Errorf("filecheck: %w", err)
	}
	return tally.Results(), nil
}

// textKinds are files that stand beside others.
var textKinds = map[filekind.Kind]bool{filekind.JSON: true, filekind.Text: true, filekind.Empty: true}

func file(tally *golden.Tally, name, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	kind := filekind.Of(bytes.NewReader(b), int64(len(b))).Kind
	if textKinds[kind] {
		return nil
	}
	v, err := guard(func() (any, error) { return read(kind, b) })
	var p panicked
	switch {
	case errors.As(err, &p):
		tally.Add(name, "load", err)
	case errors.Is(err, npy.ErrObject): // has to be refused: its elements are pickles
		tally.Add(name, "refuse", nil)
	case err != nil:
		tally.Add(name, "load", golden.Skip("refused: "+err.Error()))
	default:
		tally.Add(name, "load", nil)
		tally.Add(name, "again", again(kind, v))
		tally.Add(name, "map", mapped(kind, path, v))
	}
	tally.Add(name, "cut", cut(kind, b, v, err == nil))
	tally.Add(name, "flip", flip(kind, b))
	return nil
}

// onCPU puts what was saved from other devices on the CPU.
var onCPU = serialize.LoadOptions{MapLocation: serialize.ToDevice(tensor.Device{})}

// read reads a file's bytes as what they are.
func read(kind filekind.Kind, b []byte) (any, error) {
	r, size := bytes.NewReader(b), int64(len(b))
	switch kind {
	case filekind.NPY:
		return npy.Read(r)
	case filekind.NPZ:
		z, err := npy.NewNPZ(r, size)
		if err != nil {
			return nil, err
		}
		d := serialize.NewDict()
		for _, name := range z.Names() {
			a, err := z.Read(name)
			if err != nil {
				return nil, err
			}
			d.Set(name, a)
		}
		return d, nil
	case filekind.SafeTensors:
		f, err := safetensors.NewFile(r, size)
		if err != nil {
			return nil, err
		}
		return dictOf(f.StateDict())
	case filekind.GGUF:
		f, err := gguf.NewFile(r, size)
		if err != nil {
			return nil, err
		}
		return dictOf(f.StateDict())
	case filekind.Pickle:
		return serialize.LoadPickleBytes(b, onCPU)
	}
	return serialize.LoadBytes(b, onCPU)
}

func dictOf(sd *tensor.StateDict, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	d := serialize.NewDict()
	for k, t := range sd.All() {
		d.Set(k, t)
	}
	return d, nil
}

// panicked is a panic of a reader, or a reader that does not end.
type panicked string

func (p panicked) Error() string { return string(p) }

// limit is far above what any of the files takes.
const limit = time.Minute

// guard calls f and makes an error of a panic and of a hang.
func guard(f func() (any, error)) (v any, err error) {
	type result struct {
		v   any
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = panicked(fmt.Sprintf("panic: %v", p))
			}
			done <- r
		}()
		r.v, r.err = f()
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-time.After(limit):
		return nil, panicked(fmt.Sprintf("not done after %v", limit))
	}
}

// again saves a value in the format that it came from, where we write that, and loads it.
func again(kind filekind.Kind, v any) error {
	if hasObjects(v) {
		return nil // descriptions of objects are not written
	}
	var buf bytes.Buffer
	var err error
	switch kind {
	case filekind.NPY:
		err = npy.Write(&buf, v.(*npy.Array))
	case filekind.SafeTensors:
		var sd *tensor.StateDict
		if sd, err = v.(*serialize.Dict).StateDict(); err == nil {
			err = safetensors.Write(&buf, sd, nil)
		}
	case filekind.NPZ:
		z := npy.NewNPZWriter(&buf, true)
		for name, a := range v.(*serialize.Dict).All() {
			err = errors.Join(err, z.Write(name.(string), a.(*npy.Array)))
		}
		err = errors.Join(err, z.Close())
	default:
		kind = filekind.Checkpoint
		err = serialize.Save(&buf, v)
	}
	if err != nil {
		return fmt.Errorf("saving: %w", err)
	}
	back, err := read(kind, buf.Bytes())
	if err != nil {
		return fmt.Errorf("loading what was saved: %w", err)
	}
	return same(v, back)
}

// mapped loads the file itself, into memory that is the file's.
func mapped(kind filekind.Kind, path string, v any) error {
	var back any
	var err error
	switch kind {
	case filekind.SafeTensors:
		back, err = dictOf(safetensors.Load(path, safetensors.Options{MMap: true}))
	case filekind.NPY, filekind.NPZ, filekind.GGUF:
		return nil // no mapping
	case filekind.Pickle:
		back, err = serialize.LoadPickle(path, serialize.LoadOptions{MMap: true})
	default:
		o := onCPU
		o.MMap = true
		back, err = serialize.LoadFile(path, o)
	}
	if err != nil {
		return err
	}
	return same(v, back)
}

// places chooses about n places among the first size, all of them where there are no more.
func places(size, n int) []int {
	out := make([]int, 0, n)
	for i := range min(size, n) {
		out = append(out, i*max(size, n)/n*size/max(size, n))
	}
	return out
}

// effort is how many places of a file are tried: fewer of a large one.
func effort(size int) int { return min(512, max(24, (8<<20)/(size+1))) }

func cut(kind filekind.Kind, b []byte, v any, loads bool) error {
	for _, n := range places(len(b), effort(len(b))) {
		got, err := guard(func() (any, error) { return read(kind, b[:n:n]) })
		var p panicked
		switch {
		case errors.As(err, &p):
			return fmt.Errorf("cut to %d of %d bytes: %w", n, len(b), err)
		case err == nil && loads:
			if err := same(v, got); err != nil {
				return fmt.Errorf("cut to %d of %d bytes it loads, and not as the same: %w", n, len(b), err)
			}
		case err == nil:
			return fmt.Errorf("cut to %d of %d bytes it loads, whole it does not", n, len(b))
		}
	}
	return nil
}

func flip(kind filekind.Kind, b []byte) error {
	rng := rand.New(rand.NewPCG(1, uint64(len(b))))
	c := bytes.Clone(b)
	for _, i := range places(len(b), effort(len(b))) {
		old := c[i]
		c[i] ^= byte(1 + rng.IntN(255))
		_, err := guard(func() (any, error) { return read(kind, c) })
		var p panicked
		if errors.As(err, &p) {
			return fmt.Errorf("byte %d changed from %#x to %#x: %w", i, old, c[i], err)
		}
		c[i] = old
	}
	return nil
}
