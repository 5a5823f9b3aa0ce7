package datasets

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/hub"
	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/safezip"
)

// DownloadOptions are the options of Download.
type DownloadOptions struct {
	// Mirror is an address at which the files lie under their names, instead of the data set's own.
	Mirror string
	// Progress is told of each file how many bytes are there, and of how many (-1 where the server does not say).
	Progress func(file string, done, total int64)
	// Hub are further options: the client and limits.
	Hub hub.DownloadOptions
}

// remote is a file of a data set.
type remote struct {
	address string // where the name is part of it
	md5     string // "" where none is published
	dir     string // where it is put, and unpacked, below the root
	mirrors []string
}

func (r *remote) name() string { return path.Base(r.address) }

// at is a remote in a folder.
func at(dir string, files ...remote) []remote {
	for i := range files {
		files[i].dir = dir
	}
	return files
}

func idx(dir string, mirrors []string, sums ...string) (out []remote) {
	for i, name := range []string{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
		"t10k-images-idx3-ubyte.gz",
		"t10k-labels-idx1-ubyte.gz"} {
		out = append(out, remote{address: mirrors[0] + name, md5: sums[i], dir: dir, mirrors: mirrors[1:]})
	}
	return out
}

// Where several files of a data set lie.
const (
	qmnist = "https://raw.githubusercontent.com/facebookresearch/qmnist/master/"
	gtsrb  = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370/"
)

