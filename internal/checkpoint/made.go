package checkpoint

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// written is a line of a store's record of what the agent's file tools wrote:
// only with it can a file that the agent made be told from anybody else's.
type written struct {
	Path string `json:"path"`
	Sum  string `json:"sha256"`
}

const madeFile = "hermes-made"

// Wrote notes that the agent wrote a whole file. Only trees with a store have
// such a record.
func (s *Store) Wrote(name string, data []byte) {
	tree := s.Tree(name)
	if tree == "" {
		return
	}
	dir := s.dirOf(tree)
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		return
	}
	rel, err := filepath.Rel(tree, real(name))
	if err != nil || !filepath.IsLocal(rel) {
		return
	}
	line, err := json.Marshal(written{filepath.ToSlash(rel), sumOf(data)})
	if err == nil {
		err = appendLine(filepath.Join(dir, madeFile), line)
	}
	if err != nil { // then a rollback leaves the file and lists it
		s.sayOnce(err, tree)
	}
}

func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// made is what the agent wrote last, by path. A line that a kill cut short is
// passed over.
func (r *repo) made() (map[string]string, error) {
	b, err := os.ReadFile(filepath.Join(r.dir, madeFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	last := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var w written
		if json.Unmarshal(lines.Bytes(), &w) == nil && w.Path != "" {
			last[w.Path] = w.Sum
		}
	}
	return last, nil
}
