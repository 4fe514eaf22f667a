package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/internal/toolset"
	"github.com/hermes-go/hermes/tool"
)

// parameter is what a page says of a JSON Schema node.
type parameter struct {
	Type        string               `json:"type"`
	Description string               `json:"description"`
	Enum        []any                `json:"enum"`
	Default     json.RawMessage      `json:"default"`
	Items       *parameter           `json:"items"`
	Properties  map[string]parameter `json:"properties"`
	Required    []string             `json:"required"`
}

// toolsPage describes every tool as a model is told of it.
func toolsPage(p program) (string, error) {
	out, err := p.output("tools", "schema")
	if err != nil {
		return "", err
	}
	var list []struct {
		Function struct {
			Name        string    `json:"name"`
			Description string    `json:"description"`
			Parameters  parameter `json:"parameters"`
		} `json:"function"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return "", fmt.Errorf("read definitions: %w", err)
	}
	reg := tool.Builtin()
	table := toolset.New(reg, toolset.Options{})
	var b strings.Builder
	b.WriteString("# Tools\n\nThe built-in tools as a model is told of them. `hermes tools why NAME` says whether a session has one; `hermes tools run NAME key=value` runs it by hand.\n")
	for _, d := range list {
		f := d.Function
		t, _ := reg.Lookup(f.Name)
		fmt.Fprintf(&b, "\n## %s %s\n\nToolset `%s`.\n\n%s\n", t.Emoji, f.Name, cmp.Or(table.Home(f.Name), t.Toolset), quoted(f.Description))
		if len(f.Parameters.Properties) > 0 {
			b.WriteString("\n| parameter | type | |\n|---|---|---|\n")
			rows(&b, "", f.Parameters)
		}
		for _, v := range t.Env {
			fmt.Fprintf(&b, "\nReads `%s`: %s\n", v.Name, v.About)
		}
	}
	return b.String(), nil
}

// rows writes the parameters, the required ones first, then by name; those of
// nested objects follow theirs.
func rows(b *strings.Builder, prefix string, p parameter) {
	names := make([]string, 0, len(p.Properties))
	for name := range p.Properties {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		rx, ry := slices.Contains(p.Required, x), slices.Contains(p.Required, y)
		if rx != ry {
			if rx {
				return -1
			}
			return 1
		}
		return strings.Compare(x, y)
	})
	for _, name := range names {
		q := p.Properties[name]
		kind := cmp.Or(q.Type, "any")
		if q.Items != nil {
			kind = "array of " + cmp.Or(q.Items.Type, "any")
		}
		var notes []string
		if slices.Contains(p.Required, name) {
			notes = append(notes, "**required**")
		}
		if q.Description != "" {
			notes = append(notes, q.Description)
		}
		if len(q.Enum) > 0 {
			notes = append(notes, "One of "+values(q.Enum)+".")
		}
		if len(q.Default) > 0 {
			notes = append(notes, "Default `"+string(q.Default)+"`.")
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, name, kind, cell(strings.Join(notes, " ")))
		rows(b, prefix+name+".", q)
		if q.Items != nil {
			rows(b, prefix+name+"[].", *q.Items)
		}
	}
}

func values(list []any) string {
	var words []string
	for _, v := range list {
		words = append(words, fmt.Sprintf("`%v`", v))
	}
	return strings.Join(words, ", ")
}

// cell makes text fit into a table cell.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text)
}

// quoted shows a text that is not ours to format.
func quoted(text string) string {
	text = strings.TrimSpace(text)
	return "> " + strings.ReplaceAll(strings.ReplaceAll(text, "<", "&lt;"), "\n", "\n> ")
}

// toolsetsPage lists the named sets of tools.
func toolsetsPage() string {
	reg := tool.Builtin()
	table := toolset.New(reg, toolset.Options{})
	var b strings.Builder
	b.WriteString("# Toolsets\n\nNamed sets of tools, for `--toolsets`, `platform_toolsets` and `custom_toolsets`. Tools in brackets are not built yet.\n\n| toolset | what for | tools |\n|---|---|---|\n")
	for _, s := range table.All() {
		names, err := table.Resolve(s.Name)
		if err != nil {
			names = s.Tools
		}
		var shown []string
		for _, n := range names {
			if _, ok := reg.Lookup(n); ok {
				shown = append(shown, "`"+n+"`")
			} else {
				shown = append(shown, "("+n+")")
			}
		}
		about := s.About
		if len(s.Includes) > 0 {
			about += " Includes " + strings.Join(s.Includes, ", ") + "."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, cell(strings.TrimSpace(about)), strings.Join(shown, " "))
	}
	return b.String()
}
