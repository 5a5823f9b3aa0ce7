package board

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/gotorch-dev/torch/tensorboard"
)

func (s *Server) points(r *http.Request, a tagArgs) (any, error) {
	// The plugin was checked when the tag was looked up.
	p, err := s.log.Points(a.run, r.URL.Query().Get("plugin"), a.tag)
	if err != nil {
		return nil, err
	}
	list := make([][2]number, len(p))
	for i, x := range p {
		list[i] = [2]number{number(x.Step), number(x.Wall)}
	}
	return map[string]any{"n": len(p), "v": a.info.Version, "points": list}, nil
}

// imageKind tells an image's type from its bytes. What is not on the list, such
// as SVG, which may hold scripts, is not served.
func imageKind(b []byte) string {
	switch k := http.DetectContentType(b); k {
	case "image/png", "image/jpeg", "image/gif", "image/bmp", "image/webp":
		return k
	}
	return ""
}

// audioKind does the same for sounds.
func audioKind(b []byte) string {
	switch k := http.DetectContentType(b); k {
	case "audio/wave", "audio/mpeg", "audio/aiff":
		return k
	case "application/ogg":
		return "audio/ogg"
	}
	if bytes.HasPrefix(b, []byte("fLaC")) {
		return "audio/flac"
	}
	return ""
}

// blob serves one of the files of a point.
func (s *Server) blob(w http.ResponseWriter, r *http.Request, files [][]byte, kind func([]byte) string) error {
	k, err := intArg(r, "k", 0, 0, 1<<20)
	if err != nil {
		return err
	}
	if k >= len(files) {
		return &apiError{http.StatusNotFound, "there is no such file at this point"}
	}
	t := kind(files[k])
	if t == "" {
		return &apiError{http.StatusUnsupportedMediaType, "the bytes logged here are of no type that is shown"}
	}
	w.Header().Set("Content-Type", t)
	// If someone opens the address itself, the file must not act as a page.
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[k]))
	return nil
}

func (s *Server) image(w http.ResponseWriter, r *http.Request) error {
	a, err := s.tagArg(r, tensorboard.PluginImages)
	if err != nil || s.fresh(w, r, a.info) {
		return err
	}
	i, err := intArg(r, "i", 0, 0, 1<<30)
	if err != nil {
		return err
	}
	p, err := s.log.ImageAt(a.run, a.tag, i)
	if err != nil {
		return err
	}
	return s.blob(w, r, p.Encoded, imageKind)
}

func (s *Server) audio(w http.ResponseWriter, r *http.Request) error {
	a, err := s.tagArg(r, tensorboard.PluginAudio)
	if err != nil || s.fresh(w, r, a.info) {
		return err
	}
	i, err := intArg(r, "i", 0, 0, 1<<30)
	if err != nil {
		return err
	}
	p, err := s.log.AudioAt(a.run, a.tag, i)
	if err != nil {
		return err
	}
	return s.blob(w, r, p.Encoded, func(b []byte) string {
		k := audioKind(b)
		if k == "" && strings.HasPrefix(p.ContentType, "audio/") &&
			http.DetectContentType(b) == "application/octet-stream" {
			k = "application/octet-stream" // offered as a download, not played
		}
		return k
	})
}
