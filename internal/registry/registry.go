// Package registry is the one generic list behind the contracts whose
// implementations register themselves in init: providers, backends, platforms
// and their like. It only remembers values by name; it never builds or runs
// one. Tools have a registry of their own, with availability and dispatch.
package registry

import (
	"cmp"
	"fmt"
	"slices"
)

// Of lists values of one kind. The zero value is ready. It is written only
// from init functions and read-only afterwards, so it needs no lock.
type Of[K any] struct {
	Name  func(K) string
	Alias func(K) []string // may be nil

	kinds []K
}

// Register adds k. It panics on an empty or taken name or alias: that is a
// mistake in the program, and any test that links the package finds it.
func (r *Of[K]) Register(k K) {
	r.check(k, r.Name(k))
	if r.Alias != nil {
		for _, name := range r.Alias(k) {
			r.check(k, name)
		}
	}
	r.kinds = append(r.kinds, k)
}

func (r *Of[K]) check(k K, name string) {
	if name == "" {
		panic(fmt.Sprintf("register %T: empty name", k))
	}
	if r.index(name) >= 0 {
		panic(fmt.Sprintf("register %T: name %q is taken", k, name))
	}
}

// index finds a value by name or alias. It allocates nothing, since it runs in
// every init.
func (r *Of[K]) index(name string) int {
	for i := range r.kinds {
		if r.Name(r.kinds[i]) == name || r.Alias != nil && slices.Contains(r.Alias(r.kinds[i]), name) {
			return i
		}
	}
	return -1
}

// Lookup finds a value by name or alias.
func (r *Of[K]) Lookup(name string) (K, bool) {
	if i := r.index(name); i >= 0 {
		return r.kinds[i], true
	}
	var zero K
	return zero, false
}

// All returns every value, sorted by name.
func (r *Of[K]) All() []K {
	all := slices.Clone(r.kinds)
	slices.SortFunc(all, func(a, b K) int { return cmp.Compare(r.Name(a), r.Name(b)) })
	return all
}
