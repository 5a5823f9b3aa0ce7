package board

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch/tensorboard"
)

// Names and texts that would run code in a page that does not escape them.
const (
	evilTag  = `evil/<img src=x onerror="document.title='owned'">'"&/✓ ünï`
	evilRun  = `run <b onmouseover=alert(1)>'"`
	evilText = "# Title\n\n<script>document.title='owned'</script>\n<img src=x onerror=\"document.title='owned'\">\n\n" +
		"[click](javascript:document.title='owned') ![pic](http://example.invalid/x.png)\n\n| a | b |\n|---|--:|\n| " +
		"**1** | `2` |\n\n" +
		"[ok](https://example.com/?a=1&b=2) <a href=\"data:text/html,x\" onclick=\"x()\">raw</a> <iframe " +
		"src=//x></iframe>\n"
)

func writer(t testing.TB, dir string) *tensorboard.SummaryWriter {
	t.Helper()
	w, err := tensorboard.NewSummaryWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeSample writes some runs with data for every page.
func writeSample(t testing.TB, dir string) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(7, 7))
	const t0 = 1.7e9
	for k, lr := range []float64{0.1, 0.01, 0.003, 0.001} {
		name := []string{"sgd/lr=0.1", "sgd/lr=0.01", "adam/lr=0.003", "adam/lr=0.001"}[k]
		dirK := filepath.Join(dir, filepath.FromSlash(name))
		w := writer(t, dirK)
		for i := range 400 {
			x, wall := float64(i), t0+float64(k)*4000+float64(i)*(7+float64(k))
			o := tensorboard.ScalarOptions{WallTime: wall}
			decay := math.Exp(-x / (40 + 50*float64(k)))
			noise := func(s float64) float64 { return s * rnd.NormFloat64() }
			must(t, w.AddScalar("loss/train", 2.3*decay+0.08*float64(k+1)+noise(0.05*(decay+0.3)), int64(i), o))
			must(t, w.AddScalar("accuracy/train", 1-0.9*decay-0.02*float64(k)+noise(0.01), int64(i), o))
			must(t, w.AddScalar("learning rate", lr*math.Pow(0.5, math.Floor(x/100)), int64(i), o))
			if i%10 == 0 {
				must(t, w.AddScalar("loss/validation", 2.3*decay+0.11*float64(k+1)+noise(0.02), int64(i), o))
				must(t, w.AddScalar("accuracy/validation", 1-0.9*decay-0.03*float64(k)+noise(0.005), int64(i), o))
				must(t, w.AddScalar("margin/value", 1-decay, int64(i), o))
				must(t, w.AddScalar("margin/lower", 1-decay-0.1, int64(i), o))
				must(t, w.AddScalar("margin/upper", 1-decay+0.07, int64(i), o))
			}
		}
		for i := range 12 {
			vals := make([]float64, 3000)
			for j := range vals {
				vals[j] = rnd.NormFloat64()*(0.3+0.06*float64(i)) + 0.15*float64(i)
			}
			wall := t0 + float64(k)*4000 + float64(i)*250
			for _, tag := range []string{"fc1/weight", "fc1/bias", "fc2/weight"} {
				must(t, w.AddHistogram(tag, tensorboard.Of(vals), int64(i*30),
					tensorboard.HistogramOptions{WallTime: wall}))
			}
		}
		for i := range 6 {
			for _, tag := range []string{"samples/digits", "samples/attention"} {
				px := make([]float64, 3*64*96)
				for c := range 3 {
					for y := range 64 {
						for x := range 96 {
							px[(c*64+y)*96+x] = 0.5 +
								0.5*math.Sin(float64(x)/9+float64(c)+float64(i))*math.Cos(float64(y)/11+float64(k))
						}
					}
				}
				must(t, w.AddImage(tag, tensorboard.Of(px, 3, 64, 96), int64(i*50)))
			}
			lab, pred := make([]float64, 500), make([]float64, 500)
			for j := range lab {
				lab[j] = float64(j % 2)
				pred[j] = 1 / (1 + math.Exp(-(lab[j]-0.5)*float64(i+1)-rnd.NormFloat64()))
			}
			must(t, w.AddPRCurve("pr/cats", tensorboard.Of(lab), tensorboard.Of(pred), int64(i*50)))
		}
		if k == 0 {
			must(t, w.AddCustomScalars([]tensorboard.Category{{Title: "Overview", Charts: []tensorboard.Chart{
				{Title: "Losses", Tags: []string{"loss/.*"}},
				{Title: "Accuracy", Tags: []string{"accuracy/train", "accuracy/validation"}},
				{Title: "With margin", Margins: []tensorboard.Margin{{Value: "margin/value", Lower: "margin/lower",
					Upper: "margin/upper"}}}}}}))
			wave := make([]float64, 22050)
			for i := range wave {
				wave[i] = 0.4 * math.Sin(float64(i)*2*math.Pi*440/22050)
			}
			must(t, w.AddAudio("speech/sample", tensorboard.Of(wave), 0, tensorboard.AudioOptions{SampleRate: 22050}))
			must(t, w.AddText("notes", "## Set-up\n\nTrained with **SGD** and a step schedule.\n\n| setting | value "+
				"|\n|---|--:|\n| batch | 64 |\n| epochs | 40 |\n\n```go\nopt := optim.NewSGD(m.Parameters(), "+
				"0.1)\n```\n\n> The learning rate is halved every hundred steps.\n\n- augmentations: flip, crop\n- "+
				"[paper](https://example.com/paper)\n", 0))
			must(t, w.AddText("notes", "Loss is *flat* after step 200.", 200))
			must(t, w.AddGraph(sampleGraph()))
			n, d := 600, 16
			emb, meta := make([]float64, n*d), make([][]string, n)
			for i := range n {
				c := i % 6
				for j := range d {
					emb[i*d+j] = rnd.NormFloat64() * 0.6
					if j%6 == c {
						emb[i*d+j] += 4
					}
				}
				meta[i] = []string{fmt.Sprintf("class %d", c), fmt.Sprint(i)}
			}
			sphere, cloud := sampleMeshes(rnd)
			must(t, w.AddMesh("shapes/sphere", sphere[0], 0,
				tensorboard.MeshOptions{Faces: sphere[1], Colors: sphere[2]}))
			must(t, w.AddMesh("shapes/cloud", cloud, 0))
			must(t, w.AddMesh("shapes/cloud", cloud, 10))
			must(t, w.AddEmbedding(tensorboard.Of(emb, n, d), 0,
				tensorboard.EmbeddingOptions{Tag: "features", Metadata: meta, Header: []string{"class", "id"}}))
		}
		opt := "sgd"
		if k > 1 {
			opt = "adam"
		}
		must(t, w.AddHParams([]tensorboard.HParam{tensorboard.NumberParam("lr", lr),
			tensorboard.StringParam("optimizer", opt), tensorboard.NumberParam("batch", float64(32*(1+k%2)))},
			[]tensorboard.Named{{Name: "hparam/accuracy", Value: 0.98 - 0.03*float64(k)},
				{Name: "hparam/loss", Value: 0.1 + 0.05*float64(k)}},
			tensorboard.HParamsOptions{RunName: "hp"}))
		must(t, w.Close())
	}
	w := writer(t, filepath.Join(dir, evilRun))
	must(t, w.AddScalar(evilTag, 1, 0))
	must(t, w.AddScalar(evilTag, math.NaN(), 1))
	must(t, w.AddScalar(evilTag, math.Inf(1), 2))
	must(t, w.AddScalar(evilTag, 3, 3))
	must(t, w.AddText(evilTag, evilText, 0))
	must(t, w.Close())
}

