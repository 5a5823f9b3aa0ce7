package recordcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/internal/progress"
	"github.com/gotorch-dev/torch/recordio"
)

type rec2imOptions struct {
	list     string
	skipBad  bool
	raw      bool
	quiet    bool
	noList   bool
	writeLst string
}

func rec2imCommand() *cobra.Command {
	o := &rec2imOptions{}
	cmd := &cobra.Command{
		Use:   "rec2im FILE.rec FOLDER",
		Short: "Unpack the images of a RecordIO file",
		Long: `rec2im writes each record's image to a file of its own, as it is stored, and a
list beside them. Files are named by their keys in the .idx file, or counted from 0
if there is none, unless --list gives the list the records were made from: then
they get their old names back.

im2rec --pass-through makes the same record file of the folder and the new list.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRec2im(cmd.Context(), args[0], args[1], o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.list, "list", "", "take file names from this list")
	f.StringVar(&o.writeLst, "write-list", "", "write the list here (default FOLDER/FILE.lst)")
	f.BoolVar(&o.noList, "no-list", false, "write no list")
	f.BoolVar(&o.skipBad, "skip-bad", false, "go on behind damaged records")
	f.BoolVar(&o.raw, "raw", false, "write whole records, image header included")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	return cmd
}

// sniff names the extension for a stored image by its first bytes.
func sniff(b []byte) string {
	has := func(at int, s string) bool { return len(b) >= at+len(s) && string(b[at:at+len(s)]) == s }
	switch {
	case has(0, "\xff\xd8\xff"):
		return ".jpg"
	case has(0, "\x89PNG\r\n\x1a\n"):
		return ".png"
	case has(0, "GIF8"):
		return ".gif"
	case has(0, "RIFF") && has(8, "WEBP"):
		return ".webp"
	case has(0, "II*\x00"), has(0, "MM\x00*"):
		return ".tif"
	case has(0, "BM") && len(b) >= 26:
		return ".bmp"
	}
	return ".bin"
}

func runRec2im(ctx context.Context, recPath, dir string, o *rec2imOptions, out, errw io.Writer) error {
	names := map[int]string{}
	if o.list != "" {
		text, err := os.ReadFile(o.list)
		if err != nil {
			return fmt.Errorf("rec2im: %w", err)
		}
		items, bad := recordio.ParseList(string(text))
		for _, b := range bad {
			fmt.Fprintf(errw, "rec2im: %s: %v, left out\n", o.list, b)
		}
		for _, it := range items {
			// A list from elsewhere must not write outside the folder.
			if !filepath.IsLocal(it.Path) {
				return fmt.Errorf("rec2im: %s: path %q leads out of the folder", o.list, it.Path)
			}
			names[it.Index] = it.Path
		}
	}
	var prog *progress.Count
	bad := 0
	r, err := recordio.Open(recPath, recordio.ReaderOptions{SkipBad: o.skipBad, OnBad: func(err error, next int64) {
		bad++
		prog.Note(errw, "rec2im: %v; going on at offset %d", err, next)
	}})
	if err != nil {
		return fmt.Errorf("rec2im: %w", err)
	}
	defer func() { _ = r.Close() }() // only read
	keys, total, err := keysByOffset(recPath)
	if err != nil {
		return fmt.Errorf("rec2im: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("rec2im: %w", err)
	}
	prog = progress.NewCount(errw, "rec2im", 0, total, o.quiet)

	var items []recordio.ListItem
	used := map[string]bool{}
	left := 0
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("rec2im: stopped after %d records: %w", n, err)
		}
		off, _, err := r.Skip()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("rec2im: %w", err)
		}
		rec, err := r.RecordAt(off)
		if err != nil {
			return fmt.Errorf("rec2im: %w", err)
		}
		prog.Add(1)
		key, ok := keys[off]
		if !ok {
			key = n
		}
		h, body, err := recordio.Unpack(rec)
		switch {
		case o.raw:
			body = rec
		case err != nil:
			left++
			prog.Note(errw, "rec2im: record %d at offset %d has no image header, left out (--raw writes it all the "+
				"same)", n, off)
			continue
		}
		name, ok := names[key]
		if !ok {
			name = fmt.Sprintf("%08d%s", key, sniff(body))
		}
		for i := 1; used[name]; i++ { // a key may occur twice
			ext := suffix(filepath.Base(name))
			name = fmt.Sprintf("%s_%d%s", strings.TrimSuffix(name, ext), i, ext)
		}
		used[name] = true
		if err := writeQuick(filepath.Join(dir, name), body); err != nil {
			return fmt.Errorf("rec2im: %w", err)
		}
		it := recordio.ListItem{Index: key, Path: name}
		for _, v := range h.LabelValues() {
			it.Labels = append(it.Labels, float64(v))
		}
		if len(it.Labels) == 0 {
			it.Labels = []float64{0} // a list line needs one
		}
		items = append(items, it)
	}
	if !o.noList {
		lst := o.writeLst
		if lst == "" {
			base := filepath.Base(recPath)
			lst = filepath.Join(dir, strings.TrimSuffix(base, suffix(base))+".lst")
		}
		if err := recordio.WriteList(lst, items); err != nil {
			return fmt.Errorf("rec2im: %w", err)
		}
	}
	fmt.Fprintf(out, "%d images written to %s", len(items), dir)
	if left > 0 {
		fmt.Fprintf(out, ", %d records without an image left out", left)
	}
	if bad > 0 {
		fmt.Fprintf(out, ", %d damaged places passed over", bad)
	}
	fmt.Fprintln(out)
	return nil
}

// keysByOffset reads the index beside a record file, if there is one.
func keysByOffset(recPath string) (map[int64]int, int, error) {
	text, err := os.ReadFile(recordio.IndexPath(recPath))
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	entries, err := recordio.ParseIndex(text)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", recordio.IndexPath(recPath), err)
	}
	m := make(map[int64]int, len(entries))
	for _, e := range entries {
		m[e.Offset] = e.Key
	}
	return m, len(entries), nil
}

// writeQuick renames a finished file into place without forcing it to the disk:
// it can be unpacked again, and a sync per image would take most of the time.
func writeQuick(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, 0o666); err != nil {
		_ = os.Remove(tmp) // the write error says more
		return err
	}
	return os.Rename(tmp, path)
}
