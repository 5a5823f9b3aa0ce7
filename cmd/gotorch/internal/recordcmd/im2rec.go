package recordcmd

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/progress"
	"github.com/gotorch-dev/torch/recordio"
)

type im2recOptions struct {
	list, recursive       bool
	exts                  []string
	chunks                int
	trainRatio, testRatio float64
	shuffle, noShuffle    bool

	passThrough bool
	resize      int
	centerCrop  bool
	quality     int
	numThread   int
	color       int
	encoding    string
	packLabel   bool

	restart, quiet bool
	checkpoint     time.Duration // between two notes of how far the work is
}

func im2recCommand() *cobra.Command {
	o := &im2recOptions{checkpoint: 5 * time.Second}
	cmd := &cobra.Command{
		Use:   "im2rec PREFIX ROOT",
		Short: "Pack a folder of images into RecordIO files",
		Long: `im2rec works in two steps, like the tool of the same name in MXNet.

With --list it looks for images under ROOT and writes PREFIX.lst, one line per
image: index, label and path, separated by tabs. Without --list it reads every
list whose name starts with PREFIX and writes a .rec and an .idx file for each.

The lists have the same lines in the same order as MXNet's. With --pass-through
the .rec and .idx files are byte-identical too; otherwise images are encoded
again, with the same pixels for PNG and other bytes than OpenCV's for JPEG.

An interrupted run leaves .part files; the same command goes on from there.`,
		Example: `  gotorch im2rec data/flowers images/flowers --list --recursive --train-ratio 0.9
  gotorch im2rec data/flowers images/flowers --resize 256 --quality 90 --num-thread 8`,
		Args: func(cmd *cobra.Command, args []string) error {
			// argparse lets --exts take several words; those after the first end up
			// among the arguments here.
			for len(args) > 2 && cmd.Flags().Changed("exts") && strings.HasPrefix(args[len(args)-1], ".") {
				o.exts = append(o.exts, args[len(args)-1])
				args = args[:len(args)-1]
			}
			if len(args) != 2 {
				return fmt.Errorf("im2rec takes PREFIX and ROOT, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runIm2rec(cmd.Context(), args[0], args[1], o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.list, "list", false, "make image lists instead of record files")
	f.StringSliceVar(&o.exts, "exts", []string{".jpeg", ".jpg", ".png"},
		"file extensions to list, separated by commas or spaces")
	f.IntVar(&o.chunks, "chunks", 1, "number of lists to divide the images into")
	f.Float64Var(&o.trainRatio, "train-ratio", 1, "part of the images for training")
	f.Float64Var(&o.testRatio, "test-ratio", 0, "part of the images for testing; what is left is for validation")
	f.BoolVar(&o.recursive, "recursive", false, "descend into folders and give each its own label")
	f.BoolVar(&o.shuffle, "shuffle", true, "shuffle the list (always in the same way)")
	f.BoolVar(&o.noShuffle, "no-shuffle", false, "the same as --shuffle=false")
	f.BoolVar(&o.passThrough, "pass-through", false, "store the files as they are")
	f.IntVar(&o.resize, "resize", 0, "scale the shorter edge to this many pixels; 0 leaves the size alone")
	f.BoolVar(&o.centerCrop, "center-crop", false, "cut out the square in the middle, before scaling")
	f.IntVar(&o.quality, "quality", 95, "JPEG quality, 1 to 100, or PNG compression, 1 to 9")
	f.IntVar(&o.numThread, "num-thread", 1, "images to encode at a time; the order of records does not depend on it")
	f.IntVar(&o.color, "color", 1, "1 loads in colour, 0 in grey, -1 as stored, with transparency")
	f.StringVar(&o.encoding, "encoding", ".jpg", "encoding of the stored images, .jpg or .png")
	f.BoolVar(&o.packLabel, "pack-label", false, "store all labels of a line, not only the first")
	f.BoolVar(&o.restart, "restart", false, "do not continue an interrupted run")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	return cmd
}

func (o *im2recOptions) check() error {
	bad := func(f string, a ...any) error { return fmt.Errorf("im2rec: "+f, a...) }
	switch {
	case o.chunks < 1:
		return bad("--chunks %d, expected 1 or more", o.chunks)
	case !(o.trainRatio >= 0 && o.trainRatio <= 1):
		return bad("--train-ratio %v, expected 0 to 1", o.trainRatio)
	case !(o.testRatio >= 0 && o.testRatio <= 1):
		return bad("--test-ratio %v, expected 0 to 1", o.testRatio)
	case o.trainRatio != 1 && o.trainRatio+o.testRatio > 1+1e-9:
		return bad("--train-ratio %v and --test-ratio %v add up to more than 1", o.trainRatio, o.testRatio)
	case o.resize < 0:
		return bad("--resize %d, expected 0 or more", o.resize)
	case o.numThread < 1:
		return bad("--num-thread %d, expected 1 or more", o.numThread)
	case o.color < -1 || o.color > 1:
		return bad("--color %d, expected -1, 0 or 1", o.color)
	case o.encoding != ".jpg" && o.encoding != ".png":
		return bad("--encoding %q, expected .jpg or .png", o.encoding)
	case o.quality < 1 || o.quality > 100:
		return bad("--quality %d, expected 1 to 100", o.quality)
	}
	return nil
}

func runIm2rec(ctx context.Context, prefix, root string, o *im2recOptions, out, errw io.Writer) error {
	if o.noShuffle {
		o.shuffle = false
	}
	if err := o.check(); err != nil {
		return err
	}
	// A folder given as "x/" names the folder, as after Python's abspath.
	prefix, err := filepath.Abs(prefix)
	if err != nil {
		return fmt.Errorf("im2rec: %w", err)
	}
	if root, err = filepath.Abs(root); err != nil {
		return fmt.Errorf("im2rec: %w", err)
	}
	if o.list {
		return makeLists(prefix, root, o, out, errw)
	}
	lists, err := findLists(prefix)
	if err != nil {
		return err
	}
	for _, l := range lists {
		if err := packList(ctx, l, root, o, out, errw); err != nil {
			return err
		}
	}
	return nil
}

// findLists returns the lists a prefix stands for: files in its folder, or in
// the folder it names, whose names start with it and end in .lst.
func findLists(prefix string) ([]string, error) {
	dir := filepath.Dir(prefix)
	if st, err := os.Stat(prefix); err == nil && st.IsDir() {
		dir = prefix
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("im2rec: %w", err)
	}
	var lists []string
	for _, e := range entries {
		full := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(full, prefix) || !strings.HasSuffix(full, ".lst") {
			continue
		}
		if st, err := os.Stat(full); err == nil && st.Mode().IsRegular() {
			lists = append(lists, full)
		}
	}
	if len(lists) == 0 {
		return nil, fmt.Errorf("im2rec: no list file starts with %s; make one with --list", prefix)
	}
	sort.Strings(lists)
	return lists, nil
}

// encodeItem makes the record of one line: what MXNet's image_encode does.
func encodeItem(root string, it recordio.ListItem, o *im2recOptions) ([]byte, error) {
	if it.Index < 0 {
		return nil, fmt.Errorf("%s: index %d is negative", it.Path, it.Index)
	}
	h := recordio.IRHeader{ID: uint64(it.Index), Label: float32(it.Labels[0])}
	if len(it.Labels) > 1 && o.packLabel {
		for _, v := range it.Labels {
			h.Labels = append(h.Labels, float32(v))
		}
	}
	path := it.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if o.passThrough {
		return recordio.Pack(h, data), nil
	}
	img, err := recordio.DecodeImage(data, recordio.ColorFlag(o.color))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", it.Path, err)
	}
	if o.centerCrop {
		side := min(img.H, img.W)
		img = img.Crop((img.H-side)/2, (img.W-side)/2, side, side)
	}
	if o.resize > 0 {
		h, w := o.resize, img.W*o.resize/img.H
		if img.H > img.W {
			h, w = img.H*o.resize/img.W, o.resize
		}
		// A strip of a few pixels' width would grow without bound.
		if int64(h)*int64(w) > 1<<30 {
			return nil, fmt.Errorf("%s: scaling %dx%d to %dx%d would be too large", it.Path, img.H, img.W, h, w)
		}
		img = img.Resize(h, w)
	}
	b, err := recordio.PackImg(h, img, recordio.ImgOptions{Quality: o.quality, Format: o.encoding})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", it.Path, err)
	}
	return b, nil
}

// state is the note of how far an interrupted run came. It counts lines of the
// list, not records, because images that cannot be read leave no record.
type state struct {
	Task   string `json:"task"` // list and options, hashed
	Done   int    `json:"done"`
	Failed int    `json:"failed"`
	Rec    int64  `json:"rec_bytes"`
	Idx    int64  `json:"idx_bytes"`
}

// task identifies the work: a run may only be continued with the same list, the
// same folder and the same options.
func (o *im2recOptions) task(list []byte, root string) string {
	h := sha256.New()
	fmt.Fprintln(h, root, o.passThrough, o.resize, o.centerCrop, o.quality, o.color, o.encoding, o.packLabel)
	h.Write(list)
	return hex.EncodeToString(h.Sum(nil))
}

// partFile is a record or index file in the making.
type partFile struct {
	f   *os.File
	buf *bufio.Writer
	n   int64
}

func openPart(path string, size int64) (*partFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(size); err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &partFile{f, bufio.NewWriterSize(f, 256<<10), size}, nil
}

func (p *partFile) Write(b []byte) (int, error) {
	n, err := p.buf.Write(b)
	p.n += int64(n)
	return n, err
}

func (p *partFile) sync() error {
	if err := p.buf.Flush(); err != nil {
		return err
	}
	return p.f.Sync()
}

// packList writes the .rec and .idx files of one list.
func packList(ctx context.Context, list, root string, o *im2recOptions, out, errw io.Writer) (err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return fmt.Errorf("im2rec: %w", err)
	}
	items, bad := recordio.ParseList(string(text))
	for _, b := range bad {
		fmt.Fprintf(errw, "im2rec: %s: %v, left out\n", list, b)
	}
	base := strings.TrimSuffix(list, suffix(filepath.Base(list)))
	recPath, idxPath, statePath := base+".rec", base+".idx", base+".rec.state"
	recPart, idxPart := recPath+".part", idxPath+".part"
	fmt.Fprintf(out, "Creating %s from %s\n", recPath, list)

	st := state{Task: o.task(text, root)}
	if old, ok := readState(statePath, recPart, idxPart); ok && !o.restart && old.Task == st.Task &&
		old.Done <= len(items) {
		st = old
		fmt.Fprintf(out, "Continuing after %d of %d images\n", st.Done, len(items))
	}
	rec, err := openPart(recPart, st.Rec)
	if err != nil {
		return fmt.Errorf("im2rec: %w", err)
	}
	defer rec.f.Close()
	idx, err := openPart(idxPart, st.Idx)
	if err != nil {
		return fmt.Errorf("im2rec: %w", err)
	}
	defer idx.f.Close()
	w := recordio.NewIndexedWriter(idx, rec, recordio.WriterOptions{Offset: st.Rec})

	// The note is written after both files are on the disk, so what it says is
	// there even after a power cut.
	save := func() error {
		if err := errors.Join(rec.sync(), idx.sync()); err != nil {
			return err
		}
		st.Rec, st.Idx = rec.n, idx.n
		return atomicfile.Write(statePath, func(w io.Writer) error { return json.NewEncoder(w).Encode(st) })
	}

	bar := progress.NewCount(errw, filepath.Base(recPath), st.Done, len(items), o.quiet)
	last := time.Now()
	results, stop := encodeAll(ctx, root, items[st.Done:], o)
	defer stop()
	for i := st.Done; i < len(items); i++ {
		var r encoded
		select {
		case ch := <-results:
			r = <-ch
		case <-ctx.Done():
			r.err = ctx.Err()
		}
		if ctx.Err() != nil {
			if err := save(); err != nil {
				return fmt.Errorf("im2rec: %w", err)
			}
			return fmt.Errorf("im2rec: stopped after %d of %d images, the same command continues: %w", st.Done,
				len(items), ctx.Err())
		}
		if r.err == nil {
			r.err = w.WriteIdx(items[i].Index, r.record)
			if r.err != nil && !errors.Is(r.err, recordio.ErrTooLarge) {
				return fmt.Errorf("im2rec: %w", r.err) // the disk is full or gone
			}
		}
		if r.err != nil {
			st.Failed++
			bar.Note(errw, "im2rec: %v, left out", r.err)
		}
		st.Done++
		bar.Add(1)
		if time.Since(last) >= o.checkpoint {
			if err := save(); err != nil {
				return fmt.Errorf("im2rec: %w", err)
			}
			last = time.Now()
		}
	}
	if len(items) > 0 && st.Failed == len(items) {
		rec.f.Close()
		idx.f.Close()
		// Nothing in them is worth keeping, and the error below says more than one from here.
		for _, p := range []string{recPart, idxPart, statePath} {
			_ = os.Remove(p)
		}
		return fmt.Errorf("im2rec: none of the %d images of %s could be packed", len(items), list)
	}
	if err := errors.Join(rec.sync(), idx.sync(), rec.f.Close(), idx.f.Close()); err != nil {
		return fmt.Errorf("im2rec: %w", err)
	}
	for _, r := range [][2]string{{recPart, recPath}, {idxPart, idxPath}} {
		if err := os.Rename(r[0], r[1]); err != nil {
			return fmt.Errorf("im2rec: %w", err)
		}
	}
	// Left behind, it would make the next run believe that it continues this one.
	if err := os.Remove(statePath); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("im2rec: %w", err)
	}
	fmt.Fprintf(out, "%s: %d records", recPath, st.Done-st.Failed)
	if st.Failed > 0 {
		fmt.Fprintf(out, ", %d images left out", st.Failed)
	}
	fmt.Fprintln(out)
	return nil
}

