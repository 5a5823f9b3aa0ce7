package mem

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// systemMemory is the machine's memory and swap, or less where a control group or a resource limit says so.
func systemMemory() int {
	most := uint64(math.MaxInt)
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) == nil {
		most = min(most, (uint64(s.Totalram)+uint64(s.Totalswap))*uint64(max(s.Unit, 1)))
	}
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &r) == nil {
		most = min(most, r.Cur)
	}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	return int(min(most, groupLimit(string(groups), "/sys/fs/cgroup")))
}

// groupLimit is the least limit of the control groups that the process is in, and of those above them. The groups are
// in the format of /proc/self/cgroup, one "id:controllers:path" a line; version 2 has the id 0 and no controllers. In a
// container the path may be one of the host, which cannot be seen: then the root's limit is the container's.
func groupLimit(groups, root string) uint64 {
	most := uint64(math.MaxInt)
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		dir, file := root, "memory.max"
		if f[0] != "0" || f[1] != "" {
			if !strings.Contains(","+f[1]+",", ",memory,") {
				continue
			}
			dir, file = path.Join(root, "memory"), "memory.limit_in_bytes"
		}
		for at := path.Clean("/" + f[2]); ; at = path.Dir(at) {
			b, err := os.ReadFile(path.Join(dir, at, file))
			// "max" is no number, and version 1 writes none as a huge one
			if n, e := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil && e == nil {
				most = min(most, n)
			}
			if at == "/" {
				break
			}
		}
	}
	return most
}
