package app

import (
	"path/filepath"
	"time"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/curator"
)

// Curator looks after the skills of the home.
func (a *App) Curator() *curator.Curator {
	in := struct {
		Enabled bool    `yaml:"enabled"`
		Every   float64 `yaml:"interval_hours"`
		Idle    float64 `yaml:"min_idle_hours"`
		Stale   float64 `yaml:"stale_after_days"`
		Archive float64 `yaml:"archive_after_days"`
		Backup  struct {
			Enabled bool `yaml:"enabled"`
			Keep    int  `yaml:"keep"`
		} `yaml:"backup"`
	}{Enabled: true, Every: 168, Idle: 2, Stale: 30, Archive: 90}
	in.Backup.Enabled, in.Backup.Keep = true, 5
	if err := config.Decode(a.Config, "curator", &in); err != nil {
		a.Notice(err.Error())
	}
	hours := func(n float64) time.Duration { return time.Duration(n * float64(time.Hour)) }
	return &curator.Curator{Skills: a.Skills, Options: curator.Options{
		Enabled: in.Enabled, Interval: hours(in.Every), MinIdle: hours(in.Idle), StaleAfter: hours(24 * in.Stale), ArchiveAfter: hours(24 * in.Archive),
		Backup: in.Backup.Enabled, Keep: in.Backup.Keep, Logs: filepath.Join(a.Home, "logs", "curator"),
	}}
}

// curate runs the curator when its time has come, as a conversation that has
// skills begins. What it did is told.
func (a *App) curate() (notices []string) {
	a.curated.Do(func() {
		c := a.Curator()
		due, err := c.Due()
		if err != nil {
			a.Log.Warn("curator", "err", err)
		}
		if !due {
			return
		}
		r, err := c.Run(false)
		if err != nil {
			a.Log.Warn("curator", "err", err)
			notices = append(notices, "the curator of the skills met an error: "+err.Error())
		}
		for _, p := range r.Proposals {
			notices = append(notices, "skills: "+p.String())
		}
	})
	return notices
}
