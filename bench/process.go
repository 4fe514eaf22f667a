package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/peertest"
)

// bench holds the programs that are compared and the model server.
type bench struct {
	dir                       string
	hermes, printer, exchange string
	measure                   string // runs a program and says what memory it had
	home, work                string
	server                    *server
}

func (b *bench) prepare() error {
	root, err := peertest.Root()
	if err != nil {
		return err
	}
	if b.hermes, err = peertest.Build(); err != nil {
		return err
	}
	for name, path := range map[string]*string{"printer": &b.printer, "exchange": &b.exchange, "memory": &b.measure} {
		*path = filepath.Join(b.dir, name)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", *path, "./bench/testdata/"+name)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	if b.server, err = serve(); err != nil {
		return err
	}
	b.home, b.work = filepath.Join(b.dir, "home"), filepath.Join(b.dir, "work")
	for _, d := range []string{b.home, b.work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
	}
	note := strings.Repeat("a line of the note that is read in every round\n", 100)
	if err := os.WriteFile(filepath.Join(b.work, "note.txt"), []byte(note), 0o600); err != nil {
		return fmt.Errorf("write note: %w", err)
	}
	return b.configure("hi")
}

// configure points the home at a script of the server.
func (b *bench) configure(script string) error {
	text := fmt.Sprintf("model:\n  provider: custom\n  default: bench\n  base_url: %s/%s/v1\n  api_key: sk-bench\n", b.server.url, script)
	if err := os.WriteFile(filepath.Join(b.home, "config.yaml"), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write config: %w", err)
	}
	return nil
}

// output runs a program to its end and returns what it printed.
func (b *bench) output(path string, args ...string) (string, error) {
	cmd := exec.Command(path, args...)
	cmd.Dir = b.work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "HERMES_HOME=" + b.home, "TMPDIR=" + b.dir}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(path), strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}

// timed runs a program and says how long it took.
func (b *bench) timed(command ...string) (time.Duration, error) {
	began := time.Now()
	_, err := b.output(command[0], command[1:]...)
	return time.Since(began), err
}

// memory is the median of what a program has resident at most, in MB.
func (b *bench) memory(command ...string) (float64, error) {
	var all []float64
	for range 5 {
		out, err := b.output(b.measure, command...)
		if err != nil {
			return 0, err
		}
		kb, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
		if err != nil {
			return 0, fmt.Errorf("memory: %w", err)
		}
		if runtime.GOOS == "darwin" {
			kb /= 1024 // in bytes there
		}
		all = append(all, kb/1024)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// interleave runs several commands in turn, n times each, after one run of
// each that does not count, and returns the median of each.
func (b *bench) interleave(n int, commands ...[]string) ([]time.Duration, error) {
	walls := make([][]time.Duration, len(commands))
	for i := range n + 1 {
		for c, command := range commands {
			d, err := b.timed(command...)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				walls[c] = append(walls[c], d)
			}
		}
	}
	medians := make([]time.Duration, len(commands))
	for c := range walls {
		medians[c] = median(walls[c])
	}
	return medians, nil
}

// start measures what a person waits for who only wants to see the version, or
// one short answer.
func (b *bench) start() ([]result, error) {
	b.server.reset()
	const n = 40
	commands := [][]string{{b.printer}, {b.hermes, "version"}, {b.hermes, "chat", "-q", "hi"}}
	walls, err := b.interleave(n, commands...)
	if err != nil {
		return nil, err
	}
	sent, requests := b.server.sizes()
	var resident []float64
	for _, c := range commands {
		m, err := b.memory(c...)
		if err != nil {
			return nil, err
		}
		resident = append(resident, m)
	}
	printer, version, hi := ms(walls[0]), ms(walls[1]), ms(walls[2])
	return []result{
		{"hermes version / printing program", version / printer, 3, "times", fmt.Sprintf("%.2f ms / %.2f ms, medians of %d", version, printer, n)},
		{"hermes version, memory", resident[1], 20, "MB", fmt.Sprintf("the printing program: %.1f MB", resident[0])},
		{"one-shot hi / printing program", hi / printer, 5, "times", fmt.Sprintf("%.2f ms / %.2f ms", hi, printer)},
		{"one-shot hi, memory", resident[2], 30, "MB", ""},
		{"one-shot hi, requests", float64(requests) / (n + 1), 1, "requests", ""},
		{"one-shot hi, sent", float64(sent) / 1024, 28, "KB", "the body of the request"},
	}, nil
}
