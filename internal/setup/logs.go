package setup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// LogFilter says which lines of a log are wanted. Lines that say nothing of a
// thing pass its filter.
type LogFilter struct {
	Level   slog.Level
	Session string    // part of a session's id
	Since   time.Time // zero: from the beginning
	Last    int       // 0: all
}

// LogLine is one line of a log.
type LogLine struct {
	Time    time.Time
	Level   string
	Message string
	Fields  []LogField // in the order of the line
	Raw     []byte     // without the line break; not JSON when the rest is empty
}

// LogField is a name with its value as JSON, texts without quotes.
type LogField struct{ Name, Value string }

// ParseLogLine reads a line as slog's JSON handler writes it.
func ParseLogLine(raw []byte) LogLine {
	l := LogLine{Raw: raw}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return l
	}
	for dec.More() {
		t, err := dec.Token()
		name, isText := t.(string)
		if err != nil || !isText {
			return LogLine{Raw: raw}
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return LogLine{Raw: raw}
		}
		value := string(v)
		if s := text(v); s != "" || value == `""` {
			value = s
		}
		switch name {
		case slog.TimeKey:
			l.Time, _ = time.Parse(time.RFC3339Nano, value) // zero when it is none
		case slog.LevelKey:
			l.Level = value
		case slog.MessageKey:
			l.Message = value
		default:
			l.Fields = append(l.Fields, LogField{name, value})
		}
	}
	return l
}

// Passes reports whether the filter wants the line.
func (f LogFilter) Passes(l LogLine) bool {
	var level slog.Level
	if l.Level != "" && level.UnmarshalText([]byte(l.Level)) == nil && level < f.Level {
		return false
	}
	if !f.Since.IsZero() && !l.Time.IsZero() && l.Time.Before(f.Since) {
		return false
	}
	if f.Session == "" {
		return true
	}
	return slices.ContainsFunc(l.Fields, func(x LogField) bool { return x.Name == "session" && strings.Contains(x.Value, f.Session) })
}

// LogNames lists the logs of a home.
func LogNames(home string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(home, "logs", "*.log"))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(filepath.Base(f), ".log")
	}
	return names, nil
}

// LogPath is where a log lies.
func LogPath(home, name string) string { return filepath.Join(home, "logs", name+".log") }

// ReadLog returns the wanted lines, old files that were rotated away first.
// next is where the newest file ended, for FollowLog.
func ReadLog(home, name string, f LogFilter) (lines []LogLine, next int64, err error) {
	path := LogPath(home, name)
	files := []string{path}
	for i := 1; ; i++ {
		old := fmt.Sprintf("%s.%d", path, i)
		if _, err := os.Stat(old); err != nil {
			break
		}
		files = append(files, old)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("there is no log %s: %s is made by the first conversation", name, path)
	}
	// The newest file first: older ones are read only while lines are missing.
	for i, file := range files {
		var these []LogLine
		end, err := scanLog(file, 0, func(l LogLine) error {
			if f.Passes(l) {
				these = append(these, l)
				if f.Last > 0 && len(these) > 4*f.Last {
					these = slices.Clone(these[len(these)-f.Last:])
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		if i == 0 {
			next = end
		}
		lines = append(these, lines...)
		if f.Last > 0 && len(lines) >= f.Last {
			break
		}
	}
	if f.Last > 0 && len(lines) > f.Last {
		lines = lines[len(lines)-f.Last:]
	}
	return lines, next, nil
}

// scanLog calls fn for every whole line from an offset on and returns where
// the last one ended.
func scanLog(path string, from int64, fn func(LogLine) error) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return from, fmt.Errorf("read log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return from, fmt.Errorf("read log: %w", err)
	}
	r := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return from, nil // a line still being written comes next time
		}
		if err != nil {
			return from, fmt.Errorf("read log: %w", err)
		}
		from += int64(len(line))
		if err := fn(ParseLogLine(bytes.TrimRight(line, "\r\n"))); err != nil {
			return from, err
		}
	}
}

// FollowLog calls fn for every wanted line that is written from the offset on,
// until the context ends. tick says when to look; a file that was rotated away
// is begun anew.
func FollowLog(ctx context.Context, home, name string, from int64, f LogFilter, tick <-chan time.Time, fn func(LogLine) error) error {
	path := LogPath(home, name)
	opened, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("follow log: %w", err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
		now, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // in the middle of being rotated
		}
		if err != nil {
			return fmt.Errorf("follow log: %w", err)
		}
		if !os.SameFile(opened, now) || now.Size() < from {
			if !os.SameFile(opened, now) { // the rest of the old file
				if _, err := scanLog(path+".1", from, func(l LogLine) error {
					if f.Passes(l) {
						return fn(l)
					}
					return nil
				}); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			opened, from = now, 0
		}
		if now.Size() == from {
			continue
		}
		if from, err = scanLog(path, from, func(l LogLine) error {
			if f.Passes(l) {
				return fn(l)
			}
			return nil
		}); err != nil {
			return err
		}
	}
}
