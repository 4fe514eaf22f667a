package skill

import (
	"crypto/sha256"
	"os"
	"sync"
)

// Passer lets environment variables through to the commands of one task. It
// answers with the names it refuses.
type Passer interface {
	Pass(task string, names []string) (refused []string)
	// PassFiles does the same for credential files below the home.
	PassFiles(task string, files []string)
}

// Seen remembers in which state tasks have read skills.
type Seen struct {
	mu sync.Mutex
	by map[[2]string][sha256.Size]byte
}

// Note records what the task has read.
func (s *Seen) Note(task, path string, sum [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[[2]string][sha256.Size]byte{}
	}
	s.by[[2]string{task, path}] = sum
}

// Changed says whether the file is not what the task has read of it; false
// when it has read nothing.
func (s *Seen) Changed(task, path string) bool {
	s.mu.Lock()
	sum, ok := s.by[[2]string{task, path}]
	s.mu.Unlock()
	if !ok {
		return false
	}
	data, err := os.ReadFile(path)
	return err != nil || sha256.Sum256(data) != sum
}
