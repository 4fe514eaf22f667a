// Command genall writes the list of a plural's implementations: it reads
// tools/*, providers/* and the like without building them, keeps the folders
// that register themselves, and writes blank imports of them into all/all.go.
// It decides by what the code does, so nobody has to remember a list; it knows
// nothing of what an implementation is.
//
// It runs in the all folder of a plural, through that folder's go:generate
// directive.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	untested := flag.Bool("untested", false, "also list folders that have no test yet; the checks will still refuse them")
	flag.Parse()
	if err := run(*untested); err != nil {
		fmt.Fprintln(os.Stderr, "genall:", err)
		os.Exit(1)
	}
}

func run(untested bool) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the folder: %w", err)
	}
	if filepath.Base(here) != "all" {
		return fmt.Errorf("%s is not an all folder; run: go generate ./tools/all", here)
	}
	root, err := moduleRoot(here)
	if err != nil {
		return err
	}
	text, err := generate(root, filepath.Dir(here), untested)
	if err != nil {
		return err
	}
	name := filepath.Join(here, "all.go")
	if old, err := os.ReadFile(name); err == nil && string(old) == text {
		return nil // unchanged: leave its time alone, so that nothing is rebuilt
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
}
