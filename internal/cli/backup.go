package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/backup"
)

// whole is the directory a backup covers: a home with all its profiles, or the
// one profile that was asked for by -p or HERMES_HOME.
func (e *env) whole() string {
	if len(e.args) != len(e.place.Args) {
		return e.place.Dir
	}
	for _, v := range e.environ {
		if value, ok := strings.CutPrefix(v, "HERMES_HOME="); ok && strings.TrimSpace(value) != "" {
			return e.place.Dir
		}
	}
	return e.place.Root
}

func newBackup(e *env) *cobra.Command {
	var b backing
	c := &cobra.Command{
		Use: "backup", Short: "Pack the home into one zip file", Args: cobra.NoArgs,
		Long: `Pack the home into one zip file: settings, keys, memory, skills, sessions. Databases
are copied through their driver, so that other programs may go on writing. Caches,
checkpoints and earlier backups are left out. The file is read back before it gets its
name. It holds your keys: keep it where nobody else reads it.

--quick keeps a copy of the few files that are hard to make again inside the home
(state-snapshots), the newest 20 of them.

Put back with: hermes import FILE`,
		RunE: func(c *cobra.Command, _ []string) error {
			if b.label != "" && !b.quick {
				return usageError("--label goes with --quick")
			}
			if b.quick {
				return b.snapshot(c.Context(), e)
			}
			return b.run(c.Context(), e)
		},
	}
	c.Flags().StringVarP(&b.to, "output", "o", "", "`FILE` or directory (default: hermes-backup-TIME.zip in your home directory)")
	c.Flags().BoolVarP(&b.force, "force", "f", false, "replace the file if it is there")
	c.Flags().BoolVarP(&b.quick, "quick", "q", false, "only a snapshot inside the home")
	c.Flags().StringVarP(&b.label, "label", "l", "", "with --quick: a word for the snapshot's name")
	c.Flags().BoolVar(&b.asJSON, "json", false, "print a JSON object")
	return c
}

type backing struct {
	to, label            string
	force, quick, asJSON bool
}

func (b *backing) run(ctx context.Context, e *env) error {
	home := e.whole()
	if err := homeExists(home); err != nil {
		return err
	}
	now := time.Now()
	name := "hermes-backup-" + now.Format("20060102-150405") + ".zip"
	to := b.to
	switch st, err := os.Stat(to); {
	case to == "":
		to = filepath.Join(e.userHome, name)
	case err == nil && st.IsDir():
		to = filepath.Join(to, name)
	}
	out, err := backup.Write(ctx, home, to, now, b.force)
	if err != nil {
		return err
	}
	if b.asJSON {
		if out.Skipped == nil {
			out.Skipped = []backup.Skipped{}
		}
		if err := printJSON(e.out, struct {
			Home string `json:"home"`
			backup.Written
		}{home, out}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.out, "Backed up %s (%s, %s) to %s (%s).\n", home, count(out.Files, "file"), sizeText(out.Bytes), out.Path, sizeText(out.Size))
		fmt.Fprintln(e.err, "It holds your keys: keep it where nobody else reads it.")
		e.leftOut(out.Skipped)
	}
	return incomplete("the backup", out.Skipped)
}

// homeExists tells a missing home from one that cannot be read.
func homeExists(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no home at %s yet", dir)
	}
	return nil
}

func (e *env) leftOut(list []backup.Skipped) {
	for _, s := range list {
		fmt.Fprintf(e.err, "Not as it should be: %s: %s\n", plainLine(s.Name, 120), s.Reason)
	}
}

// incomplete is the error of a partial result. A link that leads out of the
// home is no fault: what it leads to is not the home's.
func incomplete(what string, list []backup.Skipped) error {
	n := 0
	for _, s := range list {
		if !strings.HasPrefix(s.Reason, "a link ") {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s is incomplete: %s", what, count(n, "file"))
}

func (b *backing) snapshot(ctx context.Context, e *env) error {
	if b.to != "" {
		return usageError("--quick keeps the snapshot inside the home; leave out -o")
	}
	if err := homeExists(e.place.Dir); err != nil {
		return err
	}
	out, err := backup.Quick(ctx, e.place.Dir, b.label, time.Now())
	if err != nil {
		return err
	}
	if b.asJSON {
		if out.Skipped == nil {
			out.Skipped = []backup.Skipped{}
		}
		out.Removed = append([]string{}, out.Removed...)
		if err := printJSON(e.out, out); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.out, "Snapshot %s (%s, %s) in %s\n", out.ID, count(out.Files, "file"), sizeText(out.Bytes), out.Path)
		for _, id := range out.Removed {
			fmt.Fprintf(e.out, "Removed the oldest: %s\n", id)
		}
		e.leftOut(out.Skipped)
	}
	return incomplete("the snapshot", out.Skipped)
}

func newImport(e *env) *cobra.Command {
	var force, asJSON bool
	c := &cobra.Command{
		Use: "import ZIP", Short: "Put a backup back into the home", Args: cobra.ExactArgs(1),
		Long: `Put a backup back into the home. The whole file is looked through before anything is
touched. What is replaced is kept in a folder under backups; files that the backup does
not hold stay. When something fails, the home is as it was.

Sessions of a JSONL export are added with: hermes sessions import FILE`,
		RunE: func(c *cobra.Command, args []string) error {
			a, err := backup.Open(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer func() { _ = a.Close() }() // only read from
			home := e.whole()
			made := ""
			if !a.Made.IsZero() {
				made = " of " + a.Made.Local().Format(time.DateTime)
			}
			if err := e.agreed(c.Context(), force, "--force", fmt.Sprintf("put the backup%s (%s, %s) back into %s", made, count(a.Files, "file"), sizeText(a.Bytes), home)); err != nil {
				return err
			}
			return e.restore(c.Context(), a, home, asJSON)
		},
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "do not ask")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func (e *env) restore(ctx context.Context, a *backup.Archive, home string, asJSON bool) error {
	out, err := a.Restore(ctx, home, time.Now())
	if err != nil {
		return err
	}
	if asJSON {
		if out.Skipped == nil {
			out.Skipped = []backup.Skipped{}
		}
		v := map[string]any{"home": out.Home, "files": out.Files, "replaced": out.Replaced, "aside": orNil(out.Aside), "skipped": out.Skipped}
		if err := printJSON(e.out, v); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.out, "Put %s back into %s.\n", count(out.Files, "file"), out.Home)
		if out.Aside != "" {
			fmt.Fprintf(e.out, "What was there (%s) is kept in %s\n", count(out.Replaced, "file"), out.Aside)
		}
		e.leftOut(out.Skipped)
	}
	return incomplete("the home", out.Skipped)
}