// readState reads the note of an interrupted run and makes sure that the files
// hold what it says: the last index entry's record ends where the file is cut.
func readState(path, recPart, idxPart string) (state, bool) {
	var st state
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, &st) != nil || st.Done < 0 || st.Rec < 0 || st.Idx < 0 || st.Rec%4 != 0 {
		return st, false
	}
	text, err := os.ReadFile(idxPart)
	if err != nil || int64(len(text)) < st.Idx {
		return st, false
	}
	entries, err := recordio.ParseIndex(text[:st.Idx])
	if err != nil {
		return st, false
	}
	f, err := os.Open(recPart)
	if err != nil {
		return st, false
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Size() < st.Rec {
		return st, false
	}
	if len(entries) == 0 {
		return st, st.Rec == 0
	}
	r := recordio.NewReaderAt(f, st.Rec)
	if r.SeekTo(entries[len(entries)-1].Offset) != nil {
		return st, false
	}
	if _, _, err := r.Skip(); err != nil {
		return st, false
	}
	return st, r.Tell() == st.Rec
}

type encoded struct {
	record []byte
	err    error
}

// encodeAll encodes items in numThread goroutines and returns their results in
// the order of the list. Only a few are in flight, which bounds the memory.
func encodeAll(ctx context.Context, root string, items []recordio.ListItem, o *im2recOptions) (<-chan chan encoded,
	func()) {
	ctx, cancel := context.WithCancel(ctx)
	type job struct {
		it  recordio.ListItem
		out chan encoded
	}
	jobs := make(chan job)
	queue := make(chan chan encoded, 2*o.numThread)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(jobs)
		for _, it := range items {
			out := make(chan encoded, 1)
			select {
			case queue <- out:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- job{it, out}:
			case <-ctx.Done():
				out <- encoded{err: ctx.Err()}
				return
			}
		}
	})
	for range o.numThread {
		wg.Go(func() {
			for j := range jobs {
				j.out <- safeEncode(root, j.it, o)
			}
		})
	}
	return queue, func() { cancel(); wg.Wait() }
}

// safeEncode turns a panic over one odd image into that image's error.
func safeEncode(root string, it recordio.ListItem, o *im2recOptions) (r encoded) {
	defer func() {
		if p := recover(); p != nil {
			r = encoded{err: fmt.Errorf("%s: %v", it.Path, p)}
		}
	}()
	b, err := encodeItem(root, it, o)
	return encoded{b, err}
}
