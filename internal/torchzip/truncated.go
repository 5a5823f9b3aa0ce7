package torchzip

import (
	"io"
	"strings"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/safezip"
)

// Missing tells how many bytes at least a checkpoint lacks that was cut short. The directory of a zip archive is at its
// end, but torch.save writes the pickle first, and the pickle names the size of each storage. It returns 0 where the
// pickle itself is cut, or where the file is not what torch.save writes.
func Missing(r io.ReaderAt, size int64) int64 {
	h, ok := safezip.ReadLocalHeader(r, size, 0)
	if _, record, _ := strings.Cut(h.Name, "/"); !ok || record != "data.pkl" || h.Method != 0 {
		return 0
	}
	folder, _, _ := strings.Cut(h.Name, "/")
	var names []string
	sizes := map[string]int64{}
	dec := pickle.NewDecoder(io.NewSectionReader(r, h.Data, size-h.Data), pickle.DecodeOptions{
		PersistentLoad: func(id Value) (Value, error) {
			s, _, err := storageID(id, 5, 5)
			if err == nil && s.Location != "meta" {
				name := folder + "/data/" + s.Key
				if _, seen := sizes[name]; !seen {
					names = append(names, name)
				}
				sizes[name] = s.NumBytes()
			}
			return nil, err
		},
	})
	if _, err := dec.Decode(); err != nil {
		return 0
	}
	// What each record takes: its header and padding, and an entry in the directory; at the end there are 98 bytes,
	// with and without zip64. Records of other names are not counted.
	need := h.Data + dec.Offset() + 46 + int64(len(h.Name)) + 98
	for _, name := range names {
		data := (need + 30 + int64(len(name)) + alignment - 1) / alignment * alignment
		if need = data + sizes[name] + 46 + int64(len(name)); need < 0 {
			return 0
		}
	}
	return max(0, need-size)
}
