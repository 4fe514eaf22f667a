package checkpoint

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Table is the list of snapshots as a person reads it.
func Table(tree string, all []Snapshot, now time.Time) string {
	if len(all) == 0 {
		if tree == "" {
			return "This directory is never saved: it is a home, a root, or the program's own.\n"
		}
		return fmt.Sprintf("No checkpoint has been made of %s yet: the first comes before the agent changes a file there.\n", tree)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Checkpoints of %s\n\n", tree)
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for i, s := range all {
		fmt.Fprintf(w, "%3d\t%s\t%s\t%s\t%s\n", i+1, s.Short, s.Time.Local().Format("2006-01-02 15:04"), stat(s), s.Reason)
	}
	_ = w.Flush() // into memory
	fmt.Fprintf(&b, "\nThe number is how far back: 1 is the newest, %s old.\n", age(now.Sub(all[0].Time)))
	return b.String()
}

func stat(s Snapshot) string {
	files := "files"
	if s.Files == 1 {
		files = "file"
	}
	return fmt.Sprintf("%d %s +%d -%d", s.Files, files, s.Insertions, s.Deletions)
}

func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// Summary is a report in one line.
func (r Report) Summary() string {
	text := fmt.Sprintf("%d restored, %d removed", len(r.Restored), len(r.Removed))
	if n := len(r.Left); n > 0 {
		text += fmt.Sprintf(", %d new ones left", n)
	}
	if n := len(r.Failed); n > 0 {
		text += fmt.Sprintf(", %d NOT restored", n)
	}
	return text
}

// Text is a report as a person reads it.
func (r Report) Text() string {
	var b strings.Builder
	switch {
	case len(r.Restored)+len(r.Removed)+len(r.Failed) == 0:
		fmt.Fprintf(&b, "Nothing to restore: %s is as it was at checkpoint %s.\n", r.Tree, r.To.Short)
	default:
		fmt.Fprintf(&b, "Back to checkpoint %s (%s): %s.\n", r.To.Short, r.To.Reason, r.Summary())
	}
	part := func(what string, names []string) {
		const most = 40
		if len(names) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n", what)
		for i, n := range names {
			if i == most {
				fmt.Fprintf(&b, "  ... and %d more\n", len(names)-most)
				break
			}
			fmt.Fprintf(&b, "  %s\n", n)
		}
	}
	part("Restored", r.Restored)
	part("Removed, made by the agent since", r.Removed)
	part("Left as they are, made since by commands or people", r.Left)
	part("NOT restored", r.Failed)
	part("Never saved", r.NotSaved)
	if r.Saved != "" {
		fmt.Fprintf(&b, "What was there before is checkpoint %.8s.\n", r.Saved)
	}
	return b.String()
}
