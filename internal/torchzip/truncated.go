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
	need, seen := h.Data, map[string]bool{}
	dec := pickle.NewDecoder(io.NewSectionReader(r, h.Data, size-h.Data), pickle.DecodeOptions{
		PersistentLoad: func(id Value) (Value, error) {
			s, _, err := storageID(id, 5, 5)
			if err == nil && !seen[s.Key] && s.Location != "meta" {
				seen[s.Key] = true
				if need += s.NumBytes(); need < 0 {
					err = formatErr("storages of more bytes than can be counted")
				}
			}
			return nil, err
		},
	})
	if _, err := dec.Decode(); err != nil {
		return 0
	}
	return max(0, need+dec.Offset()-size)
}
