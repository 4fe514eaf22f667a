package archtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/peertest"
)

// node is a JSON Schema reduced to what changes a model's behaviour and a
// script's calls: names, types, enums and what is required. Prose is ours.
type node struct {
	Type       string          `json:"type"`
	Enum       []string        `json:"enum"`
	Properties map[string]node `json:"properties"`
	Items      *node           `json:"items"`
	Required   []string        `json:"required"`
}

// additions are the optional parameters that the original does not have. One
// more is a decision: write here what it is for.
var additions = map[string]string{
	"skills_list.query":           "a hundred skills are found by a word, not by reading all of them",
	"skills_list.limit":           "long lists come in pages",
	"skills_list.offset":          "long lists come in pages",
	"skill_view.offset":           "texts longer than an answer come in pages",
	"skill_view.limit":            "texts longer than an answer come in pages",
	"read_file.encoding":          "text in an encoding that was not recognised",
	"search_files.include_hidden": "hidden files are left out unless asked for, in both engines",
}

// omissions are parameters of the original that are not offered. One more is a
// decision: write here why.
var omissions = map[string]string{
	"delegate_task.acp_command":         "agents behind the ACP protocol cannot be asked yet",
	"delegate_task.acp_args":            "agents behind the ACP protocol cannot be asked yet",
	"delegate_task.tasks[].acp_command": "agents behind the ACP protocol cannot be asked yet",
	"delegate_task.tasks[].acp_args":    "agents behind the ACP protocol cannot be asked yet",
}

// later are tools of the original that this tree does not hold yet. A tool
// that has come must leave the list.
var later = []string{}

// definitions are what `hermes tools schema` prints: every tool, as a model is
// told of it.
func definitions(t *testing.T) (raw string, byName map[string]node) {
	t.Helper()
	h := peertest.NewHome(t, "")
	out, stderr, code := h.Run(t, "tools", "schema")
	if code != 0 {
		t.Fatalf("hermes tools schema: exit %d\n%s", code, stderr)
	}
	var list []struct {
		Function struct {
			Name       string `json:"name"`
			Parameters node   `json:"parameters"`
		} `json:"function"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("hermes tools schema: %v", err)
	}
	byName = map[string]node{}
	for _, d := range list {
		byName[d.Function.Name] = d.Function.Parameters
	}
	for _, dir := range []string{h.Dir, h.Work} {
		out = strings.ReplaceAll(out, dir, "DIR")
	}
	return out, byName
}

// TestOriginalDefinitions holds every tool that the original has to the
// original's names, parameters, types and enums.
func TestOriginalDefinitions(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("testdata", "original_definitions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var original map[string]node
	if err := json.Unmarshal(b, &original); err != nil {
		t.Fatal(err)
	}
	_, ours := definitions(t)
	for _, name := range slices.Sorted(maps.Keys(original)) {
		got, ok := ours[name]
		switch waits := slices.Contains(later, name); {
		case ok && waits:
			t.Errorf("%s has come; take it off the list of later tools", name)
		case !ok && !waits:
			t.Errorf("%s is missing", name)
		}
		if !ok {
			continue
		}
		for _, problem := range compare(name, original[name], got) {
			t.Error(problem)
		}
	}
	for name := range ours {
		if _, ok := original[name]; !ok {
			t.Errorf("%s is no tool of the original; a tool of our own is a decision to write down in original_definitions.json", name)
		}
	}
}

// compare says where a definition departs from the original's.
func compare(path string, want, got node) (problems []string) {
	report := func(format string, args ...any) {
		problems = append(problems, path+" "+fmt.Sprintf(format, args...))
	}
	if want.Type != "" && got.Type != want.Type {
		report("is of type %q, the original's of %q", got.Type, want.Type)
	}
	if !slices.Equal(slices.Sorted(slices.Values(want.Enum)), slices.Sorted(slices.Values(got.Enum))) {
		report("takes %v, the original's %v", got.Enum, want.Enum)
	}
	if !slices.Equal(slices.Sorted(slices.Values(want.Required)), slices.Sorted(slices.Values(got.Required))) {
		report("requires %v, the original's %v", got.Required, want.Required)
	}
	if (want.Items == nil) != (got.Items == nil) {
		report("says what its items are, or does not, unlike the original's")
	} else if want.Items != nil {
		problems = append(problems, compare(path+"[]", *want.Items, *got.Items)...)
	}
	for name, p := range want.Properties {
		q, ok := got.Properties[name]
		if !ok {
			if omissions[path+"."+name] == "" {
				report("has no parameter %q", name)
			}
			continue
		}
		problems = append(problems, compare(path+"."+name, p, q)...)
	}
	for name := range got.Properties {
		if _, ok := want.Properties[name]; !ok && additions[path+"."+name] == "" {
			report("has a parameter %q that the original does not have; list it in additions with its reason", name)
		}
	}
	slices.Sort(problems)
	return problems
}

// TestDefinitions is the whole of what a model sees of the tools: a change is
// a difference to look at, because it changes what models do.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	raw, _ := definitions(t)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(raw), "", " "); err != nil {
		t.Fatal(err)
	}
	golden(t, "definitions.json", strings.TrimSpace(pretty.String())+"\n")
}

func TestCompare(t *testing.T) {
	t.Parallel()
	original := node{Type: "object", Properties: map[string]node{"path": {Type: "string"}, "mode": {Type: "string", Enum: []string{"a", "b"}}}, Required: []string{"path"}}
	tests := []struct {
		name string
		got  node
		want int
	}{
		{"same", original, 0},
		{"other type", node{Type: "object", Required: []string{"path"}, Properties: map[string]node{"path": {Type: "integer"}, "mode": original.Properties["mode"]}}, 1},
		{"other enum", node{Type: "object", Required: []string{"path"}, Properties: map[string]node{"path": {Type: "string"}, "mode": {Type: "string", Enum: []string{"a"}}}}, 1},
		{"nothing", node{}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := compare("x", original, tt.got); len(got) != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}
