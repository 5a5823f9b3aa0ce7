package train

import (
	"fmt"
	"io"
	"math"
)

type classReport struct {
	Class     int     `json:"class"`
	Samples   int     `json:"samples"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

func perClass(confusion [][]int) []classReport {
	var out []classReport
	for k := range confusion {
		r := classReport{Class: k}
		predicted := 0
		for j := range confusion {
			r.Samples += confusion[k][j]
			predicted += confusion[j][k]
		}
		tp := float64(confusion[k][k])
		r.Precision, r.Recall = tp/math.Max(1, float64(predicted)), tp/math.Max(1, float64(r.Samples))
		if r.Precision+r.Recall > 0 {
			r.F1 = 2 * r.Precision * r.Recall / (r.Precision + r.Recall)
		}
		out = append(out, r)
	}
	return out
}

func evalReport(data string, e evaluation) any {
	return map[string]any{"data": data, "accuracy": e.accuracy(), "loss": jsonFloat(e.loss), "correct": e.correct,
		"total":   e.total,
		"classes": perClass(e.confusion), "confusion": e.confusion}
}

func printEvaluation(w io.Writer, e evaluation) {
	fmt.Fprintf(w, "accuracy %.2f %% (%d of %d), loss %.4f\n\n", 100*e.accuracy(), e.correct, e.total, e.loss)
	fmt.Fprintf(w, "%5s %8s %10s %8s %8s\n", "class", "samples", "precision", "recall", "f1")
	for _, r := range perClass(e.confusion) {
		fmt.Fprintf(w, "%5d %8d %9.2f%% %7.2f%% %8.4f\n", r.Class, r.Samples, 100*r.Precision, 100*r.Recall, r.F1)
	}
	fmt.Fprintf(w, "\nconfusion (rows: true class, columns: predicted)\n     ")
	for j := range e.confusion {
		fmt.Fprintf(w, "%6d", j)
	}
	fmt.Fprintln(w)
	for i, row := range e.confusion {
		fmt.Fprintf(w, "%5d", i)
		for _, n := range row {
			if n == 0 {
				fmt.Fprintf(w, "%6s", ".")
			} else {
				fmt.Fprintf(w, "%6d", n)
			}
		}
		fmt.Fprintln(w)
	}
}
