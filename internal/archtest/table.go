// Package archtest holds the architecture as data and checks the code against
// it: who may import whom, what an init may do, where the environment is read,
// what is linked into the binary and what a model is told of the tools. It is
// imported by nothing; its tests are its purpose. Taste (length, shape, names)
// is left to the reader.
package archtest

import "slices"

// Row says of one package what it is and which packages of this module it may
// import. The standard library is always allowed, third-party modules are
// judged as a whole (modules_test.go). A row may stand before its package does.
type Row struct {
	Path  string // below the module path; a trailing /* stands for each folder
	About string
	May   []string // packages, groups (see groups), or a trailing /* for a tree
	Tests bool     // serves tests and checks: never linked into the program
	Why   string   // where the row departs from the drawing of the architecture
}

// Groups of packages that rows name together.
var groups = map[string][]string{
	// leaves import nothing of the module and are free to all.
	"leaves": {"internal/registry", "internal/events", "internal/flock", "internal/effect", "internal/injection"},
	// contracts are public: other people's Go code may implement them.
	"contracts": {"chat", "secret", "tool", "ask", "provider", "backend", "hub", "host", "platform"},
	// core is what an implementation may use, besides the contracts.
	"core": {
		"internal/config", "internal/shell", "internal/edit", "internal/files", "internal/lint", "internal/toolset", "internal/memory",
		"internal/catalog", "internal/refs", "internal/skill", "internal/store", "internal/checkpoint", "internal/worktree", "internal/prompt", "internal/spend", "internal/agent", "internal/delegate", "internal/replay", "internal/wire",
	},
	// fronts supply messages and read streams.
	"fronts": {"internal/gateway", "internal/cron", "internal/server", "internal/batch", "internal/rl"},
}

