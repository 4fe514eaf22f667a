package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// skillsPage lists the skills of the source tree, by category.
func skillsPage(p program, root string) (string, error) {
	var b strings.Builder
	b.WriteString("# Skills\n\nThose that come with the program and are copied to the `skills/` of a home. `hermes skills show NAME` prints one.\n")
	if err := skillTables(&b, p, filepath.Join(root, "skills")); err != nil {
		return "", err
	}
	b.WriteString("\n# Optional skills\n\nFor services that need keys or are not for everybody. They stand in `optional-skills/` of the source tree; docs/usage.md says how to use one.\n")
	if err := skillTables(&b, p, filepath.Join(root, "optional-skills")); err != nil {
		return "", err
	}
	return b.String(), nil
}

func skillTables(b *strings.Builder, p program, dir string) error {
	out, err := p.output("skills", "list", "--json", "--dir", dir)
	if err != nil {
		return err
	}
	var list []struct{ Name, Category, Description string }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return fmt.Errorf("read the skills of %s: %w", dir, err)
	}
	if len(list) == 0 {
		return fmt.Errorf("there are no skills in %s", dir)
	}
	category := ""
	for _, s := range list {
		if s.Category != category {
			category = s.Category
			fmt.Fprintf(b, "\n## %s\n\n| skill | about |\n|---|---|\n", category)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", s.Name, cell(s.Description))
	}
	return nil
}
