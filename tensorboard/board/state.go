package board

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gotorch-dev/torch/tensorboard"
)

// refresh looks for new data if the last look is long enough ago. The page asks
// for the state again and again, so nothing runs while nobody watches.
func (s *Server) refresh() {
	s.poll.Lock()
	defer s.poll.Unlock()
	if s.opts.Interval > 0 && time.Since(s.polled) < s.opts.Interval {
		return
	}
	if _, err := s.log.Poll(); err != nil {
		s.logf("looking for new data: %v", err)
	}
	s.polled = time.Now()
	s.note()
}

// note takes down which runs are new or have changed.
func (s *Server) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.version + 1
	for _, name := range s.log.Runs() {
		info, err := s.log.Run(name)
		if err != nil {
			continue
		}
		id, known := s.ids[name]
		if !known {
			id = len(s.runs)
			s.ids[name] = id
			s.runs = append(s.runs, &runState{name: name, version: next})
			s.version = next
		}
		if r := s.runs[id]; r.generation != info.Generation || r.purged != info.Purged {
			r.generation, r.purged, r.version = info.Generation, info.Purged, next
			s.version = next
		}
	}
}

type stateReply struct {
	Boot     string     `json:"boot"`
	Version  uint64     `json:"version"`
	Loading  bool       `json:"loading"`
	Interval int64      `json:"interval"`
	Title    string     `json:"title"`
	Runs     []runReply `json:"runs"`
}

type runReply struct {
	ID      int                   `json:"id"`
	Name    string                `json:"name"`
	Start   float64               `json:"start"`
	Purged  int                   `json:"purged"`
	Damaged int                   `json:"damaged"`
	Tags    map[string][]tagReply `json:"tags"`
}

type tagReply struct {
	Tag     string `json:"tag"`
	N       int    `json:"n"`
	Version uint64 `json:"v"`
	Name    string `json:"name,omitempty"`
	Desc    string `json:"desc,omitempty"`
}

// shown are the plugins that the page has something to show of.
var shown = map[string]bool{
	tensorboard.PluginScalars: true, tensorboard.PluginImages: true, tensorboard.PluginAudio: true,
	tensorboard.PluginHistograms: true, tensorboard.PluginText: true, tensorboard.PluginPRCurves: true,
	tensorboard.PluginGraphs: true, tensorboard.PluginHParams: true, tensorboard.PluginCustomScalars: true,
	tensorboard.PluginMesh: true,
}

func (s *Server) state(r *http.Request) (any, error) {
	out := stateReply{Boot: s.boot, Interval: max(s.opts.Interval.Milliseconds(), 0), Title: s.opts.Title,
		Runs: []runReply{}}
	select {
	case <-s.ready:
	default:
		out.Loading = true
		return out, nil
	}
	if s.log == nil {
		return nil, &apiError{http.StatusInternalServerError, "the log directory could not be read"}
	}
	var since uint64
	if q := r.URL.Query(); q.Get("boot") == s.boot && q.Has("since") {
		var err error
		if since, err = strconv.ParseUint(q.Get("since"), 10, 64); err != nil {
			return nil, badRequest("since must be a version")
		}
	}
	s.refresh()
	s.mu.RLock()
	defer s.mu.RUnlock()
	out.Version = s.version
	damaged := map[string]int{}
	for _, p := range s.log.Problems() {
		if !p.Pending { // the end of a file that grows is often half a record
			damaged[p.Run]++
		}
	}
	for id, st := range s.runs {
		if st.version <= since {
			continue
		}
		info, err := s.log.Run(st.name)
		if err != nil {
			continue
		}
		rr := runReply{ID: id, Name: st.name, Start: info.Start, Purged: info.Purged, Damaged: damaged[st.name],
			Tags: map[string][]tagReply{}}
		for _, plugin := range s.log.Plugins(st.name) {
			if !shown[plugin] {
				continue
			}
			for _, tag := range s.log.Tags(st.name, plugin) {
				t, err := s.log.Tag(st.name, plugin, tag)
				if err != nil {
					continue
				}
				tr := tagReply{Tag: tag, N: t.Count, Version: t.Version, Name: t.DisplayName, Desc: t.Description}
				if plugin == tensorboard.PluginMesh { // three tags for each mesh, one is enough
					name, vertices := tensorboard.MeshName(tag)
					if !vertices {
						continue
					}
					tr.Tag, tr.Name = name, ""
				}
				if tr.Name == tag {
					tr.Name = ""
				}
				rr.Tags[plugin] = append(rr.Tags[plugin], tr)
			}
		}
		if e, err := s.log.Embeddings(st.name); err != nil {
			s.logf("embeddings of run %q: %v", st.name, err)
		} else {
			for _, e := range e {
				rr.Tags["embeddings"] = append(rr.Tags["embeddings"], tagReply{Tag: e.Name, N: 1})
			}
		}
		out.Runs = append(out.Runs, rr)
	}
	return out, nil
}

