package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/store"
)

func newSessionsExport(e *env) *cobra.Command {
	x := &exporter{env: e}
	c := &cobra.Command{
		Use: "export FILE|-", Short: "Write sessions to a file: JSONL, Markdown or HTML", Args: cobra.ExactArgs(1),
		Long: `Write sessions to a file, or to stdout with -. The format follows the file's name
(.md, .html, else JSONL) unless --format gives it.

JSONL holds everything, one session a line, exactly as it is stored, and can be
imported again. Markdown and HTML are for reading and sharing: keys and passwords
that this program knows are masked in them. --redact and --redact=false change that.

An existing file is replaced once the new one is complete.`,
		RunE: func(c *cobra.Command, args []string) error {
			x.mask = c.Flags().Changed("redact")
			return x.run(c.Context(), args[0])
		},
	}
	c.Flags().StringSliceVar(&x.refs, "session-id", nil, "only these sessions, by id or title")
	c.Flags().StringVar(&x.source, "source", "", "only sessions of this source, e.g. cli")
	c.Flags().StringVar((*string)(&x.format), "format", "", "jsonl, md or html")
	c.Flags().BoolVar(&x.redact, "redact", false, "mask keys and passwords (default: in md and html)")
	c.Flags().BoolVar(&x.asJSON, "json", false, "print what was written as a JSON object")
	return c
}

type exporter struct {
	*env
	refs           []string
	source         string
	format         store.Format
	redact, asJSON bool
	mask           bool // redact was given
}

func (x *exporter) run(ctx context.Context, to string) error {
	if x.format == "" {
		switch strings.ToLower(filepath.Ext(to)) {
		case ".md", ".markdown":
			x.format = store.Markdown
		case ".html", ".htm":
			x.format = store.HTML
		default:
			x.format = store.JSONL
		}
	}
	if x.format != store.JSONL && x.format != store.Markdown && x.format != store.HTML {
		return usageError("--format %q: it is jsonl, md or html", x.format)
	}
	if to == "-" && x.asJSON {
		return usageError("--json and - both want stdout")
	}
	if !x.mask {
		x.redact = x.format != store.JSONL
	}
	return x.withBoth(func(a *app.App, db *store.DB) error {
		ids, err := x.choose(ctx, db)
		if err != nil {
			return err
		}
		var mask func(string) string
		if x.redact {
			mask = a.Secrets.Redactor().Redact
		}
		write := func(w io.Writer) error { return x.write(ctx, db, w, mask, ids) }
		if to == "-" {
			return write(x.out)
		}
		size, err := writeBeside(to, write)
		if err != nil {
			return err
		}
		messages := 0
		for _, id := range ids {
			s, err := db.Session(ctx, id)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			messages += s.Messages
		}
		sessions := len(ids)
		if x.format == store.JSONL { // what the file says, not what was meant
			if sessions, messages, err = countLines(to); err != nil {
				return err
			}
		}
		if x.asJSON {
			return printJSON(x.out, map[string]any{"path": to, "format": x.format, "sessions": sessions, "messages": messages, "bytes": size, "redacted": x.redact})
		}
		_, err = fmt.Fprintf(x.out, "Exported %s (%s) to %s.\n", count(sessions, "session"), count(messages, "message"), to)
		return err
	})
}

