package skills

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// run runs a script of a skill on saved answers: nothing here needs a network.
func run(t *testing.T, stdin, script string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runIn(t, nil, stdin, script, args...)
}

// runIn is run with variables. The environment is an almost empty one.
func runIn(t *testing.T, env []string, stdin, script string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "TZ=UTC"}, env...)
	if strings.HasSuffix(script, ".py") {
		return runPython(t, env, stdin, script, args)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{script}, args...)...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Stdin = env, &out, &errs, strings.NewReader(stdin)
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), code
}

// interpreter is a Python that runs one script after the other.
type interpreter struct {
	to   io.Writer
	from *bufio.Reader
}

// interpreters are two of them, which end with the test program: their
// standard input does.
var interpreters = sync.OnceValues(func() (chan *interpreter, error) {
	pool := make(chan *interpreter, 2)
	for range cap(pool) {
		cmd := exec.Command("python3", "-B", "testdata/driver.py") // -B: no bytecode beside a script, where it would be embedded
		cmd.Stderr = os.Stderr
		to, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		from, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		pool <- &interpreter{to, bufio.NewReader(from)}
	}
	return pool, nil
})

func runPython(t *testing.T, env []string, stdin, script string, args []string) (stdout, stderr string, code int) {
	t.Helper()
	pool, err := interpreters()
	if err != nil {
		t.Fatal(err)
	}
	request := struct {
		Script string            `json:"script"`
		Args   []string          `json:"args"`
		Stdin  string            `json:"stdin"`
		Env    map[string]string `json:"env"`
	}{script, append([]string{}, args...), stdin, map[string]string{}}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		request.Env[name] = value
	}
	line, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	python := <-pool
	defer func() { pool <- python }()
	if _, err := python.to.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	answer, err := python.from.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s %v ended the interpreter: %v", script, args, err)
	}
	var got struct {
		Out, Err string
		Code     int
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return got.Out, got.Err, got.Code
}
