package backend

import (
	"time"
)

// Settings are the keys of the terminal section that hold for every kind.
type Settings struct {
	Timeout       int    `yaml:"timeout"`                // seconds a command may take unless it asks for another limit
	MaxForeground int    `yaml:"max_foreground_timeout"` // the longest limit a command may ask for
	MaxChars      int    `yaml:"-"`                      // of output that is shown; from tool_output.max_bytes
	Private       string `yaml:"-"`                      // the program's own directory, with keys in it

	MaxJobs   int `yaml:"max_background"`       // commands beside others, running at once
	MaxJobAge int `yaml:"max_background_hours"` // after which a command that runs beside others is ended
}

// DefaultSettings are what counts for keys that are not set.
func DefaultSettings() Settings {
	return Settings{Timeout: 180, MaxForeground: 600, MaxChars: 50_000, MaxJobs: 32, MaxJobAge: 24}
}

// orDefault replaces what makes no sense.
func (s Settings) orDefault() Settings {
	d := DefaultSettings()
	for _, f := range []struct{ have, want *int }{
		{&s.Timeout, &d.Timeout}, {&s.MaxForeground, &d.MaxForeground}, {&s.MaxChars, &d.MaxChars}, {&s.MaxJobs, &d.MaxJobs}, {&s.MaxJobAge, &d.MaxJobAge},
	} {
		if *f.have <= 0 {
			*f.have = *f.want
		}
	}
	return s
}

// DefaultTimeout is Timeout as a duration.
func (s Settings) DefaultTimeout() time.Duration { return time.Duration(s.Timeout) * time.Second }

// Host is what a Provider may offer beside environments. Pool does.
type Host interface {
	Provider
	Settings() Settings
	Mask(s string) string // takes secrets out of what is shown or kept
	Jobs() *Jobs
}

// Isolated is implemented by environments that keep commands away from the
// user's machine, or know whether they do.
type Isolated interface{ Isolated() bool }
