package utils

import (
	"hash/maphash"
	"maps"
	"math"
	"reflect"
	"unsafe"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// A module's Forward depends on its fields: a stride, a list of layers, the flag of training. Setting one is plain Go,
// which nobody sees; but the fields are memory, which can be compared with what it was. That takes some nanoseconds for
// each module, and knows of every field of every type, exported or not.

// region is a piece of memory of a module: a struct, the elements of a slice, or a map's entries.
type region struct {
	p   unsafe.Pointer // keeps the memory alive
	was string
	m   reflect.Value // of a map
	sum uint64
}

// word is the size in which memory is compared where parts of a region are left out.
const word = unsafe.Sizeof(uintptr(0))

func (r *region) changed() bool {
	if r.m.IsValid() {
		return mapSum(r.m) != r.sum
	}
	return string(unsafe.Slice((*byte)(r.p), len(r.was))) != r.was
}

// maxRegions and maxRegion bound what is compared in each call: larger lists, such as a vocabulary, are taken to stay.
const (
	maxRegions = 1 << 14
	maxRegion  = 1 << 14
)

// sight is the memory that a module's fields refer to.
type sight struct {
	regions []region
	seen    map[seenKey]bool
	held    []*Tensor // tensors that fields refer to
}

type seenKey struct {
	p unsafe.Pointer
	t reflect.Type
}

var typeTensor = reflect.TypeFor[*tensor.Tensor]()

// look finds the memory of a module.
func look(m nn.Module) *sight {
	s := &sight{seen: map[seenKey]bool{}}
	s.value(reflect.ValueOf(m))
	return s
}

func (s *sight) add(p unsafe.Pointer, n int) {
	if n > 0 && n <= maxRegion && len(s.regions) < maxRegions {
		s.regions = append(s.regions, region{p: p, was: string(unsafe.Slice((*byte)(p), n))})
	}
}

// visit reports that memory of a type is met for the first time.
func (s *sight) visit(p unsafe.Pointer, t reflect.Type) bool {
	k := seenKey{p, t}
	if p == nil || s.seen[k] || len(s.regions) >= maxRegions {
		return false
	}
	s.seen[k] = true
	return true
}

// value follows what v refers to. The memory of v itself is part of a region already.
func (s *sight) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			s.value(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Type() == typeTensor {
			s.held = append(s.held, (*Tensor)(v.UnsafePointer()))
			return
		}
		if s.visit(v.UnsafePointer(), v.Type()) && follows(v.Type().Elem()) {
			for _, f := range spans(v.Type().Elem()) {
				s.add(unsafe.Add(v.UnsafePointer(), f.off), int(f.n))
			}
			s.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.value(v.Field(i))
		}
	case reflect.Array:
		if refers(v.Type().Elem()) {
			for i := range v.Len() {
				s.value(v.Index(i))
			}
		}
	case reflect.Slice:
		if v.Len() > 0 && s.visit(v.UnsafePointer(), v.Type()) {
			s.add(v.UnsafePointer(), v.Len()*int(v.Type().Elem().Size()))
			if refers(v.Type().Elem()) {
				for i := range v.Len() {
					s.value(v.Index(i))
				}
			}
		}
	case reflect.Map:
		if !v.IsNil() && s.visit(v.UnsafePointer(), v.Type()) {
			s.regions = append(s.regions, region{m: v, sum: mapSum(v)})
			for it := v.MapRange(); it.Next(); {
				s.value(it.Value())
			}
		}
	}
}

// follows says whether the memory behind a pointer is a module's or a helper's of one: not that of locks, types,
// generators and tensors.
func follows(t reflect.Type) bool {
	switch t.PkgPath() {
	case "sync", "sync/atomic", "reflect", "time", "os", "github.com/gotorch-dev/torch/tensor",
		"github.com/gotorch-dev/torch/internal/rng":
		return false
	}
	return true
}

// span is a part of a struct.
type span struct{ off, n uintptr }

// spans are the parts of a type that are compared: all but what several goroutines may write at the same time, which
// are atomic variables, and a struct with a lock.
func spans(t reflect.Type) []span {
	if t.Kind() != reflect.Struct {
		return []span{{0, t.Size()}}
	}
	var l []span
	for i := range t.NumField() {
		f := t.Field(i)
		switch f.Type.PkgPath() {
		case "sync":
			return nil
		case "sync/atomic":
			continue
		}
		for _, s := range spans(f.Type) {
			s.off += f.Offset
			if n := len(l); n > 0 && l[n-1].off+l[n-1].n == s.off {
				l[n-1].n += s.n
			} else {
				l = append(l, s)
			}
		}
	}
	return l
}

// refers says whether values of a type can refer to other memory.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Map, reflect.Struct, reflect.Array:
		return true
	}
	return false
}

// mapSum tells a map's entries from others, as far as they are numbers, texts or pointers.
func mapSum(m reflect.Value) uint64 {
	sum := uint64(m.Len())
	for it := m.MapRange(); it.Next(); {
		sum += mapTerm(it.Key())*31 + mapTerm(it.Value())
	}
	return sum
}

var mapSeed = maphash.MakeSeed()

func mapTerm(v reflect.Value) uint64 {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	var n uint64
	switch v.Kind() {
	case reflect.String:
		return maphash.String(mapSeed, v.String())
	case reflect.Pointer, reflect.Slice, reflect.Map:
		n = uint64(uintptr(v.UnsafePointer()))
	case reflect.Bool:
		if v.Bool() {
			n = 1
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n = uint64(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n = v.Uint()
	case reflect.Float32, reflect.Float64:
		n = math.Float64bits(v.Float())
	default:
		return 0
	}
	return maphash.Comparable(mapSeed, n)
}

// tensors reports that fields refer to other tensors in later than in s.
func (s *sight) tensors(later *sight) bool { return !maps.Equal(s.count(), later.count()) }

// count says how many fields refer to each tensor; maps are walked in any order.
func (s *sight) count() map[*Tensor]int {
	n := map[*Tensor]int{}
	for _, t := range s.held {
		n[t]++
	}
	return n
}

// altered reports that memory of s is not what it was any more.
func (s *sight) altered() bool {
	for i := range s.regions {
		if s.regions[i].changed() {
			return true
		}
	}
	return false
}

// lasting are the regions of s without what differs from before: a field that Forward itself sets, such as a counter,
// is none that tells of a change.
func (s *sight) lasting(before *sight) []region {
	was, sums := map[unsafe.Pointer]*region{}, map[unsafe.Pointer]uint64{}
	for i := range before.regions {
		if r := &before.regions[i]; r.m.IsValid() {
			sums[r.m.UnsafePointer()] = r.sum
		} else {
			was[r.p] = r
		}
	}
	var out []region
	for _, r := range s.regions {
		if r.m.IsValid() {
			if sum, old := sums[r.m.UnsafePointer()]; !old || sum == r.sum {
				out = append(out, r)
			}
			continue
		}
		old := was[r.p]
		if old == nil || old.was == r.was || len(old.was) != len(r.was) {
			out = append(out, r)
			continue
		}
		for i := 0; i < len(r.was); {
			j := i
			for j < len(r.was) && r.was[j:min(j+int(word), len(r.was))] == old.was[j:min(j+int(word), len(r.was))] {
				j = min(j+int(word), len(r.was))
			}
			if j > i {
				out = append(out, region{p: unsafe.Add(r.p, i), was: r.was[i:j]})
			}
			i = j + int(word)
		}
	}
	return out
}
