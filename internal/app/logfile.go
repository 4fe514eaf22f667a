package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/secret"
)

// openLogs sets up agent.log, and errors.log for what somebody should look at,
// whatever else is logged.
func (a *App) openLogs() {
	file := func(name string, megabytes, keep int, level slog.Level) slog.Handler {
		f := &logFile{path: filepath.Join(a.Home, "logs", name), most: int64(megabytes) << 20, keep: keep}
		a.logs = append(a.logs, f)
		return slog.NewJSONHandler(f, &slog.HandlerOptions{Level: level})
	}
	a.Log = slog.New(secret.NewLogHandler(slog.NewMultiHandler(
		file("agent.log", a.number("logging.max_size_mb", 5), a.number("logging.backup_count", 3), a.logLevel()),
		file("errors.log", 2, 2, slog.LevelWarn),
	), a.Secrets.Redactor()))
}

// logLevel is the configured one; the original's names count as well.
func (a *App) logLevel() slog.Level {
	name := strings.ToUpper(strings.TrimSpace(a.Config.String("logging.level")))
	switch name {
	case "WARNING":
		name = "WARN"
	case "CRITICAL", "FATAL":
		name = "ERROR"
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelInfo
	}
	return level
}

// logFile is opened at the first write, so that a command that logs nothing
// leaves nothing behind. At its size limit it becomes NAME.1, the older ones
// move up and the oldest goes. Another process may do so meanwhile: what was
// moved away is not written to any more.
type logFile struct {
	path string
	most int64 // bytes, 0: no limit
	keep int   // old files

	mu   sync.Mutex
	f    *os.File
	size int64
	err  error
}

func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil && l.moved() {
		_ = l.f.Close() // everything was written; it is somebody else's old file now
		l.f = nil
	}
	if l.f == nil && l.err == nil {
		if _, err := os.Stat(filepath.Dir(filepath.Dir(l.path))); errors.Is(err, fs.ErrNotExist) {
			return len(b), nil // no home yet: nothing to log about
		}
		l.err = l.open()
	}
	if l.err == nil && l.most > 0 && l.size > 0 && l.size+int64(len(b)) > l.most {
		l.err = l.rotate()
	}
	if l.err != nil {
		return 0, fmt.Errorf("open log: %w", l.err)
	}
	n, err := l.f.Write(b)
	l.size += int64(n)
	return n, err
}

func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.f, l.size = f, info.Size()
	return nil
}

// moved reports whether the name belongs to another file by now; it also
// takes up the size, which other processes change too.
func (l *logFile) moved() bool {
	ours, err := l.f.Stat()
	if err != nil {
		return false
	}
	l.size = ours.Size()
	named, err := os.Stat(l.path)
	return err != nil || !os.SameFile(ours, named)
}

func (l *logFile) rotate() error {
	if err := l.f.Close(); err != nil {
		return err
	}
	l.f = nil
	for i := l.keep; i > 0; i-- {
		from := l.path
		if i > 1 {
			from = fmt.Sprintf("%s.%d", l.path, i-1)
		}
		if err := os.Rename(from, fmt.Sprintf("%s.%d", l.path, i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if l.keep < 1 {
		if err := os.Remove(l.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.open()
}

func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}
