package registry

import (
	"slices"
	"testing"
)

type kind struct {
	name    string
	aliases []string
}

func list() *Of[kind] {
	return &Of[kind]{Name: func(k kind) string { return k.name }, Alias: func(k kind) []string { return k.aliases }}
}

func TestOf(t *testing.T) {
	t.Parallel()
	r := list()
	r.Register(kind{"b", []string{"bee"}})
	r.Register(kind{"a", nil})
	for name, want := range map[string]string{"a": "a", "b": "b", "bee": "b"} {
		if got, ok := r.Lookup(name); !ok || got.name != want {
			t.Errorf("Lookup(%q) = %v, %v", name, got, ok)
		}
	}
	if _, ok := r.Lookup("c"); ok {
		t.Error("found what was never registered")
	}
	if all := r.All(); !slices.IsSortedFunc(all, func(x, y kind) int { return int(x.name[0]) - int(y.name[0]) }) || len(all) != 2 {
		t.Errorf("All() = %v", all)
	}
}

func TestOfRefuses(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]kind{"empty": {}, "taken": {name: "a"}, "taken alias": {"b", []string{"a"}}, "alias of a name": {"x", []string{"x2", "alias"}}} {
		t.Run(name, func(t *testing.T) {
			r := list()
			r.Register(kind{"a", []string{"alias"}})
			defer func() {
				if recover() == nil {
					t.Errorf("%v was accepted", k)
				}
			}()
			r.Register(k)
		})
	}
}
