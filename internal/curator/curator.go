// Package curator keeps the skills that agents made from piling up: it puts
// away what has long been of no use, and proposes which to merge. It never
// touches what a person wrote or pinned, changes no text, and all it does can
// be taken back. It asks no model.
package curator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hermes-go/hermes/internal/skill"
)

// Options are the `curator` section of the configuration.
type Options struct {
	Enabled      bool
	Interval     time.Duration
	MinIdle      time.Duration
	StaleAfter   time.Duration
	ArchiveAfter time.Duration
	Backup       bool
	Keep         int    // backups
	Logs         string // directory of the reports
}

// Kind is what is to be done.
type Kind string

// The kinds of proposals. Merging is left to people and their agents.
const (
	Archive Kind = "archive"
	Stale   Kind = "stale"  // to be put away unless somebody uses it
	Active  Kind = "active" // used again
	Merge   Kind = "merge"
)

// Proposal is one thing that the curator would do.
type Proposal struct {
	Kind   Kind   `json:"kind"`
	Skill  string `json:"skill"`
	Into   string `json:"into,omitempty"` // for Merge
	Reason string `json:"reason"`
	Done   bool   `json:"done"`
	Result string `json:"result,omitempty"`
}

// State is what is known of earlier runs, in the original's format.
type State struct {
	LastRun    *time.Time `json:"last_run_at"`
	Seconds    float64    `json:"last_run_duration_seconds"`
	Summary    string     `json:"last_run_summary"`
	LastReport string     `json:"last_report_path"`
	Paused     bool       `json:"paused"`
	Runs       int        `json:"run_count"`
}

// Curator works on the skills of one home.
type Curator struct {
	Skills *skill.Library
	Options
}

func (c *Curator) statePath() string { return filepath.Join(c.Skills.Dir(), ".curator_state") }

// State reads what is known of earlier runs.
func (c *Curator) State() (State, error) {
	var s State
	data, err := os.ReadFile(c.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, fmt.Errorf("state of the curator: %w", err)
	}
	return s, nil
}

func (c *Curator) keep(s State) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return replace(c.statePath(), append(data, '\n'))
}

func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp.*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone once renamed
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Pause stops runs that nobody asked for, or lets them go on.
func (c *Curator) Pause(on bool) error {
	s, err := c.State()
	if err != nil {
		return err
	}
	s.Paused = on
	return c.keep(s)
}

// Due says whether a run that nobody asked for may begin. The first question
// only starts the clock.
func (c *Curator) Due() (bool, error) {
	if !c.Enabled {
		return false, nil
	}
	s, err := c.State()
	if err != nil || s.Paused {
		return false, err
	}
	now := c.Skills.Now()
	if s.LastRun == nil {
		s.LastRun = &now
		return false, c.keep(s)
	}
	if now.Sub(*s.LastRun) < c.Interval {
		return false, nil
	}
	for _, u := range c.Skills.Usages() {
		if now.Sub(u.LastUsed) < c.MinIdle {
			return false, nil
		}
	}
	return true, nil
}

// Managed are the skills that the curator may look after: made by an agent,
// lying in the home, touched by no person, not pinned.
func (c *Curator) Managed() ([]*skill.Skill, error) {
	bundled := c.Skills.Bundled()
	var out []*skill.Skill
	for _, s := range c.Skills.List().Skills {
		u := c.Skills.Usage(s)
		if s.Root.Source != skill.Home || s.State != skill.OK || u.CreatedBy != skill.ByAgent || u.Pinned || bundled[s.Name] {
			continue
		}
		touched, err := c.Skills.TouchedByPerson(s)
		if err != nil {
			return nil, err
		}
		if !touched {
			out = append(out, s)
		}
	}
	return out, nil
}

