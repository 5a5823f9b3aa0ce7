package hub

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/safezip"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// ErrHash is wrapped when a file has another hash than it should.
var ErrHash = errors.New("the hash of the file is wrong")

// DownloadOptions are the options of Download.
type DownloadOptions struct {
	// HashPrefix is the file's SHA-256 or the first digits of it, in hexadecimal. "" checks nothing.
	HashPrefix string
	// MD5 is the file's MD5 in hexadecimal, the only hash that many data sets publish. It tells a damaged file, and not
	// one that somebody has forged. "" checks nothing.
	MD5 string
	// Progress is told how many bytes are there, and of how many (-1 where the server does not say).
	Progress func(done, total int64)
	// Client makes the requests; nil means http.DefaultClient. Timeouts are the business of the context.
	Client *http.Client
	// MaxBytes limits the size of the file; 0 means 100 GB.
	MaxBytes int64
}

// Retries of a request that broke off. Those that brought bytes are not counted, but for the sum of all.
const (
	mostFailures = 4
	mostRequests = 100
)

// pause is the time before the first retry; each further one waits twice as long.
var pause = 200 * time.Millisecond

// Download downloads a file over HTTP or HTTPS. Where the connection breaks off it asks for the rest. The file appears
// under its name when it is complete and has the right hash; otherwise there is an error and no file, and what was
// there before stays. It is torch.hub.download_url_to_file.
func Download(ctx context.Context, address, file string, opts ...DownloadOptions) error {
	var o DownloadOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 100e9
	}
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("hub: %q is no address of HTTP or HTTPS", address)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	err = atomicfile.Write(file, func(w io.Writer) error {
		d := download{DownloadOptions: o, address: address, w: w, sum: sha256.New(), md5: md5.New(), total: -1}
		return d.run(ctx)
	})
	if err != nil {
		return fmt.Errorf("hub: download %s: %w", u.Redacted(), err)
	}
	return nil
}

type download struct {
	DownloadOptions
	address     string
	w           io.Writer
	sum, md5    hash.Hash
	done, total int64
	tag         string // what the server calls this version of the file
}

func (d *download) run(ctx context.Context) error {
	failures := 0
	for range mostRequests {
		before := d.done
		err := d.request(ctx)
		if err == nil {
			return d.check()
		}
		var again retry
		if ctx.Err() != nil || !errors.As(err, &again) {
			return err
		}
		if failures++; d.done > before {
			failures = 0
		}
		if failures >= mostFailures {
			return fmt.Errorf("%d bytes are there: %w", d.done, err)
		}
		select {
		case <-time.After(pause << failures):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("broke off %d times, %d bytes are there", mostRequests, d.done)
}

// retry is an error after which another request may bring the rest.
type retry struct{ error }

func (r retry) Unwrap() error { return r.error }

// request asks for what is not there yet.
func (d *download) request(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "gotorch")
	req.Header.Set("Accept-Encoding", "identity") // else lengths would be those of what is compressed
	if d.done > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.done))
		if d.tag != "" {
			req.Header.Set("If-Range", d.tag)
		}
	}
	resp, err := d.Client.Do(req)
	if err != nil {
		return retry{err}
	}
	defer func() { _ = resp.Body.Close() }() // only read
	skip := int64(0)
	switch code := resp.StatusCode; {
	case code == http.StatusOK && d.done == 0:
		d.tag, d.total = strongTag(resp), resp.ContentLength
	case code == http.StatusOK: // the whole file once more
		if d.HashPrefix == "" && d.MD5 == "" && (d.tag == "" || strongTag(resp) != d.tag) {
			return errors.New("broke off, and the server does not send the rest, or has another file by now")
		}
		skip = d.done
	case code == http.StatusPartialContent:
		if from, ok := contentRange(resp.Header.Get("Content-Range")); !ok || from != d.done {
			return fmt.Errorf("asked for the bytes from %d on, got %q", d.done, resp.Header.Get("Content-Range"))
		}
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return retry{fmt.Errorf("the server answers %s", resp.Status)}
	default:
		return fmt.Errorf("the server answers %s", resp.Status)
	}
	if d.total > d.MaxBytes {
		return fmt.Errorf("the file has %d bytes, at most %d are allowed", d.total, d.MaxBytes)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, skip); err != nil {
		return retry{err}
	}
	if err := d.copy(resp.Body); err != nil {
		return err
	}
	if d.total >= 0 && d.done < d.total {
		return retry{fmt.Errorf("%w: %d of %d bytes", io.ErrUnexpectedEOF, d.done, d.total)}
	}
	if d.total >= 0 && d.done > d.total {
		return fmt.Errorf("%d bytes, %d were announced", d.done, d.total)
	}
	return nil
}

// copy takes over the body; an error of the connection is a reason to retry, one of the disk is not.
func (d *download) copy(body io.Reader) error {
	buf := make([]byte, 1<<16)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if d.done+int64(n) > d.MaxBytes {
				return fmt.Errorf("more than %d bytes", d.MaxBytes)
			}
			if _, err := d.w.Write(buf[:n]); err != nil {
				return err
			}
			d.sum.Write(buf[:n])
			d.md5.Write(buf[:n])
			d.done += int64(n)
			if d.Progress != nil {
				d.Progress(d.done, d.total)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return retry{err}
		}
	}
}

