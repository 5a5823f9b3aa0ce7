package nn

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// prefixHint tells that the names of a state dict are those of the module behind a prefix, as wrappers write them:
// "module." (DataParallel, DistributedDataParallel), "_orig_mod." (torch.compile). It is "" where that is not so.
func prefixHint(own, sd *tensor.StateDict) string {
	keys := own.Keys()
	if len(keys) == 0 {
		return ""
	}
next:
	for name := range sd.All() {
		prefix, ok := strings.CutSuffix(name, "."+keys[0])
		if !ok {
			continue
		}
		for _, k := range keys {
			if !sd.Has(prefix + "." + k) {
				continue next
			}
		}
		return fmt.Sprintf("Every key is there with the prefix %q: load sd.StripPrefix(%[1]q).", prefix+".")
	}
	return ""
}
