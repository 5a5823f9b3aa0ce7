package recordcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/recordio"
)

// run executes one of the package's commands and returns what it printed.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	root := &cobra.Command{Use: "gotorch", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(Commands()...)
	root.AddCommand(inspectCommand())
	var o, e bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&e)
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

// inspectCommand is the part of gotorch inspect that is this package's.
func inspectCommand() *cobra.Command {
	var records int
	var skipBad bool
	cmd := &cobra.Command{Use: "inspect", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return Inspect(cmd.OutOrStdout(), args[0], records, skipBad)
		}}
	cmd.Flags().IntVarP(&records, "records", "n", 5, "")
	cmd.Flags().BoolVar(&skipBad, "skip-bad", false, "")
	return cmd
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	o, e, err := run(t, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, o, e)
	}
	return o
}

// tree builds the folder that testdata/gen.py has described.
func tree(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the folder needs names that differ in case only")
	}
	text, err := os.ReadFile("testdata/tree.txt")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, n := range strings.Fields(strings.ReplaceAll(string(text), " ", "\x00")) {
		n = strings.ReplaceAll(n, "\x00", " ")
		p := filepath.Join(root, n)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(n), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func same(t *testing.T, got, want string) {
	t.Helper()
	g, gerr := os.ReadFile(got)
	w, werr := os.ReadFile(want)
	if gerr != nil || werr != nil || !bytes.Equal(g, w) {
		t.Errorf("%s differs from %s (%v, %v)\n got %.300q\nwant %.300q", got, want, gerr, werr, g, w)
	}
}

func TestListLikePython(t *testing.T) {
	root := tree(t)
	cases := []struct {
		prefix string
		args   []string
		want   map[string]string
	}{
		{"flat", nil, map[string]string{"flat.lst": "flat.want"}},
		{"r", []string{"--recursive"}, map[string]string{"r.lst": "rec.want"}},
		{"s", []string{"--recursive", "--no-shuffle"}, map[string]string{"s.lst": "rec_sorted.want"}},
		{"s2", []string{"--recursive", "--shuffle=false"}, map[string]string{"s2.lst": "rec_sorted.want"}},
		{"e", []string{"--recursive", "--exts", ".png", ".bmp"}, map[string]string{"e.lst": "exts.want"}},
		{"e2", []string{"--recursive", "--exts=.png,.bmp"}, map[string]string{"e2.lst": "exts.want"}},
		{"p", []string{"--recursive", "--chunks", "3", "--train-ratio", "0.6", "--test-ratio", "0.25"},
			map[string]string{
				"p_0_train.lst": "parts_0_train.want", "p_0_test.lst": "parts_0_test.want",
				"p_0_val.lst":   "parts_0_val.want",
				"p_1_train.lst": "parts_1_train.want", "p_1_test.lst": "parts_1_test.want",
				"p_1_val.lst":   "parts_1_val.want",
				"p_2_train.lst": "parts_2_train.want", "p_2_test.lst": "parts_2_test.want",
				"p_2_val.lst": "parts_2_val.want",
			}},
	}
	for _, c := range cases {
		t.Run(c.prefix, func(t *testing.T) {
			dir := t.TempDir()
			mustRun(t, append([]string{"im2rec", filepath.Join(dir, c.prefix), root, "--list"}, c.args...)...)
			for got, want := range c.want {
				same(t, filepath.Join(dir, got), filepath.Join("testdata", want))
			}
			if files, _ := os.ReadDir(dir); len(files) != len(c.want) {
				t.Errorf("files: %v", files)
			}
		})
	}
}

func TestPassThroughBytes(t *testing.T) {
	root := tree(t)
	for _, threads := range []string{"1", "4"} {
		dir := t.TempDir()
		prefix := filepath.Join(dir, "x")
		mustRun(t, "im2rec", prefix, root, "--list", "--recursive")
		mustRun(t, "im2rec", prefix, root, "--pass-through", "--num-thread", threads)
		same(t, prefix+".rec", "testdata/rec.rec.want")
		same(t, prefix+".idx", "testdata/rec.idx.want")

		// And back: the files under their old names, then the same record file.
		back := filepath.Join(dir, "back")
		mustRun(t, "rec2im", prefix+".rec", back, "--list", prefix+".lst")
		same(t, filepath.Join(back, "cats", "inner", "deep.jpg"), filepath.Join(root, "cats", "inner", "deep.jpg"))
		mustRun(t, "im2rec", filepath.Join(back, "x"), back, "--pass-through")
		same(t, filepath.Join(back, "x.rec"), "testdata/rec.rec.want")
		same(t, filepath.Join(back, "x.lst"), prefix+".lst")
	}
}

// pictures writes n small PNG files of growing size and their list.
func pictures(t *testing.T, n int) (prefix, root string) {
	t.Helper()
	root, prefix = t.TempDir(), filepath.Join(t.TempDir(), "p")
	var items []recordio.ListItem
	for i := range n {
		m := recordio.NewImage(20+i, 30, 4)
		for k := range m.Pix {
			m.Pix[k] = uint8(i*7 + k)
		}
		b, err := recordio.EncodeImage(m, recordio.ImgOptions{Format: ".png"})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%d.png", i)
		if err := os.WriteFile(filepath.Join(root, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
		items = append(items, recordio.ListItem{Index: i, Labels: []float64{float64(i), 0.5}, Path: name})
	}
	if err := recordio.WriteList(prefix+".lst", items); err != nil {
		t.Fatal(err)
	}
	return prefix, root
}

func TestEncodeOptions(t *testing.T) {
	prefix, root := pictures(t, 3)
	cases := []struct {
		args    []string
		h, w, c int // of picture 2, which is 22 x 30 x 4
		labels  int
		magic   string
	}{
		{nil, 22, 30, 3, 0, "\xff\xd8"},
		{[]string{"--encoding", ".png"}, 22, 30, 3, 0, "\x89PNG"},
		{[]string{"--encoding", ".png", "--color", "-1"}, 22, 30, 4, 0, "\x89PNG"},
		{[]string{"--encoding", ".png", "--color=0"}, 22, 30, 1, 0, "\x89PNG"},
		{[]string{"--center-crop"}, 22, 22, 3, 0, "\xff\xd8"},
		{[]string{"--resize", "11"}, 11, 15, 3, 0, "\xff\xd8"},
		{[]string{"--resize", "10", "--center-crop", "--pack-label", "--num-thread", "3"}, 10, 10, 3, 2, "\xff\xd8"},
		{[]string{"--quality", "10", "--pass-through"}, 22, 30, 4, 0, "\x89PNG"},
	}
	for _, c := range cases {
		mustRun(t, append([]string{"im2rec", prefix, root}, c.args...)...)
		r, err := recordio.OpenIndexed(prefix+".idx", prefix+".rec")
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.ReadIdx(2)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		h, img, err := recordio.UnpackImg(b)
		_, body, _ := recordio.Unpack(b)
		if err != nil || img.H != c.h || img.W != c.w || img.C != c.c || len(h.Labels) != c.labels ||
			h.LabelValues()[0] != 2 || !strings.HasPrefix(string(body), c.magic) {
			t.Errorf("%v: header %+v, image %d x %d x %d, %v", c.args, h, img.H, img.W, img.C, err)
		}
	}
	if files, _ := os.ReadDir(filepath.Dir(prefix)); len(files) != 3 {
		t.Errorf("left behind: %v", files)
	}
}

func TestUnreadableImagesAreLeftOut(t *testing.T) {
	prefix, root := pictures(t, 4)
	os.WriteFile(filepath.Join(root, "1.png"), []byte("no picture"), 0o666)
	os.Remove(filepath.Join(root, "2.png"))
	out, errs, err := run(t, "im2rec", prefix, root, "--num-thread", "2")
	if err != nil || !strings.Contains(out, "2 records, 2 images left out") || !strings.Contains(errs, "1.png") ||
		!strings.Contains(errs, "2.png") {
		t.Errorf("%v\n%s%s", err, out, errs)
	}
	r, err := recordio.OpenIndexed(prefix+".idx", prefix+".rec")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !slices.Equal(r.Keys(), []int{0, 3}) || r.Verify() != nil {
		t.Errorf("keys %v, %v", r.Keys(), r.Verify())
	}
	for i := range 4 {
		os.Remove(filepath.Join(root, fmt.Sprintf("%d.png", i)))
	}
	if _, _, err := run(t, "im2rec", prefix, root); err == nil || !strings.Contains(err.Error(), "none of the 4") {
		t.Errorf("nothing readable: %v", err)
	}
}

// stopAfter ends a run at its n-th warning, which is a known place in the list.
type stopAfter struct {
	cancel context.CancelFunc
	n      int
}

func (s *stopAfter) Write(p []byte) (int, error) {
	if s.n--; s.n == 0 {
		s.cancel()
	}
	return len(p), nil
}

func TestResume(t *testing.T) {
	prefix, root := pictures(t, 40)
	// Every second image is missing: its warning counts the progress.
	for i := 1; i < 40; i += 2 {
		os.Remove(filepath.Join(root, fmt.Sprintf("%d.png", i)))
	}
	mustRun(t, "im2rec", prefix, root)
	want, err := os.ReadFile(prefix + ".rec")
	if err != nil {
		t.Fatal(err)
	}
	wantIdx, _ := os.ReadFile(prefix + ".idx")
	clean := func() { os.Remove(prefix + ".rec"); os.Remove(prefix + ".idx") }

	opts := func() *im2recOptions {
		return &im2recOptions{chunks: 1, trainRatio: 1, quality: 95, numThread: 2, color: 1, encoding: ".jpg",
			checkpoint: time.Nanosecond}
	}
	interrupt := func(n int) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		err := runIm2rec(ctx, prefix, root, opts(), &bytes.Buffer{}, &stopAfter{cancel, n})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted run: %v", err)
		}
		if _, err := os.Stat(prefix + ".rec"); err == nil {
			t.Fatal("an unfinished file under its final name")
		}
	}
	check := func(what string, continues bool) {
		t.Helper()
		out := mustRun(t, "im2rec", prefix, root)
		got, _ := os.ReadFile(prefix + ".rec")
		gotIdx, _ := os.ReadFile(prefix + ".idx")
		if !bytes.Equal(got, want) || !bytes.Equal(gotIdx, wantIdx) {
			t.Errorf("%s: other files than an uninterrupted run", what)
		}
		if strings.Contains(out, "Continuing after") != continues {
			t.Errorf("%s: continued %v\n%s", what, !continues, out)
		}
		if files, _ := os.ReadDir(filepath.Dir(prefix)); len(files) != 3 {
			t.Errorf("%s: left behind %v", what, files)
		}
	}

	clean()
	interrupt(4)
	check("once", true)

	clean()
	interrupt(3)
	interrupt(5)
	check("twice", true)

	// What a crash leaves behind the noted sizes does not matter.
	clean()
	interrupt(5)
	for _, ext := range []string{".rec.part", ".idx.part"} {
		f, err := os.OpenFile(prefix+ext, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("half a reco")
		f.Close()
	}
	check("torn end", true)

	// Damaged notes and parts mean starting again.
	clean()
	interrupt(5)
	os.WriteFile(prefix+".rec.state", []byte("{"), 0o666)
	check("damaged note", false)
	clean()
	interrupt(5)
	os.Truncate(prefix+".rec.part", 100)
	check("cut part", false)

	// So does another option, which would have made other records.
	clean()
	interrupt(5)
	out := mustRun(t, "im2rec", prefix, root, "--quality", "50")
	if strings.Contains(out, "Continuing") {
		t.Error("a run with other options was continued")
	}
	clean()
	interrupt(5)
	if out := mustRun(t, "im2rec", prefix, root, "--restart"); strings.Contains(out, "Continuing") {
		t.Error("--restart continued")
	}
}

func TestLinkLoopEnds(t *testing.T) {
	root := t.TempDir()
	os.MkdirAll(filepath.Join(root, "a", "b"), 0o777)
	os.WriteFile(filepath.Join(root, "a", "b", "1.jpg"), nil, 0o666)
	if err := os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "a", "b", "up")); err != nil {
		t.Skip(err)
	}
	prefix := filepath.Join(t.TempDir(), "x")
	_, errs, err := run(t, "im2rec", prefix, root, "--list", "--recursive")
	if b, _ := os.ReadFile(prefix + ".lst"); err != nil || strings.Count(string(b), "\n") != 1 ||
		!strings.Contains(errs, "links to a folder above") {
		t.Errorf("%v %q %s", err, b, errs)
	}
}