// sampleMeshes makes a sphere (vertices, faces, colours) and a batch of two clouds.
func sampleMeshes(rnd *rand.Rand) (sphere [3]tensorboard.Array, cloud tensorboard.Array) {
	const rows, cols = 24, 48
	var v, c []float32
	var f []int32
	for i := range rows + 1 {
		for j := range cols {
			a, b := math.Pi*float64(i)/rows, 2*math.Pi*float64(j)/cols
			v = append(v, float32(math.Sin(a)*math.Cos(b)), float32(math.Cos(a)), float32(math.Sin(a)*math.Sin(b)))
			c = append(c, float32(255*i/rows), float32(255*j/cols), 160)
			if i < rows {
				p, q := int32(i*cols+j), int32(i*cols+(j+1)%cols)
				f = append(f, p, q, p+cols, q, q+cols, p+cols)
			}
		}
	}
	f = append(f, 0, 1, 99999) // a vertex that there is not
	sphere = [3]tensorboard.Array{tensorboard.Of(v, 1, len(v)/3, 3), tensorboard.Of(f, 1, len(f)/3, 3),
		tensorboard.Of(c, 1, len(c)/3, 3)}
	var pts []float32
	for i := range 6000 {
		a := float64(i%3000) / 150
		pts = append(pts, float32(math.Cos(a)+0.05*rnd.NormFloat64()), float32(a/10-1),
			float32(math.Sin(a)+0.05*rnd.NormFloat64()))
	}
	pts[0] = float32(math.NaN())
	return sphere, tensorboard.Of(pts, 2, 3000, 3)
}

func sampleGraph() *tensorboard.Graph {
	var g tensorboard.Graph
	add := func(name, op string, shape []int64, in ...string) {
		g.Nodes = append(g.Nodes, tensorboard.GraphNode{Name: name, Op: op, Inputs: in, OutputShapes: [][]int64{shape},
			Attrs: map[string]string{"attr": "{}"}})
	}
	add("input/x", "IO Node", []int64{64, 1, 28, 28})
	prev := "input/x"
	for i := 1; i <= 2; i++ {
		m := fmt.Sprintf("Net/Sequential[features]/Conv2d[%d]", i)
		add(m+"/weight", "prim::GetAttr", []int64{32, 16, 3, 3})
		add(m+"/bias", "prim::GetAttr", []int64{32})
		add(m+"/out", "aten::_convolution", []int64{64, 32, 26, 26}, prev, m+"/weight", m+"/bias")
		r := fmt.Sprintf("Net/Sequential[features]/ReLU[r%d]/out", i)
		add(r, "aten::relu", []int64{64, 32, 26, 26}, m+"/out")
		prev = r
	}
	add("Net/flatten", "aten::flatten", []int64{64, 800}, prev)
	add("Net/Linear[fc]/weight", "prim::GetAttr", []int64{10, 800})
	add("Net/Linear[fc]/bias", "prim::GetAttr", []int64{10})
	add("Net/Linear[fc]/out", "aten::linear", []int64{64, 10}, "Net/flatten", "Net/Linear[fc]/weight",
		"Net/Linear[fc]/bias")
	add("output/y", "IO Node", []int64{64, 10}, "Net/Linear[fc]/out")
	return &g
}
