package rngcheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

// ofData runs a case of samplers, loaders and splits: "RandomSampler(range(20),num_samples=45)",
// "DataLoader(arange(17),5,shuffle=True) 3 epochs, then rand(1)". ok is false for others.
func ofData(c *caseRecord) (out tensors, ok bool) {
	parts := strings.Split(c.Case, ", then ")
	k, rest, ok := readCall(parts[0])
	if !ok {
		return nil, false
	}
	switch k.name {
	case "RandomSampler":
		s := data.NewRandomSampler(length(k), data.RandomOptions{NumSamples: optional(k, "num_samples"),
			Replacement: k.kw["replacement"] == "True", Generator: generator(k.kw["generator"])})
		for range 1 + strings.Count(rest, "twice") {
			out = append(out, indices(s.Indices()))
		}
	case "SubsetRandomSampler":
		out = tensors{indices(data.NewSubsetRandomSampler(wholes(k.arg(0)), nil).Indices())}
	case "WeightedRandomSampler":
		out = tensors{indices(data.NewWeightedRandomSampler(c.W, whole(k.arg(1)), data.WeightedOptions{
			NoReplacement: k.kw["replacement"] == "False", Generator: generator(k.kw["generator"])}).Indices())}
	case "DistributedSampler":
		s := data.NewDistributedSampler(length(k), whole(k.arg(1)), whole(k.arg(2)),
			data.DistributedOptions{Seed: int64(optional(k, "seed"))})
		for i, e := range wholes("[" + strings.TrimPrefix(rest, "epochs ") + "]") {
			if i > 0 || e > 0 {
				s.SetEpoch(e)
			}
			out = append(out, indices(s.Indices()))
		}
	case "random_split":
		out = splits(k)
	case "DataLoader":
		if out, ok = loaded(k, rest); !ok {
			return nil, false
		}
	default:
		return nil, false
	}
	for _, what := range parts[1:] {
		out = append(out, then(what)...)
	}
	return out, true
}

// length is n of a first argument "range(n)" or "arange(n)", or the number itself.
func length(k call) int {
	if strings.ContainsRune(k.arg(0), '(') {
		return whole(inside(k.arg(0)))
	}
	return whole(k.arg(0))
}

// optional is a named whole number, 0 without.
func optional(k call, name string) int {
	if k.kw[name] == "" {
		return 0
	}
	return whole(k.kw[name])
}

// generator is "Generator(5)", nil for "".
func generator(s string) *tensor.Generator {
	if s == "" {
		return nil
	}
	return seeded(int64(whole(inside(s))))
}

func splits(k call) (out tensors) {
	n, g := numbers(length(k)), generator(k.arg(2))
	var parts []*data.Subset[int64]
	var err error
	if strings.ContainsRune(k.arg(1), '.') {
		var fractions []float64
		for _, f := range pieces(inside(k.arg(1)), ",") {
			fractions = append(fractions, number(f))
		}
		parts, err = data.RandomSplitFractions[int64](n, fractions, g)
	} else {
		parts, err = data.RandomSplit[int64](n, wholes(k.arg(1)), g)
	}
	if err != nil {
		panic(err)
	}
	for _, p := range parts {
		l := []int64{}
		for _, i := range p.Indices {
			l = append(l, int64(i))
		}
		out = append(out, tensor.FromSlice(l))
	}
	return out
}

// loaded runs a DataLoader for as many epochs as the rest of the text says.
func loaded(k call, rest string) (out tensors, ok bool) {
	o := data.LoaderOptions{BatchSize: whole(k.arg(1)), Shuffle: k.kw["shuffle"] == "True",
		DropLast: k.kw["drop_last"] == "True", Workers: optional(k, "num_workers"), Generator: generator(k.kw["generator"])}
	if s, _, isCall := readCall(k.kw["sampler"]); isCall {
		if s.name != "SubsetRandomSampler" {
			panic(golden.Skip("sampler " + s.name))
		}
		o.Sampler = data.NewSubsetRandomSampler(wholes(s.arg(0)), nil)
	}
	l := data.NewCollatedLoader(data.Dataset[int64](numbers(length(k))),
		func(s []int64) ([]int64, error) { return s, nil }, o)
	epochs := 1
	switch {
	case rest == "":
	case rest == ": first batch only":
		for b, err := range l.Iter(context.Background()) {
			if err != nil {
				panic(err)
			}
			return tensors{tensor.FromSlice(b)}, true
		}
	case rest == ": iter() without next":
		e := l.Begin(context.Background())
		defer e.Close()
		return nil, true
	default:
		if _, err := fmt.Sscanf(rest, "%d epoch", &epochs); err != nil {
			return nil, false
		}
	}
	for range epochs {
		out = append(out, epoch(l))
	}
	return out, true
}
