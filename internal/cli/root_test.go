package cli

import "testing"

// TestCommands: each command is found by the name it has.
func TestCommands(t *testing.T) {
	t.Parallel()
	e := &env{}
	for _, c := range commands {
		if got := c.make(e).Name(); got != c.name {
			t.Errorf("%s is listed as %s", got, c.name)
		}
		if len(newRoot(e, []string{c.name}).Commands()) != 1 {
			t.Errorf("%s does not come alone", c.name)
		}
	}
	for _, args := range [][]string{nil, {"--help"}, {"hcat"}, {"help", "chat"}, {"-m", "chat"}} {
		if n := len(newRoot(e, args).Commands()); n != len(commands) {
			t.Errorf("%q: %d commands of %d", args, n, len(commands))
		}
	}
}