// runName returns the name of a numbered run.
func (s *Server) runName(id string) (string, int, error) {
	n, err := strconv.Atoi(id)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err != nil {
		return "", 0, badRequest("run must be the number of a run")
	}
	if n < 0 || n >= len(s.runs) {
		return "", 0, &apiError{http.StatusNotFound, "there is no such run"}
	}
	return s.runs[n].name, n, nil
}

// intArg reads a whole number from the query, held between two limits.
func intArg(r *http.Request, name string, def, lo, hi int) (int, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, badRequest("%s must be a whole number", name)
	}
	return min(max(n, lo), hi), nil
}

// tagArgs are the run and tag that a request is about.
type tagArgs struct {
	run, tag string
	info     tensorboard.TagInfo
}

// tagArg reads them. With an empty plugin the request names it. Meshes are asked
// for by name, their tag is that of the vertices.
func (s *Server) tagArg(r *http.Request, plugin string) (a tagArgs, err error) {
	q := r.URL.Query()
	if plugin == "" {
		switch plugin = q.Get("plugin"); plugin {
		case tensorboard.PluginImages, tensorboard.PluginAudio, tensorboard.PluginMesh:
		default:
			return a, badRequest("plugin must be images, audio or mesh")
		}
	}
	if a.run, _, err = s.runName(q.Get("run")); err != nil {
		return a, err
	}
	a.tag = q.Get("tag")
	if plugin == tensorboard.PluginMesh {
		a.tag += tensorboard.MeshVertices
	}
	a.info, err = s.log.Tag(a.run, plugin, a.tag)
	return a, err
}

// tagged registers an endpoint about one tag of a run. The ETag comes from the
// tag's version, and the work is spared for a client that is up to date.
func (s *Server) tagged(name, plugin string, f func(*http.Request, tagArgs) (any, error)) {
	s.handleRaw(name, func(w http.ResponseWriter, r *http.Request) error {
		a, err := s.tagArg(r, plugin)
		if err != nil {
			return err
		}
		if s.fresh(w, r, a.info) {
			return nil
		}
		v, err := f(r, a)
		if err != nil {
			return err
		}
		b, err := marshal(v)
		if err != nil {
			return err
		}
		send(w, r, http.StatusOK, jsonKind, b)
		return nil
	})
}

// fresh sets the ETag of a tag's data and answers a client that has this version.
// The same URL always asks for the same part, so the part is not in the ETag.
func (s *Server) fresh(w http.ResponseWriter, r *http.Request, info tensorboard.TagInfo) bool {
	etag := fmt.Sprintf(`"%s-%d-%d"`, s.boot, info.Version, info.Count)
	w.Header().Set("ETag", etag)
	if matches(r, etag) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

// pick chooses at most n of count points, evenly, always with the last.
func pick(count, n int) []int {
	if count <= n {
		out := make([]int, count)
		for i := range out {
			out[i] = i
		}
		return out
	}
	if n <= 1 {
		return []int{count - 1}
	}
	out := make([]int, n)
	for k := range out {
		out[k] = int(int64(k) * int64(count-1) / int64(n-1))
	}
	return out
}