// Review says what a run would do. It changes nothing.
func (c *Curator) Review() ([]Proposal, error) {
	managed, err := c.Managed()
	if err != nil {
		return nil, err
	}
	now := c.Skills.Now()
	out := []Proposal{}
	var living []*skill.Skill
	for _, s := range managed {
		u := c.Skills.Usage(s)
		unused := now.Sub(u.Last())
		said := fmt.Sprintf("of no use for %d days", int(unused.Hours()/24))
		switch {
		case unused >= c.ArchiveAfter:
			out = append(out, Proposal{Kind: Archive, Skill: s.Name, Reason: said})
			continue
		case unused >= c.StaleAfter && u.State == skill.Active:
			out = append(out, Proposal{Kind: Stale, Skill: s.Name, Reason: said})
		case unused < c.StaleAfter && u.State == skill.Stale:
			out = append(out, Proposal{Kind: Active, Skill: s.Name, Reason: "it is used again"})
		}
		living = append(living, s)
	}
	alike, err := c.alike(living)
	return append(out, alike...), err
}

// Report is what a run came to.
type Report struct {
	At        time.Time  `json:"at"`
	Dry       bool       `json:"dry_run"`
	Backup    string     `json:"backup,omitempty"`
	Path      string     `json:"report,omitempty"`
	Proposals []Proposal `json:"proposals"`
}

// Summary is the report in one line.
func (r *Report) Summary() string {
	count := map[Kind]int{}
	for _, p := range r.Proposals {
		count[p.Kind]++
	}
	if len(count) == 0 {
		return "nothing to do"
	}
	var parts []string
	for _, k := range []Kind{Archive, Stale, Active, Merge} {
		if n := count[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", k, n))
		}
	}
	return strings.Join(parts, ", ")
}

// Run does what Review proposes, but for merges. dry only reports.
func (c *Curator) Run(dry bool) (Report, error) {
	r := Report{At: c.Skills.Now().UTC().Truncate(time.Second), Dry: dry}
	var err error
	if r.Proposals, err = c.Review(); err != nil || dry {
		return r, err
	}
	stamp := r.At.Format("20060102T150405Z")
	if r.Backup, err = c.backup(stamp, r.Proposals); err != nil {
		return r, err
	}
	var errs []error
	for i := range r.Proposals {
		p := &r.Proposals[i]
		if err := c.do(p); err != nil {
			p.Result = err.Error()
			errs = append(errs, fmt.Errorf("%s %s: %w", p.Kind, p.Skill, err))
		}
	}
	r.Path = filepath.Join(c.Logs, stamp)
	errs = append(errs, c.write(&r))
	s, err := c.State()
	if err == nil {
		s.LastRun, s.Seconds, s.Summary, s.LastReport = &r.At, c.Skills.Now().Sub(r.At).Seconds(), r.Summary(), r.Path
		s.Runs++
		err = c.keep(s)
	}
	return r, errors.Join(append(errs, err)...)
}

func (c *Curator) do(p *Proposal) error {
	switch p.Kind {
	case Archive:
		s, err := c.Skills.List().Find(p.Skill)
		if err != nil {
			return err
		}
		// A person may have used, pinned or edited it since.
		managed, err := c.Managed()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(managed, func(m *skill.Skill) bool { return m.Path == s.Path }) || c.Skills.Now().Sub(c.Skills.Usage(s).Last()) < c.ArchiveAfter {
			return errors.New("somebody has come to need it meanwhile")
		}
		at, err := c.Skills.Delete(skill.ByProgram, s)
		if err != nil {
			return err
		}
		p.Done, p.Result = true, at
		return nil
	case Stale, Active:
		p.Done = true
		return c.Skills.SetState(p.Skill, string(p.Kind))
	case Merge:
	}
	return nil
}

// backup packs what is about to be put away, and drops the oldest backups.
func (c *Curator) backup(stamp string, proposals []Proposal) (string, error) {
	var list []*skill.Skill
	for _, p := range proposals {
		if s, err := c.Skills.List().Find(p.Skill); err == nil && p.Kind == Archive {
			list = append(list, s)
		}
	}
	if !c.Backup || len(list) == 0 {
		return "", nil
	}
	var buf bytes.Buffer
	if _, err := c.Skills.Export(&buf, list); err != nil {
		return "", err
	}
	base := filepath.Join(c.Skills.Dir(), ".curator_backups")
	path := filepath.Join(base, stamp, "skills.zip")
	if err := replace(path, buf.Bytes()); err != nil {
		return "", err
	}
	old, err := os.ReadDir(base)
	if err != nil {
		return path, err
	}
	for i := 0; i < len(old)-max(c.Keep, 1); i++ { // the names are times
		if err := os.RemoveAll(filepath.Join(base, old[i].Name())); err != nil {
			return path, err
		}
	}
	return path, nil
}

