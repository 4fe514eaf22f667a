package terminal

import (
	"testing"

	"github.com/hermes-go/hermes/internal/shell"
)

// Commands before which the working tree is saved.
func TestDestructiveCommands(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"rm a": true, "rm -rf build": true, "sudo rm a": true, "cd x && rmdir y": true, "cp a b": true, "mv a b": true, "install -m 644 a b": true, "truncate -s0 a": true,
		"dd if=a of=b": true, "shred a": true, "sed -i s/a/b/ f": true, "sed --in-place=.bak s/a/b/ f": true, "perl -pi -e s/a/b/ f": true,
		"git reset --hard": true, "git clean -fd": true, "git checkout -- .": true, "git -C x restore .": true, "git stash": true, "echo x > f": true, "echo x >| f": true, "make &> log": true,
		"find . -name x -delete": true, "ls | xargs rm": true, "bash -c 'rm a'": true, "python3 - <<E\nE": true, "$X a": true, "tee f < g": true, "$(rm a)": true,
		"ls -l": false, "grep -r x .": false, "sed -n 1p f": false, "sed s/i/j/ f": false, "git status": false, "git commit -m 'rm a'": false, "git log": false, "echo x >> f": false, "make test > /dev/null 2>&1": false,
		"go test ./...": false, "echo 'rm -rf /'": false, "find . -name x": false, "cat f 2>/dev/null": false, "python3 x.py": false,
	} {
		f, err := shell.Parse(command)
		if err != nil {
			t.Fatal(err)
		}
		w := &work{file: f, list: shell.Commands(f)}
		if got := w.destroys(); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}