// choose lists what is exported, the oldest first.
func (x *exporter) choose(ctx context.Context, db *store.DB) ([]string, error) {
	var ids []string
	for _, ref := range x.refs {
		id, err := find(ctx, db, ref)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if len(x.refs) > 0 {
		return ids, nil
	}
	f := store.Filter{Limit: -1, Children: true, ByStart: true, Exclude: []string{}}
	if x.source != "" {
		f.Sources = []string{x.source}
	}
	list, err := db.List(ctx, f)
	if err != nil {
		return nil, err
	}
	for i := len(list) - 1; i >= 0; i-- {
		ids = append(ids, list[i].ID)
	}
	return ids, nil
}

// write exports one session after the other, so that one which somebody
// deletes meanwhile is no error; HTML is one page of all.
func (x *exporter) write(ctx context.Context, db *store.DB, w io.Writer, mask func(string) string, ids []string) error {
	if x.format == store.HTML && len(ids) > 0 {
		return db.ExportMasked(ctx, w, x.format, mask, ids...)
	}
	for _, id := range ids {
		err := db.ExportMasked(ctx, w, x.format, mask, id)
		if errors.Is(err, store.ErrNotFound) && len(x.refs) == 0 {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeBeside writes a file that only its owner can read, beside and renamed.
func writeBeside(to string, write func(io.Writer) error) (size int64, err error) {
	if st, err := os.Stat(to); err == nil && !st.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is no file that can be replaced", to)
	}
	f, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*")
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", to, err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // gone already when all went well
	}()
	if err := write(f); err != nil {
		return 0, err
	}
	st, err := f.Stat()
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, fmt.Errorf("write %s: %w", to, err)
	}
	if err := os.Rename(f.Name(), to); err != nil {
		return 0, fmt.Errorf("write %s: %w", to, err)
	}
	return st.Size(), nil
}

// transcriptLine is as much of an exported line as tells whether it is one.
type transcriptLine struct {
	ID       *string `json:"id"`
	Messages *[]struct {
		Role string `json:"role"`
	} `json:"messages"`
}

func readLines(r io.Reader, each func(n int, text []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(text) > 0 {
			if err := each(n, text); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

func countLines(name string) (sessions, messages int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, fmt.Errorf("read back: %w", err)
	}
	defer func() { _ = f.Close() }() // only read from
	err = readLines(f, func(n int, text []byte) error {
		var l transcriptLine
		if err := json.Unmarshal(text, &l); err != nil || l.Messages == nil {
			return fmt.Errorf("%s does not read back: line %d: %w", name, n, errors.Join(err, errors.New("no session")))
		}
		sessions++
		messages += len(*l.Messages)
		return nil
	})
	return sessions, messages, err
}

func newSessionsImport(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "import FILE|-", Short: "Add the sessions of a JSONL export", Args: cobra.ExactArgs(1),
		Long: "Add the sessions of a JSONL export, of this program or the original. Each session comes in\nwhole or not at all; one that is there already stays as it is. What was left out is said.",
		RunE: func(c *cobra.Command, args []string) error {
			in := io.Reader(e.in)
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("import sessions: %w", err)
				}
				defer func() { _ = f.Close() }() // only read from
				in = f
			}
			return e.withStore(func(db *store.DB) error { return e.importSessions(c.Context(), db, in, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// badLine is a line of an import that was left out.
type badLine struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func (e *env) importSessions(ctx context.Context, db *store.DB, in io.Reader, asJSON bool) error {
	if t := db.Trouble(); t != nil {
		return t
	}
	r, w := io.Pipe()
	bad := []badLine{}
	want := map[string]int{} // messages by session
	sorted := make(chan struct{})
	go func() {
		defer close(sorted)
		w.CloseWithError(sortLines(in, w, &bad, want))
	}()
	out, err := db.Import(ctx, r)
	r.CloseWithError(io.ErrClosedPipe)
	<-sorted
	skipped := map[string]bool{}
	for _, id := range out.Skipped {
		skipped[id] = true
	}
	if err == nil {
		for id, n := range want { // what is said below was read back
			if s, readErr := db.Session(ctx, id); readErr != nil || !skipped[id] && s.Messages != n {
				err = errors.Join(err, fmt.Errorf("session %s has %d messages after the import and should have %d", id, s.Messages, n), readErr)
			}
		}
	}
	if out.Skipped == nil {
		out.Skipped = []string{}
	}
	if asJSON {
		v := map[string]any{"sessions": out.Sessions, "messages": out.Messages, "skipped": out.Skipped, "broken": bad}
		if err := printJSON(e.out, v); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.out, "Imported %s (%s).\n", count(out.Sessions, "session"), count(out.Messages, "message"))
		if n := len(out.Skipped); n > 0 {
			fmt.Fprintf(e.out, "Left as they are, because they are there already: %s\n", strings.Join(out.Skipped, ", "))
		}
		for _, b := range bad {
			fmt.Fprintf(e.err, "Line %d was left out: %s\n", b.Line, b.Reason)
		}
	}
	if err == nil && len(bad) > 0 {
		return fmt.Errorf("%s of the file could not be imported", count(len(bad), "line"))
	}
	return err
}

// sortLines passes on the lines that hold a session. The others are left empty,
// so that line numbers stay.
func sortLines(in io.Reader, w io.Writer, bad *[]badLine, want map[string]int) error {
	return readLines(in, func(n int, text []byte) error {
		line := bytes.TrimRight(bytes.TrimPrefix(text, []byte("\ufeff")), "\r\n")
		if bytes.HasPrefix(line, []byte("PK\x03\x04")) && n == 1 {
			return errors.New("this is a zip file; a backup is put back with: hermes import FILE")
		}
		why := ""
		var l transcriptLine
		switch err := json.Unmarshal(line, &l); {
		case len(bytes.TrimSpace(line)) == 0:
		case err != nil:
			why = "no JSON object of a session: " + err.Error()
		case l.ID == nil || *l.ID == "":
			why = "no session: it has no id"
		case l.Messages == nil:
			why = "no session: it has no messages"
		default:
			for i, m := range *l.Messages {
				if m.Role == "" {
					why = fmt.Sprintf("message %d has no role", i+1)
				}
			}
		}
		if why != "" {
			*bad = append(*bad, badLine{n, why})
			line = nil
		} else if l.ID != nil {
			if _, twice := want[*l.ID]; !twice {
				want[*l.ID] = len(*l.Messages)
			}
		}
		_, err := w.Write(append(line, '\n'))
		return err
	})
}