// remotes are the files of the data sets by name, with the hashes that torchvision knows.
var remotes = map[string][]remote{
	"MNIST": idx("MNIST/raw", []string{"https://ossci-datasets.s3.amazonaws.com/mnist/",
		"http://yann.lecun.com/exdb/mnist/"}, "f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
		"9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"),
	"FashionMNIST": idx("FashionMNIST/raw", []string{"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"},
		"8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe", "bef4ecab320f06d8554ea6380940ec79",
		"bb300cfdad3c16e7a12a480ee83cd310"),
	"KMNIST": idx("KMNIST/raw", []string{"http://codh.rois.ac.jp/kmnist/dataset/kmnist/"},
		"bdb82020997e1d708af4cf47b453dcf7", "e144d726b3acfaa3e44228e80efcd344", "5c965bf0a639b31b8f53240b1b52f4d7",
		"7320c461ea6c1c855c0b718fb2a4b134"),
	"EMNIST": at("EMNIST/raw", remote{address: "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
		md5: "58c8d27c78d21e728a6bc7b3cc06412e"}),
	"QMNIST": at("QMNIST/raw", remote{address: qmnist + "qmnist-train-images-idx3-ubyte.gz",
		md5: "ed72d4157d28c017586c42bc6afe6370"},
		remote{address: qmnist + "qmnist-train-labels-idx2-int.gz", md5: "0058f8dd561b90ffdd0f734c6a30e5e4"},
		remote{address: qmnist + "qmnist-test-images-idx3-ubyte.gz", md5: "1394631089c404de565df7b7aeaf9412"},
		remote{address: qmnist + "qmnist-test-labels-idx2-int.gz", md5: "5b5b05890a5e13444e108efe57b788aa"}),
	"USPS": {{address: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/usps.bz2",
		md5: "ec16c51db3855ca6c91edd34d0e9b197"},
		{address: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/usps.t.bz2",
			md5: "8ea070ee2aca1ac39742fdd1ef5ed118"}},
	"SEMEION": {{address: "http://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data",
		md5: "cb545d371d2ce14ec121470795a77432"}},
	"GTSRB": at("gtsrb", remote{address: gtsrb + "GTSRB-Training_fixed.zip", md5: "513f3c79a4c5141765e10e952eaa2478"},
		remote{address: gtsrb + "GTSRB_Final_Test_Images.zip", md5: "c7e4e6327067d32654124b0fe9e82185"},
		remote{address: gtsrb + "GTSRB_Final_Test_GT.zip", md5: "fe31e9c9270bbcd7b84b7f21a9d9d9e5"}),
	"Omniglot": at("omniglot-py", remote{
		address: "https://raw.githubusercontent.com/brendenlake/omniglot/master/python/images_background.zip",
		md5:     "68d2efa1b9178cc56df9314c21c6e718"}, remote{
		address: "https://raw.githubusercontent.com/brendenlake/omniglot/master/python/images_evaluation.zip",
		md5:     "6b91aef0f799c5bb55b94e3f2daec811"}),
	"CLEVRClassification": at("clevr", remote{address: "https://dl.fbaipublicfiles.com/clevr/CLEVR_v1.0.zip",
		md5: "b11922020e72d0cd9154779b2d3d07d2"}),
	"Kitti": at("Kitti/raw",
		remote{address: "https://s3.eu-central-1.amazonaws.com/avg-kitti/data_object_image_2.zip"},
		remote{address: "https://s3.eu-central-1.amazonaws.com/avg-kitti/data_object_label_2.zip"}),
	"MovingMNIST": at("MovingMNIST", remote{
		address: "http://www.cs.toronto.edu/~nitish/unsupervised_video/mnist_test_seq.npy",
		md5:     "be083ec986bfe91a449d63653c411eb2"}),
	"CIFAR10": {{address: "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
		md5: "c58f30108f718f92721af3b95e74349a"}},
	"CIFAR100": {{address: "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
		md5: "eb9058c3a382ffc7106e4002c42a8d85"}},
	"SBDataset": {{address: "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/semantic_contours/" +
		"benchmark.tgz", md5: "82b4d87ceb2ed10f6038a1cba92111cb"}},
	"SVHN": {{address: "http://ufldl.stanford.edu/housenumbers/train_32x32.mat",
		md5: "e26dedcc434d2e4c54c9b2d4a06d8373"},
		{address: "http://ufldl.stanford.edu/housenumbers/test_32x32.mat", md5: "eb5a983be6a315427106f1b164d9cef3"}},
	"SVHN extra": {{address: "http://ufldl.stanford.edu/housenumbers/extra_32x32.mat",
		md5: "a93ce644f1a588dc4d68dda5feec44a7"}},
	"STL10": {{address: "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
		md5: "91f7769df0f17e558f3565bffb0c7dfb"}},
	"VOC2012": {{address: "https://thor.robots.ox.ac.uk/pascal/VOC/voc2012/VOCtrainval_11-May-2012.tar",
		md5: "6cd6e144f989b92b3379bac3b3de84fd"}},
	"VOC2011": {{address: "https://thor.robots.ox.ac.uk/pascal/VOC/voc2011/VOCtrainval_25-May-2011.tar",
		md5: "6c3384ef61512963050cb5d687e5bf1e"}},
	"VOC2010": {{address: "https://thor.robots.ox.ac.uk/pascal/VOC/voc2010/VOCtrainval_03-May-2010.tar",
		md5: "da459979d0c395079b5c75ee67908abb"}},
	"VOC2009": {{address: "https://thor.robots.ox.ac.uk/pascal/VOC/voc2009/VOCtrainval_11-May-2009.tar",
		md5: "a3e00b113cfcfebf17e343f59da3caa1"}},
	"VOC2008": {{address: "https://thor.robots.ox.ac.uk/pascal/VOC/voc2008/VOCtrainval_14-Jul-2008.tar",
		md5: "2629fa636546599198acfcfbfcf1904a"}},
	"VOC2007": {{address: "https://thor.robots.ox.ac.uk/pascal/VOC/voc2007/VOCtrainval_06-Nov-2007.tar",
		md5: "c52e279531787c972589f7e41ab4ae64"}},
	"VOC2007-test": {{address: "https://thor.robots.ox.ac.uk/pascal/VOC/voc2007/VOCtest_06-Nov-2007.tar",
		md5: "b6e924de25625d8de591ea690078ad9f"}},
	"Food101": {{address: "http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz",
		md5: "85eeb15f3717b99a5da872d97d918f87"}},
	"OxfordIIITPet": at("oxford-iiit-pet",
		remote{address: "https://www.robots.ox.ac.uk/~vgg/data/pets/data/images.tar.gz",
			md5: "5c4f3ee8e5d25df40f4fd59a7f44e54c"},
		remote{address: "https://www.robots.ox.ac.uk/~vgg/data/pets/data/annotations.tar.gz",
			md5: "95a8c909bbe2e81eed6a22bccdf3f68f"}),
	"Flowers102": at("flowers-102", remote{address: "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/102flowers.tgz",
		md5: "52808999861908f626f3c1f4e79d11fa"},
		remote{address: "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/imagelabels.mat",
			md5: "e0620be6f572b9609742df49c70aed4d"},
		remote{address: "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/setid.mat",
			md5: "a5357ecc9cb78c4bef273ce3793fc85c"}),
	"DTD": at("dtd", remote{address: "https://www.robots.ox.ac.uk/~vgg/data/dtd/download/dtd-r1.0.1.tar.gz",
		md5: "fff73e5086ae6bdbea199a49dfb8a4c1"}),
	"FGVCAircraft": {{
		address: "https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/archives/fgvc-aircraft-2013b.tar.gz"}},
	"SUN397": {{address: "http://vision.princeton.edu/projects/2010/SUN/SUN397.tar.gz",
		md5: "8ca2778205c41d23104230ba66911c7a"}},
	"Country211": {{address: "https://openaipublic.azureedge.net/clip/data/country211.tgz",
		md5: "84988d7644798601126c29e9877aab6a"}},
	"RenderedSST2": {{address: "https://openaipublic.azureedge.net/clip/data/rendered-sst2.tgz",
		md5: "2384d08e9dcfa4bd55b324e610496ee5"}},
	"Imagenette full": {{address: "https://s3.amazonaws.com/fast-ai-imageclas/imagenette2.tgz",
		md5: "fe2fc210e6bb7c5664d602c3cd71e612"}},
	"Imagenette 320px": {{address: "https://s3.amazonaws.com/fast-ai-imageclas/imagenette2-320.tgz",
		md5: "3df6f0d01a2c9592104656642f5e78a3"}},
	"Imagenette 160px": {{address: "https://s3.amazonaws.com/fast-ai-imageclas/imagenette2-160.tgz",
		md5: "e793b78cc4c9e9a4ccc0c1155377a412"}},
}

