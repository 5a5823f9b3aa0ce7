package filecmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/serialize/safetensors"
	"github.com/gotorch-dev/torch/tensor"
)

type convertFlags struct {
	entry, rename, include, exclude []string
	strip, add, dtype               string
	shard                           int
}

func convertCommand() *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Turn a file of weights into another format, dtype or other names",
		Long: "convert reads the weights of a file of any format that inspect knows and writes them as OUT's " +
			"extension says:\n" +
			".pt, .pth, .bin or .th as torch.save does, .safetensors, or .npz. With --shard-size OUT is a folder of\n" +
			"safetensors and their index.\n\nNames are filtered first, then --strip-prefix, --rename and " +
			"--add-prefix apply, " +
			"in this order.",
		Example: "  gotorch convert resnet18.pth resnet18.safetensors --dtype float16\n" +
			"  gotorch convert checkpoint.pt weights.pt --entry state_dict --strip-prefix module. --exclude '^fc\\.'\n" +
			"  gotorch convert bert.bin bert.safetensors --rename 'gamma$=weight' --rename 'beta$=bias'",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			sd, err := f.read(args[0])
			if err != nil {
				return fmt.Errorf("convert: %w", err)
			}
			n, err := f.write(args[1], sd)
			if err != nil {
				return fmt.Errorf("convert: %w", err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s\n", args[1], plural(sd.Len(), "tensor"), size(n))
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.entry, "entry", nil,
		"key under which a checkpoint has the weights; again for one level deeper")
	fl.StringArrayVar(&f.include, "include", nil, "keep names that match a regular expression (several: any of them)")
	fl.StringArrayVar(&f.exclude, "exclude", nil, "leave out names that match a regular expression")
	fl.StringVar(&f.strip, "strip-prefix", "", "cut this off the beginning of names")
	fl.StringArrayVar(&f.rename, "rename", nil, "REGEXP=TEXT: replace what matches in names; $1 is the first group")
	fl.StringVar(&f.add, "add-prefix", "", "put this before all names")
	fl.StringVar(&f.dtype, "dtype", "", "convert floating-point tensors to this dtype, such as float16")
	fl.IntVar(&f.shard, "shard-size", 0, "write a folder of safetensors of at most so many MB each")
	return cmd
}

// compile reads regular expressions.
func compile(flag string, list []string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, s := range list {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		out = append(out, re)
	}
	return out, nil
}

func matches(list []*regexp.Regexp, s string) bool {
	for _, re := range list {
		if re.MatchString(s) {
			return true
		}
	}
	return false
}

// read reads and changes the weights.
func (f *convertFlags) read(path string) (*tensor.StateDict, error) {
	include, err := compile("include", f.include)
	if err != nil {
		return nil, err
	}
	exclude, err := compile("exclude", f.exclude)
	if err != nil {
		return nil, err
	}
	var from []*regexp.Regexp
	var to []string
	for _, s := range f.rename {
		i := strings.LastIndexByte(s, '=')
		if i < 0 {
			return nil, fmt.Errorf("--rename %q: want REGEXP=TEXT", s)
		}
		re, err := compile("rename", []string{s[:i]})
		if err != nil {
			return nil, err
		}
		from, to = append(from, re...), append(to, s[i+1:])
	}
	var dt tensor.DType
	if f.dtype != "" {
		if dt = dtype.Parse(f.dtype); !dt.IsFloat() && !dt.IsComplex() {
			return nil, fmt.Errorf("--dtype %q: want a floating-point or complex dtype, such as float16 or bfloat16",
				f.dtype)
		}
	}
	sd, err := load(path, f.entry, "--entry")
	if err != nil {
		return nil, err
	}
	sd = sd.Filter(func(k string) bool { return (len(include) == 0 || matches(include, k)) && !matches(exclude, k) })
	if sd.Len() == 0 {
		return nil, errors.New("no tensors are left: --include and --exclude leave none, or the file has none")
	}
	if f.strip != "" {
		sd = sd.StripPrefix(f.strip)
	}
	for i, re := range from {
		if sd, err = sd.RenameRegexp(re, to[i]); err != nil {
			return nil, err
		}
	}
	if f.add != "" {
		sd = sd.AddPrefix(f.add)
	}
	if dt != 0 {
		err = tensor.Try(func() {
			for k, t := range sd.All() {
				if t.DType().IsFloat() && dt.IsFloat() || t.DType().IsComplex() && dt.IsComplex() {
					sd.Set(k, t.Detach().To(dt))
				}
			}
		})
	}
	return sd, err
}

// write writes the weights and tells how many bytes of elements they have.
func (f *convertFlags) write(path string, sd *tensor.StateDict) (n int64, err error) {
	for _, t := range sd.All() {
		n += int64(t.Numel()) * int64(t.ElementSize())
	}
	meta := map[string]string{"format": "pt"}
	if f.shard > 0 {
		return n, safetensors.SaveSharded(path, sd, f.shard*1_000_000, meta)
	}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".pt", ".pth", ".bin", ".th":
		return n, serialize.SaveFile(path, sd)
	case ".safetensors":
		return n, safetensors.Save(path, sd, meta)
	case ".npz":
		return n, npy.WriteNPZ(path, false, func(z *npy.NPZWriter) error {
			for k, t := range sd.All() {
				a, err := npy.FromTensor(t)
				if err == nil {
					err = z.Write(k, a)
				}
				if err != nil {
					return fmt.Errorf("%s: %w (--dtype float32 converts it)", k, err)
				}
			}
			return nil
		})
	default:
		return n, fmt.Errorf("%s: unknown extension %q: want .pt, .pth, .bin, .th, .safetensors or .npz", path, ext)
	}
}
