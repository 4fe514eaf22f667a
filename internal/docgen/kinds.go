package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
	"github.com/hermes-go/hermes/tool"
)

// providersPage lists the model services.
func providersPage() string {
	var b strings.Builder
	b.WriteString("# Model services\n\nFor `model.provider` and `--provider`. Any other service that speaks one of these formats is `custom`, with `model.base_url`.\n\n| name | service | format | address | key | default model |\n|---|---|---|---|---|---|\n")
	kinds := provider.All()
	slices.SortFunc(kinds, func(x, y provider.Kind) int { return strings.Compare(x.Name, y.Name) })
	for _, k := range kinds {
		name := "`" + k.Name + "`"
		if len(k.Aliases) > 0 {
			name += " (" + strings.Join(k.Aliases, ", ") + ")"
		}
		var keys []string
		for _, v := range k.Env {
			keys = append(keys, "`"+v.Name+"`")
		}
		key := strings.Join(keys, " or ")
		if k.Keyless {
			key = strings.TrimSpace(key + " (works without)")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", name, cell(k.Label), k.Wire, cell(k.BaseURL), key, cell(k.Default))
	}
	return b.String()
}

// backendsPage lists the places where commands run.
func backendsPage() string {
	var b strings.Builder
	b.WriteString("# Backends\n\nWhere commands run and files are read, for `terminal.backend`.\n\n| name | what | reads |\n|---|---|---|\n")
	for _, k := range backend.All() {
		var vars []string
		for _, v := range k.Env {
			vars = append(vars, "`"+v.Name+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, cell(k.About), cmp.Or(strings.Join(vars, ", "), "-"))
	}
	return b.String()
}

// environmentPage lists every declared variable once.
func environmentPage() string {
	seen := map[string]secret.Var{}
	users := map[string][]string{}
	add := func(user string, vars []secret.Var) {
		for _, v := range vars {
			if old := seen[v.Name]; old.About == "" {
				seen[v.Name] = v
			}
			if !slices.Contains(users[v.Name], user) {
				users[v.Name] = append(users[v.Name], user)
			}
		}
	}
	for _, t := range tool.Builtin().All() {
		add("tool "+t.Name, t.Env)
	}
	for _, k := range provider.All() {
		add("provider "+k.Name, k.Env)
	}
	for _, k := range backend.All() {
		add("backend "+k.Name, k.Env)
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("# Environment variables\n\nRead from the home's `.env` file, then from the process. Those marked secret are shown to nobody, are taken out of everything that is printed or logged, and are not passed to commands.\n\n| variable | what for | used by | |\n|---|---|---|---|\n")
	for _, name := range names {
		v := seen[name]
		var notes []string
		if v.Secret {
			notes = append(notes, "secret")
		}
		if v.URL != "" {
			notes = append(notes, "from "+v.URL)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, cell(v.About), cell(strings.Join(users[name], ", ")), cell(strings.Join(notes, ", ")))
	}
	return b.String()
}
