package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/shell"
)

func newApprovals(e *env) *cobra.Command {
	c := &cobra.Command{Use: "approvals", Short: "Judge commands, and see which are always allowed", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newApprovalsTest(e), newApprovalsList(e), newApprovalsRemove(e))
	return c
}

// verdict is a judgement as it is printed.
type verdict struct {
	Class    shell.Class `json:"class"`
	Findings []finding   `json:"findings"`
}

type finding struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	Text   string `json:"text"`
	Line   int    `json:"line"`
	Col    int    `json:"col"`
}

func newApprovalsTest(e *env) *cobra.Command {
	var cwd, dialect string
	var asJSON bool
	c := &cobra.Command{
		Use: "test COMMAND", Short: "Say how a command would be judged, and why; nothing runs",
		Long: `Say how a command would be judged on this machine: free, ask (a person decides) or
hardline (never run for an agent). Modes, --yolo and the allowlist do not count.

With - commands are read from standard input, one JSON string a line, and one JSON
object a line is printed for each.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			place, err := e.judgedAt(cwd)
			if err != nil {
				return err
			}
			judge := func(command string) verdict { return judged(command, dialect, place) }
			switch dialect {
			case "posix", "powershell", "cmd":
			default:
				return usageError("--shell %s: want posix, powershell or cmd", dialect)
			}
			if args[0] == "-" {
				return judgeLines(e, judge)
			}
			v := judge(args[0])
			if asJSON {
				return printJSON(e.out, v)
			}
			fmt.Fprintln(e.out, v.Class)
			for _, f := range v.Findings {
				fmt.Fprintf(e.out, "  %s: %s (line %d, column %d: %s)\n", f.Rule, f.Reason, f.Line, f.Col, f.Text)
			}
			return nil
		},
	}
	c.Flags().StringVar(&cwd, "cwd", "", "the `DIR` where the command would run (default: here)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().StringVar(&dialect, "shell", "posix", "the `SHELL` that would read it: posix, powershell or cmd")
	return c
}

// judgedAt is what a judgement needs to know of this machine.
func (e *env) judgedAt(cwd string) (shell.Env, error) {
	dir, err := filepath.Abs(cwd)
	if err != nil {
		return shell.Env{}, fmt.Errorf("--cwd: %w", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // ~ is then not known, and asked about
	}
	return shell.Env{Dir: dir, Home: home, Private: e.place.Dir, Tmp: []string{os.TempDir()}}, nil
}

func judged(command, dialect string, place shell.Env) verdict {
	var v shell.Verdict
	switch dialect {
	case "powershell":
		v = shell.JudgeWindows(command, shell.PowerShell, place)
	case "cmd":
		v = shell.JudgeWindows(command, shell.Cmd, place)
	default:
		v = shell.Judge(command, place)
	}
	out := verdict{Class: v.Class, Findings: []finding{}}
	for _, f := range v.Findings {
		out.Findings = append(out.Findings, finding{f.Rule, f.Reason, f.Text, f.Line, f.Col})
	}
	return out
}

// judgeLines answers every line as soon as it is read. A line that is no JSON
// string ends it, with its number.
func judgeLines(e *env, judge func(string) verdict) error {
	in := bufio.NewReader(e.in)
	out := bufio.NewWriter(e.out)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("standard input: %w", err)
		}
		if strings.TrimSpace(line) != "" {
			var command string
			if bad := json.Unmarshal([]byte(line), &command); bad != nil {
				return errors.Join(out.Flush(), fmt.Errorf("line %d is no JSON string: %w", n, bad))
			}
			if bad := printJSON(out, judge(command)); bad != nil {
				return bad
			}
			if in.Buffered() == 0 {
				if bad := out.Flush(); bad != nil {
					return bad
				}
			}
		}
		if err != nil {
			return out.Flush()
		}
	}
}

// allowlist reads command_allowlist.
func allowlist(e *env) (*config.Config, []string, error) {
	cfg, _, err := e.settings()
	if err != nil {
		return nil, nil, err
	}
	var entries []string
	return cfg, entries, config.Decode(cfg, "command_allowlist", &entries)
}

func newApprovalsList(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "Show what is always allowed", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, entries, err := allowlist(e)
			if err != nil {
				return err
			}
			if asJSON {
				if entries == nil {
					entries = []string{}
				}
				return printJSON(e.out, entries)
			}
			if len(entries) == 0 {
				fmt.Fprintln(e.err, "nothing is always allowed")
			}
			for i, entry := range entries {
				fmt.Fprintf(e.out, "%d. %s\n", i+1, strings.ReplaceAll(entry, "\n", "\n   "))
				if rules := shell.RulesOf(entry); !slices.Equal(rules, []string{entry}) {
					fmt.Fprintf(e.out, "   (of the original; stands for: %s)\n", strings.Join(rules, ", "))
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of the entries")
	return c
}

func newApprovalsRemove(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "remove ENTRY", Short: "No longer allow an entry, given by its text or its number in the list", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, entries, err := allowlist(e)
			if err != nil {
				return err
			}
			i := slices.Index(entries, args[0])
			if i < 0 {
				var n int
				if _, err := fmt.Sscanf(args[0], "%d", &n); err != nil || fmt.Sprint(n) != args[0] || n < 1 || n > len(entries) {
					return fmt.Errorf("%q is not in command_allowlist; see: hermes approvals list", args[0])
				}
				i = n - 1
			}
			if _, err := config.Unset(cfg.Path(), fmt.Sprintf("command_allowlist[%d]", i)); err != nil {
				return err
			}
			_, now, err := allowlist(e)
			if err != nil {
				return err
			}
			if len(now) != len(entries)-1 || slices.Contains(now, entries[i]) && !slices.Contains(append(slices.Clone(entries[:i]), entries[i+1:]...), entries[i]) {
				return fmt.Errorf("%q is still in command_allowlist; look at: hermes config edit", entries[i])
			}
			fmt.Fprintf(e.out, "removed: %s\n", entries[i])
			return nil
		},
	}
}
