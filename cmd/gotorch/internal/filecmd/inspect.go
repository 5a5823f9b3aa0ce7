package filecmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/recordcmd"
	"github.com/gotorch-dev/torch/internal/filekind"
	"github.com/gotorch-dev/torch/internal/safezip"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/gguf"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/serialize/safetensors"
)

func inspectCommand() *cobra.Command {
	var records, most int
	var skipBad, asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Say what a file holds: weights, checkpoints, arrays, records",
		Long: "inspect says what a file is and what it holds: the keys with dtypes, shapes, sizes and checksums, who " +
			"wrote " +
			"it,\nand what is unusual or unsafe about it. Nothing in the file is run.\n\n" +
			"It knows files of torch.save (of all versions), torch.jit.save, torch.export.save (with inputs, outputs, " +
			"guards\nand operators) and pickle.dump, safetensors and their index, GGUF, npy and npz, and record files " +
			"(.rec, .idx,\n.lst). Of others it says what they are.",
		Example: "  gotorch inspect resnet18.pth\n  gotorch inspect model.safetensors --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if recordcmd.CanInspect(args[0]) {
				if asJSON {
					return errors.New("inspect: record files are not described as JSON")
				}
				return recordcmd.Inspect(cmd.OutOrStdout(), args[0], records, skipBad)
			}
			r, err := describe(args[0])
			if r == nil {
				return fmt.Errorf("inspect: %w", err)
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", " ")
				return errors.Join(e.Encode(r), err)
			}
			r.print(cmd.OutOrStdout(), most)
			if err != nil {
				return fmt.Errorf("inspect: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&records, "records", "n", 5, "of a record file: records to show one by one")
	cmd.Flags().BoolVar(&skipBad, "skip-bad", false, "of a record file: go on behind damaged records")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVar(&most, "lines", 10000, "entries to print at most")
	return cmd
}

// report is what inspect finds out.
type report struct {
	File     string            `json:"file"`
	Kind     string            `json:"kind"`
	Bytes    int64             `json:"bytes"`
	SHA256   string            `json:"sha256,omitempty"`
	Producer map[string]string `json:"producer,omitempty"`
	Tensors  int               `json:"tensors"`
	Numbers  int64             `json:"numbers"` // elements of all tensors
	Entries  []entry           `json:"entries"`
	Program  *program          `json:"program,omitempty"`
	Unusual  []string          `json:"unusual"`
	Unsafe   []string          `json:"unsafe"`
	Error    string            `json:"error,omitempty"`
}

// describe looks at a file. A file that cannot be read as what it is gives a report and an error.
func describe(path string) (*report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return describeFolder(path)
	}
	info := filekind.Of(f, st.Size())
	r := &report{File: path, Kind: info.Kind.String(), Bytes: st.Size(), Producer: map[string]string{},
		Entries: []entry{}, Unusual: []string{}, Unsafe: []string{}}
	if info.Detail != "" {
		r.Kind += " (" + info.Detail + ")"
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, st.Size())); err != nil {
		return nil, err
	}
	r.SHA256 = hex.EncodeToString(sum.Sum(nil))
	switch info.Kind {
	case filekind.Checkpoint, filekind.CheckpointLegacy, filekind.CheckpointTar, filekind.TorchScript, filekind.Pickle:
		r.members(f, st.Size())
		err = r.pickled(path, f, st.Size(), info.Kind)
	case filekind.SafeTensors:
		err = r.safetensors(path)
	case filekind.GGUF:
		err = r.gguf(path)
	case filekind.NPY:
		var a *npy.Array
		if a, err = npy.ReadFile(path); err == nil {
			r.value(nil, a)
		}
	case filekind.NPZ:
		r.members(f, st.Size())
		err = r.npz(path)
	case filekind.JSON:
		err = r.index(path)
	case filekind.ExportedProgram:
		r.members(f, st.Size())
		err = r.exported(path)
	case filekind.ONNX, filekind.TorchPackage, filekind.Zip, filekind.Keras:
		r.members(f, st.Size())
	default:
		if info.Missing > 0 {
			r.Unusual = append(r.Unusual, fmt.Sprintf("%d bytes are missing", info.Missing))
		}
	}
	if err != nil {
		r.Error = err.Error()
	}
	r.finish()
	return r, err
}

// describeFolder looks at the index or the weights in a folder.
func describeFolder(path string) (*report, error) {
	for _, name := range []string{"model.safetensors.index.json", "model.safetensors", "pytorch_model.bin.index.json",
		"pytorch_model.bin"} {
		if _, err := os.Stat(path + "/" + name); err == nil {
			return describe(path + "/" + name)
		}
	}
	return nil, fmt.Errorf("the folder %s holds no weights under the names of Hugging Face", path)
}

