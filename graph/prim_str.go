package graph

import (
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

func parseInt(s string) tensor.Value {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		tensor.Fail(tensor.ErrValue, "could not convert string to int: %q", s)
	}
	return intOf(n)
}

func parseFloat(s string) tensor.Value {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		tensor.Fail(tensor.ErrValue, "could not convert string to float: %q", s)
	}
	return tensor.FloatValue(f)
}
