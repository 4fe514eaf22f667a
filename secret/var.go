// Package secret knows the environment variables that parts of the program
// declare, where their values come from (the home's .env file, then the
// process), and how to keep those values out of everything that leaves the
// process. It stores nothing else and asks nobody: setup and doctor read the
// declarations, the fronts do the asking.
package secret

// Category groups declared variables for setup, as the original's
// OPTIONAL_ENV_VARS does.
type Category string

// The categories of declared variables.
const (
	Provider  Category = "provider"
	Tool      Category = "tool"
	Messaging Category = "messaging"
	Setting   Category = "setting"
	Skill     Category = "skill"
)

// Var declares one environment variable. Setup, doctor, the references and the
// redaction all read this one declaration.
type Var struct {
	Name     string
	About    string   // what it is for, one line
	Prompt   string   // what setup asks; About when empty
	URL      string   // where a person gets a value
	Tools    []string // the tools it unlocks
	Category Category
	Secret   bool // read without echo, redacted by value, never passed to child processes
	Advanced bool // left out of checklists
}