// write puts the report where people find it.
func (c *Curator) write(r *Report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Curator, %s\n\n%s.\n", r.At.Format(time.RFC3339), r.Summary())
	if r.Backup != "" {
		fmt.Fprintf(&b, "\nBackup: %s (hermes skills import FILE)\n", r.Backup)
	}
	for _, p := range r.Proposals {
		fmt.Fprintf(&b, "\n- %s\n", p)
	}
	return errors.Join(replace(filepath.Join(r.Path, "run.json"), append(data, '\n')), replace(filepath.Join(r.Path, "REPORT.md"), []byte(b.String())))
}

// String is the proposal as people read it.
func (p Proposal) String() string {
	switch p.Kind {
	case Archive:
		if p.Done {
			return fmt.Sprintf("put away %s: %s; bring it back with: hermes curator restore %s", p.Skill, p.Reason, p.Skill)
		}
		return fmt.Sprintf("put away %s: %s%s", p.Skill, p.Reason, suffix(p.Result))
	case Merge:
		return fmt.Sprintf("merge %s into %s: %s; ask the agent to do it", p.Skill, p.Into, p.Reason)
	case Stale:
		return fmt.Sprintf("%s is stale: %s", p.Skill, p.Reason)
	case Active:
	}
	return fmt.Sprintf("%s is active: %s", p.Skill, p.Reason)
}

func suffix(s string) string {
	if s == "" {
		return ""
	}
	return "; not done: " + s
}

// Limits of the comparison of skills.
const (
	mostCompared = 500
	likeness     = 0.6
)

// alike finds skills that say much the same, by the words they have in common.
func (c *Curator) alike(skills []*skill.Skill) ([]Proposal, error) {
	skills = skills[:min(len(skills), mostCompared)]
	docs := make([]map[string]float64, len(skills))
	in := map[string]int{}
	for i, s := range skills {
		data, err := os.ReadFile(s.Path)
		if err != nil {
			return nil, err
		}
		docs[i] = words(s.Name + " " + s.Description + " " + skill.Parse(data).Body)
		for w := range docs[i] {
			in[w]++
		}
	}
	for _, d := range docs {
		length := 0.0
		for w, n := range d {
			// A word that all have says nothing; with few skills none is rare.
			d[w] = (1 + math.Log(n)) * math.Log(1+float64(len(skills))/float64(in[w]))
			length += d[w] * d[w]
		}
		for w := range d {
			d[w] /= math.Sqrt(length)
		}
	}
	var out []Proposal
	taken := map[int]bool{}
	for i := range skills {
		for j := i + 1; j < len(skills); j++ {
			like := 0.0
			for w, n := range docs[i] {
				like += n * docs[j][w]
			}
			if like < likeness || taken[i] || taken[j] {
				continue
			}
			from, into := skills[j], skills[i]
			if c.Skills.Usage(from).Uses > c.Skills.Usage(into).Uses {
				from, into = into, from
			}
			taken[i], taken[j] = true, true
			out = append(out, Proposal{Kind: Merge, Skill: from.Name, Into: into.Name, Reason: fmt.Sprintf("they are alike by %.0f %%", 100*like)})
		}
	}
	return out, nil
}

func words(text string) map[string]float64 {
	out := map[string]float64{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) > 2 {
			out[w]++
		}
	}
	return out
}

// Unmanaged says how many skills of the home the curator leaves alone.
func (c *Curator) Unmanaged(managed []*skill.Skill) int {
	mine := map[string]bool{}
	for _, s := range managed {
		mine[s.Path] = true
	}
	all := map[string]bool{}
	for _, s := range c.Skills.List().Skills {
		all[s.Path] = true
	}
	maps.DeleteFunc(all, func(p string, _ bool) bool { return mine[p] })
	return len(all)
}
