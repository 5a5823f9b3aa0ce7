package main

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/gotorch-dev/torch/tensor"
)

// documented are names of results that schemas leave out, from PyTorch's documentation and derivatives.yaml, by the
// operator's name, or by what it ends with if the name begins with "*".
var documented = []struct{ op, names string }{
	{"std_mean", "std mean"}, {"var_mean", "variance mean"},
	{"embedding_bag", "output offset2bag bag_size max_indices"},
	{"unique", "output inverse counts"}, {"unique_*", "output inverse counts"}, {"_unique*", "output inverse counts"},
	{"*_with_indices", "output indices"}, {"*max_pool?d", "output indices"},
	{"multi_head_attention_forward", "output weights"},
	{"solve", "solution lu"}, {"lstsq", "solution qr"}, {"*eig", "eigenvalues eigenvectors"}, {"qr", "q r"},
	{"[cm]*_batch_norm", "output save_mean save_invstd reserve"}, {"miopen_ctc_loss", "loss grad"},
	{"miopen_rnn", "output hn cn reserve weights"}, {"mkldnn_rnn_layer", "output hn cn workspace"},
	{"mkldnn_linear_backward_weights", "grad_weight grad_bias"},
	{"lstm_cell", "hy cy"}, {"lstm", "output hn cn"}, {"gru", "output hn"}, {"rnn_*", "output hn"},
	{"convolution_backward", "grad_input grad_weight grad_bias"},
	{"native_*_backward", "grad_input grad_weight grad_bias"},
	{"*_backward", "grad_input grad_weight grad_bias"},
	{"quantized_lstm_cell", "hy cy"}, {"choose_qparams_optimized", "xmax xmin"},
	{"fbgemm_linear_quantize_weight", "weight colOffsets scale zeroPoint"},
	{"native_batch_norm", "output save_mean save_invstd"}, {"native_*_norm", "output mean rstd"},
}

// resultNames are the names of an operator's results in Go.
func resultNames(s *tensor.Schema) []string {
	for _, d := range documented {
		if ok, err := path.Match(d.op, s.Name); err == nil && ok {
			if l := strings.Fields(d.names); len(l) >= len(s.Results) {
				return l
			}
		}
	}
	check(fmt.Errorf("%s has results without names: add them to documented", s))
	return nil
}

func comment(name, doc string) string {
	if r := doc[0]; r >= 'a' && r <= 'z' {
		doc = name + " " + doc
	} else {
		doc = name + ": " + strings.ToLower(doc[:1]) + doc[1:]
	}
	var b strings.Builder
	for _, l := range strings.Split(doc, "\n") {
		line := "//"
		for _, w := range strings.Fields(l) {
			if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > 120 && line != "//" {
				b.WriteString(line + "\n")
				line = "//"
			}
			line += " " + w
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