func TestSeveralLists(t *testing.T) {
	prefix, root := pictures(t, 4)
	text, _ := os.ReadFile(prefix + ".lst")
	lines := strings.SplitAfter(string(text), "\n")
	os.WriteFile(prefix+"_train.lst", []byte(lines[0]+"broken line\n"+lines[1]), 0o666)
	os.WriteFile(filepath.Join(filepath.Dir(prefix), "other.lst"), []byte(lines[2]), 0o666)
	os.Remove(prefix + ".lst")
	_, errs, err := run(t, "im2rec", prefix, root)
	if err != nil || !strings.Contains(errs, "line 2") {
		t.Errorf("%v\n%s", err, errs)
	}
	r, err := recordio.OpenIndexed(prefix+"_train.idx", prefix+"_train.rec")
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if r.Len() != 2 {
		t.Errorf("%d records", r.Len())
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(prefix), "other.rec")); err == nil {
		t.Error("a list of another prefix was packed")
	}
	// A folder as prefix means all of its lists.
	mustRun(t, "im2rec", filepath.Dir(prefix), root)
	if _, err := os.Stat(filepath.Join(filepath.Dir(prefix), "other.rec")); err != nil {
		t.Error(err)
	}
}

func TestBadFlags(t *testing.T) {
	for _, c := range []struct{ args, text string }{
		{"--chunks 0", "--chunks 0"}, {"--train-ratio 1.5", "--train-ratio 1.5"},
		{"--train-ratio 0.8 --test-ratio 0.3", "add up"},
		{"--test-ratio -1", "--test-ratio"}, {"--resize -1", "--resize"}, {"--num-thread 0", "--num-thread"},
		{"--color 2", "--color 2"},
		{"--encoding .gif", ".gif"}, {"--quality 0", "--quality 0"}, {"extra", "3 arguments"},
	} {
		_, _, err := run(t, append([]string{"im2rec", "p", "r"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
	if _, _, err := run(t, "im2rec", filepath.Join(t.TempDir(), "none"), "r"); err == nil ||
		!strings.Contains(err.Error(), "--list") {
		t.Errorf("no list: %v", err)
	}
}

func TestRec2imAndInspect(t *testing.T) {
	prefix, root := pictures(t, 3)
	mustRun(t, "im2rec", prefix, root, "--pass-through")
	dir := filepath.Join(t.TempDir(), "out")
	mustRun(t, "rec2im", prefix+".rec", dir)
	same(t, filepath.Join(dir, "00000002.png"), filepath.Join(root, "2.png"))

	// A list that leads elsewhere is refused.
	evil := filepath.Join(t.TempDir(), "evil.lst")
	os.WriteFile(evil, []byte("0\t0\t../../x.png\n"), 0o666)
	if _, _, err := run(t, "rec2im", prefix+".rec", dir, "--list", evil); err == nil ||
		!strings.Contains(err.Error(), "leads out") {
		t.Errorf("path out of the folder: %v", err)
	}

	out := mustRun(t, "inspect", prefix+".rec", "-n", "1")
	for _, want := range []string{"records: 3", "record 0 at offset 0: id 0 label [0], png 30 x 20", "png: 3",
		"labels: 3 different 0:1 1:1 2:1", "every entry points at a record"} {
		if !strings.Contains(out, want) {
			t.Errorf("inspect: no %q in\n%s", want, out)
		}
	}
	if out := mustRun(t, "inspect", prefix+".lst"); !strings.Contains(out, "3 images, 3 different") {
		t.Errorf("inspect list: %s", out)
	}
	if out := mustRun(t, "inspect", prefix+".idx"); !strings.Contains(out, "3 entries, keys 0 to 2") {
		t.Errorf("inspect index: %s", out)
	}

	// Damage the second record.
	b, _ := os.ReadFile(prefix + ".rec")
	r, _ := recordio.OpenIndexed(prefix+".idx", prefix+".rec")
	off, _ := r.Offset(1)
	r.Close()
	b[off] ^= 0xff
	os.WriteFile(prefix+".rec", b, 0o666)
	want := fmt.Sprintf("offset %d", off)
	if out, _, err := run(t, "inspect", prefix+".rec"); err == nil || !strings.Contains(err.Error(), want) ||
		!strings.Contains(out, "records: 1") {
		t.Errorf("inspect: %v\n%s", err, out)
	}
	if _, _, err := run(t, "rec2im", prefix+".rec", dir+"2"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("rec2im: %v", err)
	}
	os.Remove(prefix + ".idx")
	if out := mustRun(t, "rec2im", "--skip-bad", prefix+".rec", dir+"3"); !strings.Contains(out, "2 images") ||
		!strings.Contains(out, "1 damaged") {
		t.Errorf("rec2im --skip-bad: %s", out)
	}
	if out := mustRun(t, "inspect", "--skip-bad", prefix+".rec"); !strings.Contains(out, "records: 2") ||
		!strings.Contains(out, "damaged") {
		t.Errorf("inspect --skip-bad: %s", out)
	}
}

func TestSuffix(t *testing.T) {
	for in, want := range map[string]string{"a.jpg": ".jpg", ".jpg": "", "..jpg": "", "a.b.c": ".c", "a": "", "a.": ".",
		"": "", "..a.b": ".b"} {
		if got := suffix(in); got != want {
			t.Errorf("suffix(%q) = %q, want %q", in, got, want)
		}
	}
}
