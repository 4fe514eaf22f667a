package skill

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Variable is an environment variable that a skill asks for. Its value is
// never looked at here, only whether there is one.
type Variable struct {
	Name        string `json:"name"`
	Prompt      string `json:"prompt"`
	Help        string `json:"help,omitempty"`
	RequiredFor string `json:"required_for,omitempty"`
	Optional    bool   `json:"optional,omitempty"`
}

// Setting is a value of config.yaml that a skill asks for.
type Setting struct {
	Key, Description, Prompt, Default string
	Value                             string // as it counts now
	Set                               bool   // Value is no blank
	Stored                            bool   // it comes from the configuration, not from the default
}

// Needs are what a skill asks for, and what of it is missing.
type Needs struct {
	Variables       []Variable
	Commands        []string
	Files           []string
	FileAbout       []string // what each of them is
	MissingVars     []string
	MissingCommands []string
	MissingFiles    []string
	FileNotes       []string // what is wrong with each of them
	Present         []string // variables that have a value
	Help            string
	Settings        []Setting
}

// Setup says whether something that is needed is missing.
func (n *Needs) Setup() bool { return len(n.MissingVars)+len(n.MissingFiles) > 0 }

// PresentFiles are the credential files that are there.
func (n *Needs) PresentFiles() []string {
	return slices.DeleteFunc(slices.Clone(n.Files), func(f string) bool { return slices.Contains(n.MissingFiles, f) })
}

// Note says what is missing in one sentence; "" when nothing is.
func (n *Needs) Note() string {
	if !n.Setup() {
		return ""
	}
	var parts []string
	for _, v := range n.MissingVars {
		parts = append(parts, "env $"+v)
	}
	parts = append(parts, n.FileNotes...)
	s := "Setup needed before this skill works in full: missing " + strings.Join(parts, ", ") + "."
	if n.Help != "" {
		s += " " + n.Help
	}
	return s
}

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// needs reads and judges what a document asks for.
func (l *Library) needs(d *Doc) Needs {
	var n Needs
	setup := get(d.top, "setup")
	n.Help, _ = text(get(setup, "help"))
	seen := map[string]bool{}
	add := func(e *yaml.Node) {
		v := Variable{}
		if name, ok := text(e); ok {
			v.Name = name
		} else {
			v.Name = field(e, "name", "env_var")
			v.Prompt, v.RequiredFor = field(e, "prompt"), field(e, "required_for")
			v.Help = orElse(field(e, "help", "provider_url", "url"), n.Help)
			v.Optional = field(e, "optional") == "true"
		}
		if seen[v.Name] || !variableName().MatchString(v.Name) {
			return
		}
		seen[v.Name] = true
		if v.Prompt == "" {
			v.Prompt = "Enter value for " + v.Name
		}
		n.Variables = append(n.Variables, v)
		if value, _ := l.Lookup(v.Name); strings.TrimSpace(value) != "" {
			n.Present = append(n.Present, v.Name)
		} else if !v.Optional {
			n.MissingVars = append(n.MissingVars, v.Name)
		}
	}
	for _, e := range items(get(d.top, "required_environment_variables")) {
		add(e)
	}
	for _, e := range items(get(setup, "collect_secrets")) {
		add(e)
	}
	before := get(d.top, "prerequisites")
	for _, name := range list(get(before, "env_vars")) {
		add(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name})
	}
	for _, c := range list(get(before, "commands")) {
		n.Commands = append(n.Commands, c)
		if _, err := exec.LookPath(c); err != nil {
			n.MissingCommands = append(n.MissingCommands, c)
		}
	}
	for _, e := range items(get(d.top, "required_credential_files")) {
		p, ok := text(e)
		if !ok {
			p = field(e, "path", "name")
		}
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		n.Files, n.FileAbout = append(n.Files, p), append(n.FileAbout, field(e, "description"))
		if why := l.credential(p); why != "" {
			n.MissingFiles = append(n.MissingFiles, p)
			n.FileNotes = append(n.FileNotes, "file "+p+why)
		}
	}
	n.Settings = l.settings(d)
	return n
}

// NeedsOf reads what a skill asks for, without loading it.
func (l *Library) NeedsOf(s *Skill) (Needs, error) {
	if s.closed {
		return Needs{}, fmt.Errorf("skill %s: %s", s.Name, s.Reason)
	}
	data, err := os.ReadFile(s.Path)
	if err != nil {
		return Needs{}, fmt.Errorf("read skill %s: %w", s.Name, err)
	}
	d := Parse(data)
	return l.needs(&d), nil
}

func field(n *yaml.Node, keys ...string) string {
	for _, k := range keys {
		if s, ok := text(get(n, k)); ok && s != "" {
			return s
		}
	}
	return ""
}

// private is what no skill may ask for: it holds other people's secrets, or
// what was said.
var private = [...]string{".env", "config.yaml", "auth.json", "state.db", "sessions", "memories", "skills", "profiles"}

// credential says why a file cannot be handed to a skill; "" when it can.
func (l *Library) credential(p string) string {
	clean := filepath.Clean(filepath.FromSlash(p))
	if !filepath.IsLocal(clean) {
		return " (must lie below the home)"
	}
	first, _, _ := strings.Cut(filepath.ToSlash(clean), "/")
	for _, name := range private {
		if strings.EqualFold(first, name) {
			return " (no skill may have it)"
		}
	}
	home, err := filepath.EvalSymlinks(l.Home)
	if err != nil {
		return " (not there)"
	}
	real, err := filepath.EvalSymlinks(filepath.Join(home, clean))
	if err != nil {
		return " (not there)"
	}
	if !strings.HasPrefix(real, home+string(filepath.Separator)) {
		return " (leads out of the home)"
	}
	if info, err := os.Stat(real); err != nil || !info.Mode().IsRegular() {
		return " (is no file)"
	}
	return ""
}

func (l *Library) settings(d *Doc) []Setting {
	var out []Setting
	seen := map[string]bool{}
	for _, e := range items(get(d.hermes(), "config")) {
		s := Setting{Key: field(e, "key"), Description: field(e, "description"), Prompt: field(e, "prompt"), Default: field(e, "default")}
		if s.Key == "" || s.Description == "" || seen[s.Key] {
			continue
		}
		seen[s.Key] = true
		s.Prompt = orElse(s.Prompt, s.Description)
		value, _ := l.Setting(s.Key)
		if s.Stored = strings.TrimSpace(value) != ""; !s.Stored {
			value = s.Default
		}
		if strings.Contains(value, "${") || strings.HasPrefix(value, "~") {
			value = expand(value, l.UserHome, l.Lookup)
		}
		// It becomes a line of a prompt: one line, and not a long one.
		s.Value = cut(oneLine(value), 500)
		s.Set = s.Value != ""
		out = append(out, s)
	}
	return out
}

// ConfigBlock tells a model the settings; "" without any.
func (n *Needs) ConfigBlock() string {
	if len(n.Settings) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("[Skill config (from ~/.hermes/config.yaml):\n")
	for _, s := range n.Settings {
		fmt.Fprintf(&b, "  %s = %s\n", s.Key, orElse(s.Value, "(not set)"))
	}
	return b.String() + "]"
}
