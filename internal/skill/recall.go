package skill

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// Recall keeps beside the skills what reading them came to, so that a program
// that starts reads one file instead of each: parsing front matter takes longer
// than all the rest of a start. It can be deleted at any time.
type Recall struct {
	Path  string
	Build string // of the program: another one may read the same text otherwise
	Now   func() time.Time

	kept []byte // as it is in the file
}

// settled says whether a state of a file is old enough to be kept: a change
// within the grain of the file system's clock would look the same. Some clocks
// tell whole seconds, or every second one.
func settled(mod, now time.Time) bool {
	if mod.Nanosecond() == 0 {
		return now.Sub(mod) > 3*time.Second
	}
	return now.Sub(mod) > 100*time.Millisecond
}

type recalled struct {
	Build string
	Files map[string]*parsed
}

// load is what was kept; nothing when it is of another build, damaged or not
// there.
func (r *Recall) load() map[string]*parsed {
	var in recalled
	b, err := os.ReadFile(r.Path)
	if err != nil || json.Unmarshal(b, &in) != nil || in.Build != r.Build || in.Files == nil {
		return map[string]*parsed{}
	}
	r.kept = b
	maps.DeleteFunc(in.Files, func(_ string, p *parsed) bool { return p == nil })
	return in.Files
}

// save writes what is known. Where that is not possible the next program reads
// the files themselves.
func (r *Recall) save(known map[string]*parsed) {
	out := recalled{Build: r.Build, Files: map[string]*parsed{}}
	for path, p := range known {
		if p.readable() && settled(p.Mod, r.Now()) {
			out.Files[path] = p
		}
	}
	b, err := json.Marshal(out)
	if err != nil || bytes.Equal(b, r.kept) || len(out.Files) == 0 && r.kept == nil || os.MkdirAll(filepath.Dir(r.Path), 0o700) != nil {
		return
	}
	if replaceFile(r.Path, b) == nil {
		r.kept = b
	}
}