// members notes what is unusual about a zip archive, and what its small records say about the writer.
func (r *report) members(f io.ReaderAt, n int64) {
	zr, err := safezip.NewReader(f, n)
	if err != nil {
		return
	}
	compressed := 0
	for _, m := range zr.File {
		if m.Method != 0 {
			compressed++
		}
		_, record, _ := strings.Cut(m.Name, "/")
		switch {
		case record == "version" || record == "byteorder" || record == ".data/serialization_id" ||
			record == ".format_version":
			if rc, err := m.Open(); err == nil {
				b, _ := io.ReadAll(io.LimitReader(rc, 200))
				_ = rc.Close()
				r.Producer[strings.TrimPrefix(record, ".data/")] = strings.TrimSpace(string(b))
			}
		case strings.Contains(m.Name, "..") || strings.HasPrefix(m.Name, "/") || strings.Contains(m.Name, `\`):
			r.Unsafe = append(r.Unsafe, fmt.Sprintf("a member is called %q: a path out of the archive", short(m.Name)))
		case strings.HasPrefix(record, "code/") && strings.HasSuffix(record, ".py"):
			r.Unusual = append(r.Unusual, "holds code: "+short(record))
		}
	}
	if b := r.Producer["byteorder"]; b != "" && b != "little" {
		r.Unusual = append(r.Unusual, "byte order "+b)
	}
	if compressed > 0 {
		r.Unusual = append(r.Unusual, fmt.Sprintf("%d of %d members are compressed: they cannot be mapped into memory",
			compressed, len(zr.File)))
	}
}

func (r *report) pickled(path string, f io.ReaderAt, n int64, kind filekind.Kind) error {
	names, err := globals(f, n, kind)
	for _, g := range names {
		switch danger(g) {
		case runs:
			r.Unsafe = append(r.Unsafe, "refers to "+short(g)+", which can run code: Python's pickle.load would call it")
		case imports:
			r.Unusual = append(r.Unusual, "refers to "+short(g)+", whose code Python would import")
		}
	}
	if err != nil {
		return err
	}
	var v any
	switch kind {
	case filekind.Pickle:
		v, err = serialize.LoadPickle(path, onCPU(nil))
	case filekind.TorchScript:
		sd, err := serialize.LoadStateDict(path, onCPU(nil))
		if err != nil {
			return err
		}
		for k, t := range sd.All() {
			r.value([]string{k}, t)
		}
		return nil
	default:
		v, err = serialize.LoadFile(path, onCPU(nil))
	}
	if err != nil {
		return err
	}
	r.value(nil, v)
	return nil
}

func (r *report) safetensors(path string) error {
	f, err := safetensors.Open(path, safetensors.Options{MMap: true})
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	for _, k := range slices.Sorted(maps.Keys(f.Metadata())) {
		r.Producer[k] = short(f.Metadata()[k])
	}
	for _, x := range f.Tensors() {
		t, err := f.Tensor(x.Name)
		if err == nil {
			r.value([]string{x.Name}, t)
			continue
		}
		b, err := f.Bytes(x.Name)
		if err != nil {
			return err
		}
		r.plain(x.Name, x.DType, x.Shape, x.Size, b)
	}
	return nil
}

func (r *report) gguf(path string) error {
	f, err := gguf.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	r.Producer["version"] = fmt.Sprint(f.Version())
	for _, kv := range f.Metadata() {
		text := fmt.Sprint(kv.Value)
		r.Producer[short(kv.Key)] = short(text)
	}
	for _, x := range f.Tensors() {
		b, err := f.Bytes(x.Name)
		if err != nil {
			return err
		}
		r.plain(x.Name, x.Type, x.Shape, x.Size, b)
	}
	return nil
}

func (r *report) npz(path string) error {
	z, err := npy.OpenNPZ(path)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }() // only read
	for _, name := range z.Names() {
		a, err := z.Read(name)
		if errors.Is(err, npy.ErrObject) {
			r.Unsafe = append(r.Unsafe, fmt.Sprintf("the array %q holds Python objects, which are a pickle",
				short(name)))
			continue
		}
		if err != nil {
			return err
		}
		r.value([]string{name}, a)
	}
	return nil
}

func (r *report) index(path string) error {
	x, err := safetensors.ReadIndex(path)
	if err != nil {
		return nil // another JSON file
	}
	r.Kind = "the index of weights in " + plural(len(x.Files()), "file")
	for _, k := range slices.Sorted(maps.Keys(x.Metadata)) {
		r.Producer[k] = short(fmt.Sprint(x.Metadata[k]))
	}
	sd, err := serialize.LoadStateDict(path, onCPU(nil))
	if err != nil {
		return err
	}
	for k, t := range sd.All() {
		r.value([]string{k}, t)
		r.Entries[len(r.Entries)-1].Note = x.WeightMap[k]
	}
	return nil
}

func short(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return s
}
