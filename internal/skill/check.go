package skill

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var nameRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`) })

// CheckName judges the name of a skill that is made.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("name is empty")
	case utf8.RuneCountInString(name) > MaxName:
		return fmt.Errorf("name has %d characters; at most %d", utf8.RuneCountInString(name), MaxName)
	case !nameRule().MatchString(name):
		return fmt.Errorf("name %q: use lower-case letters, digits, dots, underscores and hyphens, beginning with a letter or digit", name)
	}
	return nil
}

func checkCategory(c string) error {
	if c != "" && (utf8.RuneCountInString(c) > MaxName || !nameRule().MatchString(c)) {
		return fmt.Errorf("category %q: one directory name of lower-case letters, digits, dots, underscores and hyphens", c)
	}
	return nil
}

// CheckText judges a SKILL.md that is written, strictly: what is read
// leniently is not to be written. It returns the name it gives itself.
func CheckText(content string) (name string, err error) {
	if strings.TrimSpace(content) == "" {
		return "", errors.New("content is empty: a SKILL.md begins with front matter")
	}
	if n := utf8.RuneCountInString(content); n > MaxText {
		return "", sizeError("SKILL.md", n)
	}
	s := strings.TrimPrefix(content, "\ufeff")
	if first, _, _ := strings.Cut(s, "\n"); !fence(strings.TrimSuffix(first, "\r")) {
		return "", errors.New("SKILL.md must begin with front matter: a line with ---, name and description, and a line with ---")
	}
	t := split([]byte(s))
	if !t.Closed || t.Indented {
		return "", errors.New("the front matter is not closed: put a line with --- after it")
	}
	top, err := parseYAML(t.YAML)
	if err != nil {
		return "", fmt.Errorf("the front matter is not valid YAML: %w", problemOf(err, t.YAML, t.Line))
	}
	if top == nil || top.Kind != yaml.MappingNode {
		return "", errors.New("the front matter must be a mapping of keys to values")
	}
	f, problem := newFront(top, t.Line)
	if problem != nil {
		return "", problem
	}
	if name = f.Scalar("name"); name == "" {
		return "", errors.New("the front matter has no name")
	}
	description := f.Scalar("description")
	if description == "" {
		return "", errors.New("the front matter has no description: say in one sentence what the skill does and when to use it")
	}
	if n := utf8.RuneCountInString(description); n > MaxDescription {
		return "", fmt.Errorf("the description has %d characters; at most %d", n, MaxDescription)
	}
	if strings.TrimSpace(t.Body) == "" {
		return "", errors.New("SKILL.md has no text after the front matter: put the instructions there")
	}
	return name, nil
}

func sizeError(what string, n int) error {
	return fmt.Errorf("%s would have %d characters; at most %d: move parts of it to files in references/", what, n, MaxText)
}

// Finding is one thing that a person should know of a skill.
type Finding struct {
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Level string `json:"level"` // error, warning
	Text  string `json:"text"`
}

var known = [...]string{
	"name", "description", "version", "author", "authors", "license", "title", "homepage", "platforms", "tags", "related_skills",
	"compatibility", "allowed-tools", "metadata", "required_environment_variables", "prerequisites", "setup", "required_credential_files",
	"category", "triggers", "dependencies", "toolsets", "requires",
}

// sections are what a skill of ours says; a reader finds its way by them.
var sections = [...]string{"When to Use", "Quick Reference", "Procedure", "Pitfalls", "Verification"}

// Validate judges a SKILL.md for its author. toolsets and tools are the names
// that conditions may ask for; nil ones are not judged.
func Validate(path, dirName string, data []byte, tools, toolsets []string) []Finding {
	out := judge(path, dirName, data, tools, toolsets)
	d := Parse(data)
	if d.Broken != nil {
		return out
	}
	for _, s := range sections {
		if !strings.Contains(d.Body, "## "+s) {
			out = append(out, Finding{path, 1, "warning", fmt.Sprintf("there is no section %q", s)})
		}
	}
	return out
}

// judge is Validate but for what is a matter of taste.
func judge(path, dirName string, data []byte, tools, toolsets []string) []Finding {
	var out []Finding
	add := func(level string, line int, format string, args ...any) {
		out = append(out, Finding{path, line, level, fmt.Sprintf(format, args...)})
	}
	d := Parse(data)
	if d.Broken != nil {
		add("error", d.Broken.Line, "%s (column %d); %s", d.Broken.Reason, d.Broken.Column, d.Broken.Fix)
		return out
	}
	name, err := CheckText(string(data))
	var place *Problem
	switch {
	case errors.As(err, &place):
		add("error", place.Line, "%v", err)
	case err != nil:
		add("error", 1, "%v", err)
	}
	for _, w := range d.Said() {
		add("warning", 1, "%s", w)
	}
	if name != "" {
		if name != dirName {
			add("warning", 1, "the name %q is not that of the directory, %q", name, dirName)
		}
		if err := CheckName(name); err != nil {
			add("warning", 1, "%v", err)
		} else if strings.ContainsAny(name, "._") || strings.Contains(name, "--") || strings.HasSuffix(name, "-") {
			add("warning", 1, "the open standard allows only letters, digits and single hyphens in a name")
		}
	}
	if d.top != nil {
		for i := 0; i+1 < len(d.top.Content); i += 2 {
			if k := d.top.Content[i]; !slices.Contains(known[:], k.Value) {
				add("warning", k.Line+1, "the key %s is not known and has no effect", k.Value)
			}
		}
	}
	for _, p := range list(get(d.top, "platforms")) {
		if !slices.Contains([]string{"linux", "macos", "darwin", "osx", "mac", "windows", "win32", "win", "android", "termux"}, strings.ToLower(p)) {
			add("warning", 1, "platforms: %s is no platform; there are linux, macos and windows", p)
		}
	}
	c := d.conditions()
	for _, t := range slices.Concat(c.RequiresToolsets, c.FallbackToolsets) {
		if toolsets != nil && !slices.Contains(toolsets, t) {
			add("warning", 1, "no toolset is called %s", t)
		}
	}
	for _, t := range slices.Concat(c.RequiresTools, c.FallbackTools) {
		if tools != nil && !slices.Contains(tools, t) {
			add("warning", 1, "no tool is called %s", t)
		}
	}
	return out
}
