package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/tool"
)

func newTools(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "tools", Short: "List, explain and run tools", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newToolsList(e), newToolsSchema(e), newToolsRun(e), newToolsWhy(e))
	return c
}

func newToolsList(e *env) *cobra.Command {
	var asJSON bool
	var platform string
	c := &cobra.Command{
		Use: "list", Short: "List every tool and whether a session would have it", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return e.with(func(a *app.App) error {
				rows, err := a.ToolRows(c.Context(), platform)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.out, rows)
				}
				w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
				fmt.Fprintln(w, "TOOL\tTOOLSET\tSTATE\tWHY")
				for _, r := range rows {
					state := "on"
					switch {
					case !r.Available:
						state = "unavailable"
					case !r.Enabled:
						state = "off"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, r.Toolset, state, oneLine(r.Reason, 90))
				}
				return w.Flush()
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	c.Flags().StringVar(&platform, "platform", "cli", "judge for sessions of this platform")
	return c
}

func newToolsSchema(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "schema [NAME]", Short: "Print tools as a model is told of them", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				names := a.Registry.Names()
				if len(args) == 1 {
					names = args
				}
				defs := a.AllDefinitions(c.Context(), names)
				if len(args) == 1 {
					if len(defs) == 0 {
						return unknownTool(e, a, args[0])
					}
					return printJSON(e.out, defs[0])
				}
				return printJSON(e.out, defs)
			})
		},
	}
}

// unknownTool reports a name that no tool has, as every JSON error is.
func unknownTool(e *env, a *app.App, name string) error {
	v := map[string]any{"error": "Unknown tool: " + name}
	if near := tool.Nearest(name, a.Registry.Names(), 3); len(near) > 0 {
		v["nearest"] = near
	}
	if err := printJSON(e.out, v); err != nil {
		return err
	}
	return reported(exitFailed)
}

func newToolsWhy(e *env) *cobra.Command {
	var platform string
	var toolsets []string
	c := &cobra.Command{
		Use: "why NAME", Short: "Say why a tool is, or is not, offered", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				offered, reason, err := a.Why(c.Context(), platform, toolsets, args[0])
				if err != nil {
					return err
				}
				if offered {
					_, err := fmt.Fprintf(e.out, "%s is offered to %s sessions: %s\n", args[0], platform, reason)
					return err
				}
				fmt.Fprintf(e.out, "%s is not offered to %s sessions: %s\n", args[0], platform, reason)
				if _, known := a.Registry.Lookup(args[0]); !known {
					return reported(exitFailed)
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&platform, "platform", "cli", "judge for sessions of this platform")
	c.Flags().StringSliceVarP(&toolsets, "toolsets", "t", nil, "judge for these toolsets")
	return c
}

func newToolsRun(e *env) *cobra.Command {
	var args, file, taskID string
	c := &cobra.Command{
		Use: "run NAME [key=value ...]", Short: "Run one tool and print its result as one line of JSON",
		Long: "Run one tool outside of any conversation. Arguments are given as --args JSON, as a\nfile with --args-file (- for stdin), or as key=value pairs; values are read as the\ntool's schema says.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, rest []string) error {
			raw, err := toolArguments(e, args, file, rest[1:])
			if err != nil {
				return err
			}
			return e.with(func(a *app.App) error { return runTool(c.Context(), e, a, rest[0], taskID, raw) })
		},
	}
	c.Flags().StringVar(&args, "args", "", "the arguments as a JSON object")
	c.Flags().StringVar(&file, "args-file", "", "a file with the arguments as a JSON object; - for stdin")
	c.Flags().StringVar(&taskID, "task-id", "", "the task whose state the tool uses")
	notTogether(c, "args", "args-file")
	return c
}

func toolArguments(e *env, text, file string, pairs []string) (json.RawMessage, error) {
	if (text != "" || file != "") && len(pairs) > 0 {
		return nil, usageError("give the arguments as --args, as --args-file or as key=value, not in two ways")
	}
	switch {
	case text != "":
		return json.RawMessage(text), nil
	case file == "-":
		q := query{text: "-", flag: "--args-file"}
		s, err := q.read(e)
		return json.RawMessage(s), err
	case file != "":
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read arguments: %w", err)
		}
		return b, nil
	}
	fields := map[string]string{}
	for _, p := range pairs {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return nil, usageError("%q is not key=value", p)
		}
		fields[key] = value
	}
	return json.Marshal(fields)
}

func runTool(ctx context.Context, e *env, a *app.App, name, taskID string, args json.RawMessage) error {
	s := a.Session("", taskID, "cli")
	r := a.Registry.Dispatch(ctx, &tool.Call{ID: "run", Name: name, Args: args, Session: s})
	if err := printJSON(e.out, json.RawMessage(r.JSON)); err != nil {
		return err
	}
	if r.Err != nil {
		return reported(exitFailed)
	}
	return nil
}