// Downloadable lists the names that Download knows, sorted.
func Downloadable() []string {
	var names []string
	for n := range remotes {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Download fetches the files of a data set to where the function that reads it looks for them below root, and unpacks
// them. A file that is there with the right MD5 is not fetched again; where no hash is published, one that is there is
// taken. A download that is cut goes on where it stopped; what has another hash leaves no file behind.
func Download(ctx context.Context, name, root string, opts ...DownloadOptions) error {
	var o DownloadOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	files, ok := remotes[name]
	if !ok {
		return fmt.Errorf("datasets: no data set %q can be downloaded, but %s", name,
			strings.Join(Downloadable(), ", "))
	}
	for _, f := range files {
		dir := filepath.Join(root, filepath.FromSlash(f.dir))
		file := filepath.Join(dir, f.name())
		if !hasMD5(file, f.md5) {
			if err := f.fetch(ctx, file, o); err != nil {
				return err
			}
		}
		if err := unpack(ctx, file, dir); err != nil {
			return fmt.Errorf("datasets: unpack %s: %w", file, err)
		}
	}
	return nil
}

// fetch downloads a file from the first address that has it.
func (r *remote) fetch(ctx context.Context, file string, o DownloadOptions) error {
	addresses := []string{r.address}
	for _, m := range r.mirrors {
		addresses = append(addresses, m+r.name())
	}
	if o.Mirror != "" {
		addresses = []string{strings.TrimSuffix(o.Mirror, "/") + "/" + r.name()}
	}
	h := o.Hub
	h.MD5 = r.md5
	if o.Progress != nil {
		h.Progress = func(done, total int64) { o.Progress(r.name(), done, total) }
	}
	var all []error
	for _, a := range addresses {
		err := hub.Download(ctx, a, file, h)
		if err == nil || ctx.Err() != nil {
			return err
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// hasMD5 reports whether a file is there with a hash; any has none.
func hasMD5(file, want string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	if want == "" {
		return true
	}
	sum := md5.New() // data sets publish no other hashes; it tells a damaged file, not a forged one
	if _, err := io.Copy(sum, f); err != nil {
		return false
	}
	return hex.EncodeToString(sum.Sum(nil)) == want
}

// unpack unpacks a file by its ending into a folder; other files stay as they are.
func unpack(ctx context.Context, file, dir string) error {
	name := strings.ToLower(filepath.Base(file))
	switch {
	case strings.HasSuffix(name, ".zip"):
		return unzip(ctx, file, dir)
	case strings.HasSuffix(name, ".tar"):
		return untar(ctx, file, dir, false)
	case strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz"):
		return untar(ctx, file, dir, true)
	case strings.HasSuffix(name, ".gz"):
		return gunzip(file, strings.TrimSuffix(file, filepath.Ext(file)))
	}
	return nil
}

// write puts what r gives into a file below dir, whose folders it makes. A file that has the right size is taken for
// one of an earlier time.
func write(ctx context.Context, dir, name string, r io.Reader, size int64) error {
	name = filepath.FromSlash(name)
	if !filepath.IsLocal(name) {
		return fmt.Errorf("the name %q leads out of the folder", name)
	}
	file := filepath.Join(dir, name)
	if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() && st.Size() == size {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(file, func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(r, size))
		if err == nil && n < size {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
}

// untar unpacks the files of an archive; links and devices are left out.
func untar(ctx context.Context, file, dir string, zipped bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	var r io.Reader = f
	if zipped {
		z, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		r = z
	}
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeReg {
			if err := write(ctx, dir, path.Clean(h.Name), t, h.Size); err != nil {
				return err
			}
		}
	}
}

// unzip unpacks the files of an archive. EMNIST's holds a folder of gzipped files, which are unpacked beside it.
func unzip(ctx context.Context, file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	st, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := safezip.NewReader(f, st.Size())
	if err != nil {
		return err
	}
	for _, m := range z.File {
		if !m.Mode().IsRegular() {
			continue
		}
		r, err := m.Open()
		if err != nil {
			return err
		}
		name, size := m.Name, int64(m.UncompressedSize64)
		if strings.HasPrefix(name, "gzip/") && strings.HasSuffix(name, ".gz") {
			name = strings.TrimPrefix(name, "gzip/")
		}
		err = errors.Join(write(ctx, dir, name, r, size), r.Close())
		if err == nil && name != m.Name {
			err = gunzip(filepath.Join(dir, name), strings.TrimSuffix(filepath.Join(dir, name), ".gz"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gunzip unpacks a single file, unless it is there already.
func gunzip(file, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	return atomicfile.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, z)
		return err
	})
}