func (d *download) check() error {
	got := hex.EncodeToString(d.sum.Sum(nil))
	if !strings.HasPrefix(got, strings.ToLower(d.HashPrefix)) {
		return fmt.Errorf("%w: expected %q, got %q", ErrHash, d.HashPrefix, got)
	}
	if got := hex.EncodeToString(d.md5.Sum(nil)); d.MD5 != "" && !strings.EqualFold(got, d.MD5) {
		return fmt.Errorf("%w: expected the MD5 %q, got %q", ErrHash, d.MD5, got)
	}
	return nil
}

// strongTag is the ETag of a file, "" where it only promises something similar.
func strongTag(r *http.Response) string {
	if tag := r.Header.Get("ETag"); !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return ""
}

// contentRange reads the first position of "bytes 5-9/10".
func contentRange(s string) (int64, bool) {
	s, ok := strings.CutPrefix(s, "bytes ")
	from, _, ok2 := strings.Cut(s, "-")
	n, err := strconv.ParseInt(from, 10, 64)
	return n, ok && ok2 && err == nil
}

// LoadOptions are the options of LoadStateDictFromURL.
type LoadOptions struct {
	DownloadOptions
	// Load are the options with which the file is read.
	Load serialize.LoadOptions
	// Dir is the folder for the file; "" means "checkpoints" in the cache.
	Dir string
	// FileName is the name of the file; "" means the last part of the address.
	FileName string
	// CheckHash takes the first digits of the hash from the name, "resnet18-f37072fd.pth", unless HashPrefix is given.
	CheckHash bool
}

// hashInName is PyTorch's convention.
var hashInName = regexp.MustCompile(`-([a-f0-9]*)\.`)

// LoadStateDictFromURL reads weights, which it downloads unless the cache has them: those of the same file name, which
// is checked only where a hash is given. The file may have any format that serialize.LoadStateDict reads, or be a zip
// archive of one such file.
// https://pytorch.org/docs/stable/hub.html#torch.hub.load_state_dict_from_url
func LoadStateDictFromURL(ctx context.Context, address string, opts ...LoadOptions) (*tensor.StateDict, error) {
	var o LoadOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	file, err := cached(ctx, address, o)
	if err != nil {
		return nil, err
	}
	return loadStateDict(file, o.Load)
}

// loadStateDict reads weights from a file, or from the file in a zip archive of one.
func loadStateDict(file string, o serialize.LoadOptions) (*tensor.StateDict, error) {
	file, err := unzipped(file)
	if err != nil {
		return nil, err
	}
	return serialize.LoadStateDict(file, o)
}

// unzipped is the file itself, or, where it is a zip archive of a single file, which is how weights were published
// before PyTorch 1.6, that file, which is put beside it.
func unzipped(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("hub: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	st, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("hub: %w", err)
	}
	z, err := safezip.NewReader(f, st.Size())
	if err != nil {
		return file, nil // no archive, or one that serialize says more about
	}
	if len(z.File) == 1 && z.File[0].Mode().IsRegular() {
		m := z.File[0]
		name := path.Base(m.Name)
		if path.Ext(name) == ".npy" || name == "data.pkl" || !filepath.IsLocal(name) {
			return file, nil // an .npz file, or a checkpoint
		}
		r, err := m.Open()
		if err != nil {
			return "", fmt.Errorf("hub: %s: %w", file, err)
		}
		to := filepath.Join(filepath.Dir(file), name)
		if to == file {
			return "", fmt.Errorf("hub: %s is an archive of a file of the same name", file)
		}
		err = atomicfile.Write(to, func(w io.Writer) error {
			_, err := io.Copy(w, io.LimitReader(r, int64(m.UncompressedSize64)))
			return err
		})
		return to, errors.Join(err, r.Close())
	}
	for _, m := range z.File { // checkpoints of later versions, and arrays
		if name := path.Base(m.Name); name == "data.pkl" || path.Ext(name) == ".npy" {
			return file, nil
		}
	}
	return "", fmt.Errorf("hub: %s: Only one file(not dir) is allowed in the zipfile, this one has %d", file,
		len(z.File))
}

// cached is the path of a file in the cache, to which it is downloaded where it is not there or has another hash.
func cached(ctx context.Context, address string, o LoadOptions) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("hub: %w", err)
	}
	name := o.FileName
	if name == "" {
		name = path.Base(u.Path)
	}
	if !filepath.IsLocal(name) || name != filepath.Base(name) || name == "." {
		return "", fmt.Errorf("hub: %q gives no name for a file, but %q", address, name)
	}
	dir := o.Dir
	if dir == "" {
		if dir, err = checkpoints(); err != nil {
			return "", fmt.Errorf("hub: %w", err)
		}
	}
	if o.CheckHash && o.HashPrefix == "" {
		if m := hashInName.FindStringSubmatch(name); m != nil {
			o.HashPrefix = m[1]
		}
	}
	file := filepath.Join(dir, name)
	if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() && hasHash(file, o.HashPrefix) {
		return file, nil
	}
	return file, Download(ctx, address, file, o.DownloadOptions)
}

// hasHash reports whether a file has a hash; every file has the empty one.
func hasHash(file, prefix string) bool {
	if prefix == "" {
		return true
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return false
	}
	return strings.HasPrefix(hex.EncodeToString(sum.Sum(nil)), strings.ToLower(prefix))
}
