package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hermes-go/hermes/internal/checkpoint"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/tool"
)

// openCheckpoints returns the checkpoints of the home. They are offered to tools where commands
// run on this machine: what a container or another machine holds is not seen.
func (a *App) openCheckpoints() *checkpoint.Store {
	in := struct {
		Enabled       bool `yaml:"enabled"`
		MaxSnapshots  int  `yaml:"max_snapshots"`
		AutoPrune     bool `yaml:"auto_prune"`
		RetentionDays int  `yaml:"retention_days"`
		DeleteOrphans bool `yaml:"delete_orphans"`
		IntervalHours int  `yaml:"min_interval_hours"`
	}{Enabled: true, DeleteOrphans: true, RetentionDays: 7, IntervalHours: 24}
	if err := config.Decode(a.Config, "checkpoints", &in); err != nil {
		a.Notice(err.Error())
	}
	const day = 24 * time.Hour
	s := checkpoint.New(checkpoint.Options{
		Dir: filepath.Join(a.Home, "checkpoints"), Private: a.Home, Home: a.UserHome, Environ: a.Environ, Timeout: a.gitTimeout(),
		MaxSnapshots: in.MaxSnapshots, AutoPrune: in.AutoPrune, Retention: time.Duration(in.RetentionDays) * day,
		DeleteOrphans: in.DeleteOrphans, Interval: time.Duration(in.IntervalHours) * time.Hour, Say: a.Notice,
	})
	switch a.Config.String("terminal.backend") {
	case "", "local", "sandbox":
		if in.Enabled || a.Saved {
			tool.ProvideAs[files.Checkpoints](a.services, s)
		}
	}
	return s
}

// gitTimeout is how long one call of git may take.
func (a *App) gitTimeout() time.Duration {
	sec, err := strconv.Atoi(a.Secrets.Get("HERMES_CHECKPOINT_TIMEOUT"))
	if err != nil {
		sec = 30
	}
	return time.Duration(min(max(sec, 10), 60)) * time.Second
}

// FinishRollbacks ends what a kill cut short, and says so.
func (a *App) FinishRollbacks(ctx context.Context) (notices []string) {
	done, err := a.Checkpoints.Recover(ctx)
	if err != nil {
		notices = append(notices, err.Error())
	}
	for _, r := range done {
		notices = append(notices, fmt.Sprintf("a rollback of %s had been cut short; it is finished now: %s", r.Tree, r.Summary()))
	}
	return notices
}

// Checkpoints implements slash.Conversation.
func (c *Conversation) Checkpoints(ctx context.Context) (string, error) {
	tree, all, err := c.app.Checkpoints.List(ctx, c.app.WorkDir)
	if err != nil {
		return "", err
	}
	return checkpoint.Table(tree, all, time.Now()), nil
}

// CheckpointDiff implements slash.Conversation.
func (c *Conversation) CheckpointDiff(ctx context.Context, ref string) (string, error) {
	text, err := c.app.Checkpoints.Diff(ctx, c.app.WorkDir, ref, "")
	return c.app.Secrets.Redactor().Redact(text), err
}

// Rollback implements slash.Conversation.
func (c *Conversation) Rollback(ctx context.Context, ref, file string) (string, error) {
	r, err := c.app.Checkpoints.Restore(ctx, c.app.WorkDir, ref, file)
	if err != nil {
		return "", err
	}
	if len(r.Failed) > 0 {
		return "", errors.New(r.Text())
	}
	return r.Text(), nil
}
