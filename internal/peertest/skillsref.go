package peertest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Reference is what npm's skills-ref, the reference library of the open
// standard for skills, says of one skill.
type Reference struct {
	Errors            []string // by its strict rules
	Read              bool     // it could read the properties
	Name, Description string
	Why               string // it could not
}

// SkillsRef asks it about the skills of directories.
func SkillsRef(t testing.TB, dirs []string) []Reference {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	peers := filepath.Join(root, ".cache", "peers", "node_modules")
	library := filepath.Join(peers, "skills-ref", "dist", "index.js")
	if _, err := os.Stat(library); err != nil {
		t.Skip("skills-ref is not installed; run: make setup")
	}
	script := filepath.Join(root, "internal", "peertest", "testdata", "skillsref.mjs")
	cmd := exec.Command(node(peers), script, library)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(dirs, "\n")+"\n"), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("skills-ref: %v\n%s", err, errs.String())
	}
	var all []Reference
	for d := json.NewDecoder(&out); d.More(); {
		var r Reference
		if err := d.Decode(&r); err != nil {
			t.Fatalf("skills-ref: %v", err)
		}
		all = append(all, r)
	}
	if len(all) != len(dirs) {
		t.Fatalf("skills-ref answered %d times to %d skills\n%s", len(all), len(dirs), errs.String())
	}
	return all
}
