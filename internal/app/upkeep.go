package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/store"
)

const metaPruned = "last_auto_prune" // seconds since 1970, as the original writes it

// autoPrune deletes old sessions when a conversation starts, if the
// configuration asks for it and the last time is long enough ago. What goes
// wrong is told and costs nothing else.
func (a *App) autoPrune(ctx context.Context) {
	if !a.on("sessions.auto_prune", false) {
		return
	}
	if err := a.pruneNow(ctx, time.Now()); err != nil {
		a.Notice("old sessions were not pruned: " + err.Error())
	}
}

func (a *App) pruneNow(ctx context.Context, now time.Time) error {
	db, err := a.DB()
	if err != nil {
		return err
	}
	if db.Trouble() != nil {
		return nil // it was told, and this is no time to delete anything
	}
	last, err := db.Meta(ctx, metaPruned)
	if err != nil {
		return err
	}
	pause := time.Duration(a.number("sessions.min_interval_hours", 24)) * time.Hour
	if at, err := strconv.ParseFloat(last, 64); err == nil {
		if ago := now.Sub(time.Unix(int64(at), 0)); ago >= 0 && ago < pause {
			return nil
		}
	}
	// First the mark, so that of several programs starting at once one prunes.
	if err := db.SetMeta(ctx, metaPruned, strconv.FormatInt(now.Unix(), 10)); err != nil {
		return err
	}
	days := a.number("sessions.retention_days", 90)
	out, err := a.Prune(ctx, store.Prune{Before: now.AddDate(0, 0, -days)})
	if len(out.Sessions) > 0 {
		a.Notice(fmt.Sprintf("deleted %d sessions (%d messages) that ended more than %d days ago, as sessions.auto_prune asks", len(out.Sessions), out.Messages, days))
	}
	if err != nil || len(out.Sessions) == 0 {
		return err
	}
	if !a.on("sessions.vacuum_after_prune", true) {
		return nil
	}
	if err := db.Vacuum(ctx); err != nil {
		a.Log.Warn("session database not shrunk", "err", err) // the pages are used again all the same
	}
	return nil
}

// on is a switch of the configuration.
func (a *App) on(key string, otherwise bool) bool {
	on := otherwise
	if err := config.Decode(a.Config, key, &on); err != nil {
		a.Notice(err.Error())
	}
	return on
}

// spareDir is where messages go when neither the database nor its folder takes
// them.
func spareDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("hermes-kept-%d", os.Getuid()))
}

// Prune deletes ended sessions and what lies beside the database for them.
func (a *App) Prune(ctx context.Context, p store.Prune) (store.Pruned, error) {
	db, err := a.DB()
	if err != nil {
		return store.Pruned{}, err
	}
	out, err := db.Prune(ctx, p)
	if !p.DryRun {
		for _, id := range out.Sessions {
			err = errors.Join(err, a.dropDraft(id))
		}
	}
	return out, err
}

// Forget deletes one session and what lies beside the database for it.
func (a *App) Forget(ctx context.Context, id string) error {
	db, err := a.DB()
	if err != nil {
		return err
	}
	if err := db.Delete(ctx, id); err != nil {
		return err
	}
	return a.dropDraft(id)
}

func (a *App) dropDraft(id string) error {
	if err := os.Remove(a.draftPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove draft: %w", err)
	}
	return nil
}
