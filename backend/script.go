package backend

import "context"

// ScriptHost is the service that says where generated code runs.
type ScriptHost interface {
	ScriptSettings() ScriptSettings
	ScriptPlace(ctx context.Context, task string) (ScriptPlace, error)
}

// ScriptPlace is where the code of one call runs.
type ScriptPlace struct {
	Env      Env
	Here     bool   // its files are this machine's
	Confined bool   // it can change nothing that was not declared
	Why      string // why it is not, for the person who is asked
	Dir      string // the task's directory; "": the environment's own
	Close    func() // releases what was made for the call; nil: nothing
}

// ScriptSettings are the keys of the code_execution section.
type ScriptSettings struct {
	Mode     string `yaml:"mode"`           // project: in the task's directory; strict: in one of its own
	Timeout  int    `yaml:"timeout"`        // seconds
	MaxCalls int    `yaml:"max_tool_calls"` // of tools
	Sandbox  bool   `yaml:"sandbox"`        // confined, on this machine
	Timezone string `yaml:"-"`              // "": the place's own
}

// DefaultScriptSettings are what counts for keys that are not set.
func DefaultScriptSettings() ScriptSettings {
	return ScriptSettings{Mode: "project", Timeout: 300, MaxCalls: 50, Sandbox: true}
}
