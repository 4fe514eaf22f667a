package archtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

// never are packages that may not be linked, each with what it would cost.
var never = map[string]string{
	"github.com/charmbracelet/glamour":         "12.7 ms of every start",
	"charm.land/glamour":                       "12.7 ms of every start",
	"github.com/yuin/goldmark":                 "1 ms of every start; internal/markdown reads it",
	"github.com/alecthomas/chroma/v2/styles":   "13 ms of every start",
	"github.com/alecthomas/chroma/v2/lexers":   "4.6 ms of every start",
	"github.com/zricethezav/gitleaks":          "24 ms of every start",
	"github.com/santhosh-tekuri/jsonschema":    "3.5 ms of every start",
	"github.com/mark3labs/mcp-go":              "brings santhosh-tekuri/jsonschema",
	"github.com/openai/openai-go":              "15 MB; the wire is our own",
	"github.com/anthropics/anthropic-sdk-go":   "the wire is our own",
	"google.golang.org/genai":                  "the wire is our own",
	"github.com/Masterminds/semver":            "0.3 ms of every start; golang.org/x/mod/semver does it",
	"github.com/RealAlexandreAI/json-repair":   "GPL-3",
	"go.mau.fi/whatsmeow":                      "links GPL-3 code; it belongs into a program of its own",
	"go.mau.fi/libsignal":                      "GPL-3",
	"github.com/atotto/clipboard":              "searches PATH for five programs at every start; huh and bubbles bring it",
	"github.com/joho/godotenv":                 "mangles $ in secrets",
	"github.com/bwmarrin/discordgo":            "its addresses cannot be pointed at a local fake",
	"github.com/mattn/go-sqlite3":              "needs cgo",
	"github.com/bytedance/sonic":               "does not follow Go releases",
	"github.com/pkoukk/tiktoken-go":            "503 ms to load; the estimate is bytes/4",
	"honnef.co/go/tools":                       "is for checks",
	"golang.org/x/tools":                       "is for checks",
	"github.com/rogpeppe/go-internal":          "is for tests",
	"net/http/pprof":                           "opens a door on the default server",
	"testing":                                  "is for tests: it adds flags and 0.1 ms",
	"expvar":                                   "opens a door on the default server",
	"plugin":                                   "needs cgo and the very same toolchain",
	"github.com/mattn/go-runewidth@v0.0.30":    "older ones build tables for 21 ms at every start",
	"github.com/hermes-go/hermes/internal/app": "", // not denied: keeps the map honest in TestNever
}

func TestNever(t *testing.T) {
	t.Parallel()
	linked := goList(t, "linux", "-deps", "./cmd/hermes")
	ours := 0
	for _, p := range linked {
		for pattern, why := range never {
			name, minimum, versioned := strings.Cut(pattern, "@")
			if p.ImportPath != name && !strings.HasPrefix(p.ImportPath, name+"/") {
				continue
			}
			if why == "" {
				ours++
				continue
			}
			if versioned && semver.Compare(p.Module.Version, minimum) >= 0 {
				continue
			}
			t.Errorf("%s is linked into the program: %s", p.ImportPath, why)
		}
	}
	if ours != 1 {
		t.Errorf("the program links internal/app %d times: the list that was checked is not the program's", ours)
	}
	for _, p := range linked {
		if row, ok := Find(p.path()); ok && strings.HasPrefix(p.ImportPath, module) && row.Tests {
			t.Errorf("%s is linked into the program: it is for tests", p.path())
		}
	}
}

// TestModules lists the modules of other people that the program links, on any
// system, with their licences. A new one is a line to look at in a review.
func TestModules(t *testing.T) {
	t.Parallel()
	dirs := map[string]string{}
	for _, goos := range platforms {
		for _, p := range goList(t, goos, "-deps", "./cmd/hermes") {
			if p.Module != nil && p.Module.Path != module {
				dirs[p.Module.Path] = p.Module.Dir
			}
		}
	}
	var list strings.Builder
	for _, path := range slices.Sorted(maps.Keys(dirs)) {
		kind, err := licence(dirs[path])
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		fmt.Fprintf(&list, "%s %s\n", path, kind)
	}
	golden(t, "modules.txt", list.String())
}

// marks are words that tell licences apart, the strictest first. What is not
// here has to be looked at by a person.
var marks = []struct {
	kind, words string
	refused     bool
}{
	{"AGPL", "GNU AFFERO GENERAL PUBLIC LICENSE", true},
	{"LGPL", "GNU LESSER GENERAL PUBLIC LICENSE", true},
	{"GPL", "GNU GENERAL PUBLIC LICENSE", true},
	{"SSPL", "Server Side Public License", true},
	{"BUSL", "Business Source License", true},
	{"MPL-2.0", "Mozilla Public License Version 2.0", false},
	{"Apache-2.0", "Apache License Version 2.0", false},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy", false},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee", false},
	{"BSD", "Redistribution and use in source and binary forms, with or without modification, are permitted", false},
	{"public domain", "has been dedicated to the public domain by the authors", false},
	{"Unlicense", "This is free and unencumbered software released into the public domain", false},
}

// licence reads every licence file of a module.
func licence(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("read module: %w", err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if name == "LICENSE-LOGO" {
			continue // of a picture in a README: nothing of it is linked
		}
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "UNLICENSE") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", fmt.Errorf("read licence: %w", err)
		}
		kind, refused := classify(string(b))
		if refused {
			return kind, fmt.Errorf("%s says %s: the program may not link it", e.Name(), kind)
		}
		if kind == "" {
			return "", fmt.Errorf("%s is a licence that internal/archtest does not know", e.Name())
		}
		found[kind] = true
	}
	if len(found) == 0 {
		return "", fmt.Errorf("there is no licence in %s", dir)
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), "+"), nil
}

func classify(text string) (kind string, refused bool) {
	words := strings.ToLower(strings.Join(strings.Fields(text), " "))
	if strings.HasPrefix(words, "/* spdx-license-identifier: bsd-3-clause or gpl-2.0-only */") {
		return "BSD", false // the choice is ours, and BSD is what we take
	}
	for _, m := range marks {
		if strings.Contains(words, strings.ToLower(m.words)) {
			// Permissive licences may name the GPL in passing, as MPL does.
			if m.refused && strings.Contains(words, "mozilla public license") {
				continue
			}
			return m.kind, m.refused
		}
	}
	return "", false
}

func TestClassify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, kind string
		refused          bool
	}{
		{"a choice", "/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */\n\nGNU GENERAL PUBLIC LICENSE", "BSD", false},
		{"mit", "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining\na copy of this", "MIT", false},
		{"gpl", "                    GNU GENERAL PUBLIC LICENSE\n                       Version 3", "GPL", true},
		{"agpl", "GNU AFFERO GENERAL PUBLIC LICENSE", "AGPL", true},
		{"mpl names the gpl", "Mozilla Public License Version 2.0 ... GNU General Public License, Version 2.0", "MPL-2.0", false},
		{"unknown", "All rights reserved.", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if kind, refused := classify(tt.text); kind != tt.kind || refused != tt.refused {
				t.Errorf("got %s %v", kind, refused)
			}
		})
	}
}
