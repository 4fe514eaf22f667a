package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hermes-go/hermes/internal/peertest"
)

func TestReferencesAreCurrent(t *testing.T) {
	t.Parallel()
	root, err := peertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(root, "docs", "reference", name))
		if err != nil || string(got) != want {
			t.Errorf("docs/reference/%s is stale (%v); run: make docs", name, err)
		}
	}
}

func TestSubcommands(t *testing.T) {
	t.Parallel()
	const help = "Usage:\n  hermes [command]\n\nAvailable Commands:\n  chat        Talk\n  tools       List\n\nFlags:\n  -h, --help   help\n"
	if got := subcommands(help); !slices.Equal(got, []string{"chat", "tools"}) {
		t.Errorf("got %q", got)
	}
	if got := subcommands("Usage:\n  hermes chat\n"); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}
