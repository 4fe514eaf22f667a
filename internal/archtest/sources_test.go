package archtest

import (
	"io/fs"
	"strings"
)

// sources is a tree without what git ignores and what is not needed to build:
// hidden folders, built programs, installed peers.
type sources struct{ fs.FS }

func (s sources) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.FS, name)
	if err != nil {
		return nil, err
	}
	kept := entries[:0]
	for _, e := range entries {
		n := e.Name()
		hidden := strings.HasPrefix(n, ".")
		heavy := n == "node_modules" || n == "dist" || name == "." && n == "hermes"
		special := !e.IsDir() && !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0
		if !hidden && !heavy && !special {
			kept = append(kept, e)
		}
	}
	return kept, nil
}
