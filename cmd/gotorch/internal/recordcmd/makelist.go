package recordcmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/pyrand"
	"github.com/gotorch-dev/torch/recordio"
)

// suffix is Python's os.path.splitext(name)[1]: the last dot starts the
// extension, unless only dots stand before it.
func suffix(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || strings.Trim(name[:i], ".") == "" {
		return ""
	}
	return name[i:]
}

// listImages finds the pictures under root in im2rec's order: the files of a
// folder by name, then its folders by name. With recursive every folder that
// holds pictures is a class, numbered in the order of discovery.
func listImages(root string, recursive bool, exts []string, warn func(string, ...any)) (items []recordio.ListItem,
	classes []string, err error) {
	var walk func(rel string, above []os.FileInfo) error
	walk = func(rel string, above []os.FileInfo) error {
		dir := filepath.Join(root, rel)
		entries, err := os.ReadDir(dir) // sorted by name, as bytes: Python's order
		if err != nil {
			return err
		}
		label := -1
		var subs []string
		for _, e := range entries {
			full := filepath.Join(dir, e.Name())
			st, err := os.Stat(full) // follows links, like os.walk(followlinks=True)
			if err != nil {
				continue
			}
			if st.IsDir() {
				subs = append(subs, e.Name())
				continue
			}
			if !st.Mode().IsRegular() || !slices.Contains(exts, strings.ToLower(suffix(e.Name()))) {
				continue
			}
			if label < 0 {
				label = 0
				if recursive {
					label = len(classes)
				}
				classes = append(classes, filepath.Clean(rel))
			}
			path := filepath.Join(rel, e.Name())
			if strings.ContainsAny(path, "\t\r\n") {
				warn("%q: a tab or line break in the name, left out", path)
				continue
			}
			items = append(items, recordio.ListItem{Index: len(items), Labels: []float64{float64(label)}, Path: path})
		}
		if !recursive {
			return nil
		}
		for _, s := range subs {
			st, err := os.Stat(filepath.Join(dir, s))
			if err != nil {
				continue
			}
			// A link to a folder above would go round for ever.
			if slices.ContainsFunc(above, func(a os.FileInfo) bool { return os.SameFile(a, st) }) {
				warn("%s: links to a folder above it, left out", filepath.Join(rel, s))
				continue
			}
			if err := walk(filepath.Join(rel, s), append(above[:len(above):len(above)], st)); err != nil {
				warn("%v, left out", err)
			}
		}
		return nil
	}
	st, err := os.Stat(root)
	if err != nil {
		return nil, nil, err
	}
	err = walk("", []os.FileInfo{st})
	return items, classes, err
}

// makeLists writes the list or lists: shuffled with Python's random.seed(100),
// cut into chunks and each of these into train, validation and test parts.
func makeLists(prefix, root string, o *im2recOptions, out, errw io.Writer) error {
	warn := func(f string, a ...any) { fmt.Fprintf(errw, "im2rec: "+f+"\n", a...) }
	items, classes, err := listImages(root, o.recursive, o.exts, warn)
	if err != nil {
		return fmt.Errorf("im2rec: %w", err)
	}
	if o.recursive {
		for i, c := range classes {
			fmt.Fprintln(out, c, i)
		}
	}
	if len(items) == 0 {
		warn("no file under %s ends in %s", root, strings.Join(o.exts, " "))
	}
	if o.shuffle {
		pyrand.New(100).Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	cut := func(s []recordio.ListItem, from, to int) []recordio.ListItem {
		from, to = min(from, len(s)), min(to, len(s))
		return s[from:max(from, to)]
	}
	size := (len(items) + o.chunks - 1) / o.chunks
	for i := range o.chunks {
		chunk := cut(items, i*size, (i+1)*size)
		name := prefix
		if o.chunks > 1 {
			name += fmt.Sprintf("_%d", i)
		}
		// Sizes come from the nominal chunk, so the last one's parts may be short.
		train, test := int(float64(size)*o.trainRatio), int(float64(size)*o.testRatio)
		parts := map[string][]recordio.ListItem{".lst": chunk}
		if o.trainRatio != 1 {
			parts = map[string][]recordio.ListItem{"_train.lst": cut(chunk, test, test+train)}
			if o.testRatio != 0 {
				parts["_test.lst"] = cut(chunk, 0, test)
			}
			if o.trainRatio+o.testRatio < 1 {
				parts["_val.lst"] = cut(chunk, test+train, len(chunk))
			}
		}
		for ext, p := range parts {
			if err := recordio.WriteList(name+ext, p); err != nil {
				return fmt.Errorf("im2rec: %w", err)
			}
		}
	}
	return nil
}
