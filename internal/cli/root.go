package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const rootHelp = `Hermes is an agent that works in your terminal: it talks to any model, acts
through tools, and remembers every conversation.

  hermes                     start a conversation
  hermes chat -q "TEXT"      ask one thing and print the answer
  hermes demo                see it work, without a key or a network
  hermes tools list          what it can do here, and why something is missing`

// command is a command of the first level.
type command struct {
	name string
	make func(*env) *cobra.Command
}

var commands = [...]command{
	{"chat", newChat},
	{"tools", newTools},
	{"sessions", newSessions},
	{"prompt-size", newPromptSize},
	{"demo", newDemo},
	{"version", newVersion},
	{"backup", newBackup},
	{"rollback", newRollback},
	{"import", newImport},
	{"insights", newInsights},
	{"usage", newUsage},
	{"replay", newReplay},
	{"config", newConfig},
	{"model", newModel},
	{"auth", newAuth},
	{"fallback", newFallback},
	{"doctor", newDoctor},
	{"status", newStatus},
	{"logs", newLogs},
	{"profile", newProfile},
	{"uninstall", newUninstall},
	{"setup", newSetup},
	{"skills", newSkills},
	{"curator", newCurator},
	{"approvals", newApprovals},
}

// asked is the command that the arguments begin with, nil without one.
func asked(args []string) *command {
	for i := range commands {
		if len(args) > 0 && commands[i].name == args[0] {
			return &commands[i]
		}
	}
	return nil
}

// newRoot builds the commands that the arguments may mean: the one they begin
// with, or else all. A start does not pay for the rest.
func newRoot(e *env, args []string) *cobra.Command {
	one := asked(args)
	var f chatFlags
	var q query
	var oneshot string
	var version bool
	root := &cobra.Command{
		Use: "hermes", Short: "An agent in one binary", Long: rootHelp,
		Args: cobra.ArbitraryArgs, SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.words(c, args); err != nil {
				return err
			}
			switch {
			case version:
				return printVersion(e, false)
			case c.Flags().Changed("oneshot"):
				return runQuery(c.Context(), e, &f, query{text: oneshot, quiet: true, bare: true, flag: "-z"})
			default:
				return q.or(c, e, &f)
			}
		},
	}
	if one == nil {
		f.add(root)
		q.add(root)
		root.Flags().StringVarP(&oneshot, "oneshot", "z", "", "answer `PROMPT` and print only the answer; - reads it from stdin")
		root.Flags().BoolVarP(&version, "version", "V", false, "print the version")
	}
	root.CompletionOptions.DisableDefaultCmd = one != nil
	root.PersistentFlags().StringP("profile", "p", "", "use the home of a profile")
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError("%w; see: %s --help", err, c.CommandPath())
	})
	for _, c := range commands {
		if one == nil || c.name == one.name {
			root.AddCommand(c.make(e))
		}
	}
	exactArguments(root)
	return root
}

// argumentError says which argument is missing or too many, by the words of a
// command's usage.
func argumentError(use string, args []string, err error) error {
	words := strings.Fields(use)[1:]
	needed := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "[") })
	if needed < 0 {
		needed = len(words)
	}
	switch {
	case len(args) < needed:
		return fmt.Errorf("%s is missing: %s", strings.TrimSuffix(words[len(args)], "..."), use)
	case len(args) > len(words) && !strings.Contains(use, "..."):
		return fmt.Errorf("%q is one argument too many: %s", args[len(words)], use)
	}
	return err
}

// exactArguments makes wrong arguments a usage error everywhere.
func exactArguments(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				if strings.Contains(err.Error(), "arg(s)") { // cobra counts them and names none
					err = argumentError(c.Use, args, err)
				}
				return usageError("%w; see: %s --help", err, c.CommandPath())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		exactArguments(sub)
	}
}
