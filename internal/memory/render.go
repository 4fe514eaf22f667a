package memory

import (
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/internal/injection"
)

// Render returns the block of a file for the system prompt, "" when it is
// empty. Entries that the scan refuses (a file may be edited by hand or
// synced) are left out; skipped names the rules.
func (s *Store) Render(t Target) (block string, skipped []string, err error) {
	if s.off[t] != "" {
		return "", nil, nil
	}
	entries, err := s.Entries(t)
	if err != nil {
		return "", nil, err
	}
	var kept []string
	for _, e := range entries {
		if err := injection.Note(e); err != nil {
			skipped = append(skipped, err.Error())
			continue
		}
		kept = append(kept, e)
	}
	if len(kept) == 0 {
		return "", skipped, nil
	}
	title := "MEMORY (your personal notes)"
	if t == User {
		title = "USER PROFILE (who the user is)"
	}
	line := strings.Repeat("\u2550", 46)
	used, limit := length(entries), s.Limit(t)
	return fmt.Sprintf("%s\n%s [%s]\n%s\n%s", line, title, Usage(used, limit), line, strings.Join(kept, separator)), skipped, nil
}

// Usage shows how full a file is.
func Usage(used, limit int) string {
	return fmt.Sprintf("%d%% \u2014 %d/%d chars", used*100/limit, used, limit)
}
