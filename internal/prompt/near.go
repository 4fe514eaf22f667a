package prompt

import (
	"fmt"
	"unicode/utf8"
)

const nearLimit = 8_000

// Near finds the instructions that a directory below the working directory
// root gives to agents, for when the work gets there. Its Text is "" when there
// are none.
func Near(root, dir string) (File, error) {
	paths, err := here(dir, "AGENTS.md", "agents.md", "CLAUDE.md", "claude.md", ".cursorrules")
	if err != nil || len(paths) == 0 {
		return File{}, err
	}
	f, err := readFile(root, paths[0])
	if err != nil {
		return File{}, fmt.Errorf("read directory context: %w", err)
	}
	if n := utf8.RuneCountInString(f.Text); n > nearLimit {
		f.Text = string([]rune(f.Text)[:nearLimit]) + fmt.Sprintf("\n\n[... the rest of %s is left out; read the file for it ...]", f.Name)
	}
	return f, nil
}