// Table is the map of the module, from the bottom up.
var Table = []Row{
	{Path: "chat", About: "messages, calls and usage in OpenAI-shaped JSON", May: nil},
	{Path: "secret", About: "declared variables, .env, lookup, redaction", May: nil},
	{Path: "ask", About: "the human on the other side", May: nil},
	{Path: "internal/registry", About: "the generic registry of kinds", May: nil},
	{Path: "internal/events", About: "fan-out of event streams", May: nil},
	{Path: "internal/effect", About: "the vocabulary of the record of side effects", May: nil},
	{Path: "internal/flock", About: "locks between processes", May: nil},
	{Path: "internal/injection", About: "tell-tales of prompt injection", May: nil},
	{Path: "internal/cells", About: "text by the columns it takes on a terminal", May: nil},
	{Path: "internal/markdown", About: "Markdown to lines for a terminal", May: []string{"internal/cells"}},
	{Path: "tool", About: "the registry of tools", May: []string{"secret"}},
	{Path: "provider", About: "the contract of model clients", May: []string{"chat", "secret", "tool"}},
	{Path: "backend", About: "the contract of places where commands run", May: []string{"secret"}},
	{Path: "hub", About: "the contract of skill sources", May: []string{"secret", "internal/skill", "internal/shell"}},
	{Path: "hub/*", About: "parts of the hub", May: []string{"secret", "hub", "internal/skill", "internal/shell"}},
	{Path: "host", About: "the contract of foreign processes that offer tools", May: []string{"chat", "tool", "secret"}},
	{Path: "platform", About: "the contract of messaging services", May: []string{"chat", "secret", "ask"}},

	{Path: "internal/spend", About: "counts what model calls cost and stops them at limits", May: []string{"chat", "provider"}},
	{Path: "internal/refs", About: "what a message refers to with @", May: []string{"internal/sensitive"}},
	{Path: "internal/config", About: "config.yaml, read once", May: []string{"secret"}},
	{Path: "internal/sensitive", About: "files that hold keys or are run at login, by their paths", May: nil},
	{Path: "internal/urlsafe", About: "which addresses a request may reach", May: nil},
	{Path: "internal/shell", About: "judges a command by its parse tree", May: []string{"internal/sensitive", "internal/urlsafe"}},
	{Path: "internal/edit", About: "finding and replacing text", May: nil},
	{
		Path: "internal/files", About: "paths, reading and writing on a backend, shared by the file tools", May: []string{"backend", "internal/edit", "internal/lint", "internal/sensitive", "secret", "tool"},
		Why: "what read_file, write_file, patch and search_files have in common stands below them, because tools never import each other",
	},
	{Path: "internal/lint", About: "syntax errors in text just written", May: nil},
	{
		Path: "internal/wire", About: "the formats of model services: requests, streams, errors", May: []string{"chat", "provider", "secret", "tool"},
		Why: "rows of providers/compat and the providers with a wire of their own share one reader of streams",
	},
	{Path: "internal/wire/*", About: "one format of model services each", May: []string{"chat", "internal/wire", "provider", "secret", "tool"}},
	{Path: "internal/shellstate", About: "how a shell's state outlasts a command", May: nil},
	{Path: "internal/hostshell", About: "a shell and the files of this machine", May: []string{"backend", "secret", "internal/shellstate"}},
	{Path: "internal/confine", About: "a program that the kernel holds to declared paths", May: []string{"backend", "secret", "internal/hostshell"}},
	{Path: "internal/remote", About: "a shell and the files of another machine or container", May: []string{"backend", "secret", "internal/shellstate"}},
	{Path: "internal/toolset", About: "named sets of tools", May: []string{"tool"}},
	{Path: "internal/catalog", About: "what models take and cost", May: nil},
	{Path: "internal/memory", About: "MEMORY.md and USER.md", May: nil},
	{Path: "internal/skill", About: "SKILL.md: parse, list, render", May: []string{"secret", "ask", "internal/config", "internal/edit"}},
	{Path: "skills", About: "the skills that ship with the program, embedded", May: nil},
	{Path: "internal/store", About: "sessions and messages", May: []string{"chat"}},
	{Path: "internal/backup", About: "a home in one zip file", May: []string{"internal/store"}},
	{Path: "internal/checkpoint", About: "shadow git snapshots", May: nil},
	{Path: "internal/worktree", About: "a git worktree for a conversation", May: nil},
	{Path: "internal/prompt", About: "the system prompt", May: []string{"chat", "internal/skill", "internal/memory"}},
	{Path: "internal/agent", About: "the loop", May: []string{"ask", "chat", "provider", "secret", "tool", "internal/toolset"}},
	{Path: "internal/delegate", About: "children of a conversation", May: []string{"internal/agent", "provider"}},
	{Path: "internal/replay", About: "records a loop and runs it again", May: []string{"ask", "chat", "internal/agent", "provider", "tool"}},
	{Path: "internal/compact", About: "makes long conversations shorter", May: []string{"chat", "internal/agent"}},
	{Path: "internal/curator", About: "proposes changes to skills", May: []string{"internal/agent", "internal/skill"}},
	{Path: "internal/mcpserver", About: "our tools offered to others", May: []string{"tool", "internal/agent", "internal/store", "internal/skill"}},
	{Path: "internal/slash", About: "the commands inside a conversation, for every front", May: []string{"chat", "internal/store"}},
	{Path: "internal/gateway", About: "chats to sessions", May: []string{"contracts", "internal/agent", "internal/store", "internal/config", "internal/slash"}},
	{Path: "internal/cron", About: "scheduled prompts", May: []string{"contracts", "internal/agent", "internal/store", "internal/config"}},
	{Path: "internal/server", About: "an OpenAI-compatible API", May: []string{"contracts", "internal/agent", "internal/store", "internal/config"}},
	{Path: "internal/batch", About: "the batch runner", May: []string{"contracts", "internal/agent", "internal/toolset", "internal/store"}},
	{Path: "internal/rl", About: "the bridge to training environments", May: []string{"contracts", "internal/agent", "internal/toolset", "internal/store"}},
	{Path: "internal/setup", About: "wizard, doctor and screens: readers of the registries", May: []string{"contracts", "core"}},
	{Path: "internal/app", About: "builds everything from one home", May: []string{"contracts", "core", "fronts", "skills", "internal/compact", "internal/slash", "internal/setup", "internal/curator", "internal/mcpserver"}},
	{Path: "internal/cli", About: "commands and what they print", May: []string{"contracts", "core", "fronts", "internal/cells", "internal/markdown", "internal/slash", "internal/setup", "internal/app", "internal/curator", "internal/backup", "internal/cli/*"}},
	{Path: "internal/cli/*", About: "parts of the terminal front", May: []string{"contracts", "core", "internal/cells", "internal/setup", "internal/app"}},
	{Path: "cmd/hermes", About: "main", May: []string{"internal/cli", "internal/confine", "tools/all", "providers/all", "backends/all", "platforms/all", "hubs/all", "hosts/all"}},

	{Path: "tools/all", About: "the list of tools", May: []string{"tools/*"}},
	{Path: "providers/all", About: "the list of providers", May: []string{"providers/*"}},
	{Path: "backends/all", About: "the list of backends", May: []string{"backends/*"}},
	{Path: "platforms/all", About: "the list of platforms", May: []string{"platforms/*"}},
	{Path: "hubs/all", About: "the list of skill sources", May: []string{"hubs/*"}},
	{Path: "hosts/all", About: "the list of hosts", May: []string{"hosts/*"}},
	{Path: "tools/*", About: "one folder for each tool or family", May: []string{"chat", "secret", "tool", "ask", "provider", "backend", "core"}},
	{Path: "providers/*", About: "one folder for each kind of model service", May: []string{"chat", "secret", "tool", "provider", "core"}},
	{
		Path: "backends/*", About: "one folder for each place where commands run", May: []string{"secret", "backend", "core", "internal/shellstate", "internal/hostshell", "internal/confine", "internal/remote"},
		Why: "what several kinds have in common stands below them, because they never import each other",
	},
	{Path: "platforms/*", About: "one folder for each messaging service", May: []string{"chat", "secret", "ask", "platform", "core"}},
	{Path: "hubs/*", About: "one folder for each skill source", May: []string{"secret", "hub", "core"}},
	{Path: "hosts/*", About: "one folder for each kind of foreign process", May: []string{"chat", "secret", "tool", "host", "core"}},

	{Path: "tool/tooltest", About: "what every tool must pass", May: []string{"contracts"}, Tests: true},
	{Path: "provider/providertest", About: "what every provider must pass", May: []string{"contracts", "core", "internal/fakemodel"}, Tests: true},
	{Path: "backend/backendtest", About: "what every backend must pass", May: []string{"contracts"}, Tests: true},
	{Path: "hub/hubtest", About: "what every skill source must pass", May: []string{"contracts"}, Tests: true},
	{Path: "host/hosttest", About: "what every host must pass", May: []string{"contracts"}, Tests: true},
	{Path: "platform/platformtest", About: "what every platform must pass", May: []string{"contracts"}, Tests: true},
	{Path: "internal/files/filestest", About: "a bench for the file tools", May: []string{"contracts", "core", "backends/local"}, Tests: true},
	{Path: "internal/fakemodel", About: "a model server that plays a script", May: []string{"chat"}, Tests: true},
	{Path: "internal/peertest", About: "starts programs of other people, and ours, for tests", May: nil, Tests: true},
	{Path: "internal/archtest", About: "this table", May: nil, Tests: true},
	{Path: "internal/genall", About: "writes the lists of implementations", May: nil, Tests: true},
	{Path: "internal/docgen", About: "writes the reference pages", May: []string{"contracts", "core", "internal/peertest", "tools/all", "providers/all", "backends/all"}, Tests: true},
	{Path: "bench", About: "measures the whole program", May: []string{"contracts", "core", "internal/app", "internal/fakemodel", "internal/peertest", "tools/all", "providers/all", "backends/all"}, Tests: true},
	{Path: "scripts/*", About: "helpers of make check", May: nil, Tests: true},
}

// Find is the row of a package: its own, or else that of its tree.
func Find(path string) (Row, bool) {
	best := -1
	for i, r := range Table {
		if r.Path == path {
			return r, true
		}
		if inTree(r.Path, path) && (best < 0 || len(r.Path) > len(Table[best].Path)) {
			best = i
		}
	}
	if best < 0 {
		return Row{}, false
	}
	return Table[best], true
}

// Allows says whether the row lets its package import another one.
func (r Row) Allows(path string) bool {
	for _, m := range slices.Concat(r.May, []string{"leaves"}) {
		if m == path || inTree(m, path) || slices.Contains(groups[m], path) {
			return true
		}
	}
	return false
}

// inTree says whether pattern is NAME/* and path lies below NAME.
func inTree(pattern, path string) bool {
	n := len(pattern) - 1
	return n > 0 && pattern[n] == '*' && len(path) > n && path[:n] == pattern[:n]
}
