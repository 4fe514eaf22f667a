package cli

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
)

// sizeRow is one part of what is sent with every request.
type sizeRow struct {
	Section string `json:"section"`
	Bytes   int    `json:"bytes"`
	Tokens  int    `json:"tokens"` // estimated, four bytes each
}

func newPromptSize(e *env) *cobra.Command {
	var f chatFlags
	var asJSON bool
	c := &cobra.Command{
		Use: "prompt-size", Short: "Show what every request carries, by section", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return e.with(func(a *app.App) error {
				in := f.ask()
				if in.Provider == "" && in.Model == "" {
					in.Provider = "offline" // sizes do not depend on the service; no key is needed to see them
				}
				conv, err := a.Converse(c.Context(), in)
				if err != nil {
					return startError(err)
				}
				var rows []sizeRow
				total := 0
				add := func(name string, n int) {
					rows = append(rows, sizeRow{name, n, (n + 3) / 4})
					total += n
				}
				for _, s := range conv.Sections() {
					add(s.Name, len(s.Text))
				}
				for _, d := range a.AllDefinitions(c.Context(), conv.Enabled) {
					b, err := json.Marshal(d)
					if err != nil {
						return err
					}
					add("tool "+d.Function.Name, len(b))
				}
				rows = append(rows, sizeRow{"total", total, (total + 3) / 4})
				if asJSON {
					return printJSON(e.out, rows)
				}
				w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', tabwriter.AlignRight)
				fmt.Fprintln(w, "BYTES\tTOKENS\t SECTION")
				for _, r := range rows {
					fmt.Fprintf(w, "%d\t%d\t %s\n", r.Bytes, r.Tokens, r.Section)
				}
				return w.Flush()
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}
