// Package daytona runs commands in a sandbox of the Daytona service, by its
// HTTP interface: a sandbox for each task, found again by its label. Commands
// run to their end and nothing runs beside them. It was tested against
// a stand-in of the documented requests only; no account was used.
package daytona

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/remote"
	"github.com/hermes-go/hermes/internal/shellstate"
	"github.com/hermes-go/hermes/secret"
)

const (
	kind      = "daytona"
	keyName   = "DAYTONA_API_KEY"
	urlName   = "DAYTONA_API_URL"
	usual     = "https://app.daytona.io/api"
	taskLabel = "hermes_task_id"
)

func init() {
	backend.Register(backend.Kind{
		Name:     kind,
		About:    "Commands run in a sandbox of Daytona (tested against a stand-in only).",
		Isolated: true,
		Remote:   true,
		Env: []secret.Var{
			{Name: keyName, About: "Key of Daytona", URL: "https://app.daytona.io/dashboard/keys", Category: secret.Tool, Secret: true, Advanced: true},
			{Name: urlName, About: "Address of Daytona's interface", Category: secret.Setting, Advanced: true},
		},
		Probe: func(ctx context.Context, o backend.Options) error {
			s, err := newSandbox(o)
			if err != nil {
				return err
			}
			return s.call(ctx, http.MethodGet, "/sandbox?limit=1", nil, nil)
		},
		Open: func(_ context.Context, o backend.Options) (backend.Env, error) { return open(o) },
	})
}

// settings are the keys of the terminal section that matter here.
type settings struct {
	Image      string  `yaml:"daytona_image"`
	CPU        float64 `yaml:"container_cpu"`
	Memory     int     `yaml:"container_memory"`
	Disk       int     `yaml:"container_disk"`
	Persistent bool    `yaml:"container_persistent"`
}

// sandbox is the one of a task.
type sandbox struct {
	base, key string
	http      *http.Client
	o         backend.Options
	set       settings

	mu sync.Mutex
	id string
}

func newSandbox(o backend.Options) (*sandbox, error) {
	s := &sandbox{base: usual, http: &http.Client{}, o: o, set: settings{Image: "nikolaik/python-nodejs:python3.11-nodejs20", CPU: 1, Memory: 5120, Disk: 10240, Persistent: true}}
	if o.Decode != nil {
		if err := o.Decode(&s.set); err != nil {
			return nil, fmt.Errorf("terminal settings: %w", err)
		}
	}
	if o.Lookup != nil {
		s.key = o.Lookup(keyName)
		if u := o.Lookup(urlName); u != "" {
			s.base = strings.TrimRight(u, "/")
		}
	}
	if s.key == "" {
		return nil, fmt.Errorf("%s is not set: hermes config set %s", keyName, keyName)
	}
	return s, nil
}

// env is the environment of one task.
type env struct{ *remote.Full }

var _ backend.Isolated = env{}

// Isolated implements backend.Isolated.
func (env) Isolated() bool { return true }

func open(o backend.Options) (env, error) {
	s, err := newSandbox(o)
	if err != nil {
		return env{}, err
	}
	o.Cwd = "~"
	r := remote.New(remote.Options{Options: o, Kind: kind, Place: remote.Batch(s), Name: "the Daytona sandbox", Close: s.close, Batch: true})
	return env{r.WithFiles()}, nil
}

// refused is an answer of the service that says no.
type refused struct {
	status int
	text   string
}

func (r *refused) Error() string { return fmt.Sprintf("daytona answers %d: %s", r.status, r.text) }

func (s *sandbox) send(ctx context.Context, method, path, contentType string, body io.Reader, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return fmt.Errorf("daytona cannot be reached: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	if resp.StatusCode >= 300 {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 2048)) // what there is of it
		var said struct{ Message string }
		if json.Unmarshal(b, &said) != nil || said.Message == "" {
			said.Message = strings.TrimSpace(string(b))
		}
		return &refused{resp.StatusCode, said.Message}
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

func (s *sandbox) call(ctx context.Context, method, path string, body, out any) error {
	if body == nil {
		return s.send(ctx, method, path, "", nil, out)
	}
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.send(ctx, method, path, "application/json", bytes.NewReader(b), out)
}

// described is a sandbox as the service describes it.
type described struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// running returns the id of the sandbox, which then runs: the one of the task
// that is there, or a new one.
func (s *sandbox) running(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id != "" {
		return s.id, nil
	}
	labels := map[string]string{taskLabel: s.o.Task}
	filter, err := json.Marshal(labels)
	if err != nil {
		return "", err
	}
	var found described
	if s.set.Persistent {
		var list []described
		if err := s.call(ctx, http.MethodGet, "/sandbox?labels="+url.QueryEscape(string(filter)), nil, &list); err != nil {
			return "", err
		}
		for _, d := range list {
			if d.State == "started" || d.State == "stopped" || d.State == "archived" {
				found = d
				break
			}
		}
	}
	switch {
	case found.ID == "":
		gib := func(mb, most int) int { return min(most, max(1, int(math.Ceil(float64(mb)/1024)))) }
		body := map[string]any{
			"buildInfo": map[string]string{"dockerfileContent": "FROM " + s.set.Image + "\n"}, "labels": labels, "autoStopInterval": 0,
			"cpu": max(1, int(math.Ceil(s.set.CPU))), "memory": gib(s.set.Memory, 1<<10), "disk": gib(s.set.Disk, 10),
		}
		if err := s.call(ctx, http.MethodPost, "/sandbox", body, &found); err != nil {
			return "", fmt.Errorf("make a sandbox of %s: %w", s.set.Image, err)
		}
	case found.State != "started":
		if err := s.call(ctx, http.MethodPost, "/sandbox/"+found.ID+"/start", nil, nil); err != nil {
			return "", err
		}
		found.State = "starting"
	}
	if err := s.await(ctx, &found); err != nil {
		return "", err
	}
	s.id = found.ID
	return s.id, nil
}

// looksEvery is how often a sandbox that is being made is looked at: the
// service tells nobody when it is ready.
const looksEvery = 500 * time.Millisecond

func (s *sandbox) await(ctx context.Context, d *described) error {
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	for d.State != "started" {
		switch d.State {
		case "error", "build_failed", "destroyed", "destroying":
			return fmt.Errorf("the sandbox is %s", d.State)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the sandbox is still %s: %w", d.State, ctx.Err())
		}
		if err := s.call(ctx, http.MethodGet, "/sandbox/"+d.ID, nil, d); err != nil {
			return err
		}
	}
	return nil
}

// Run implements remote.Runner. Input goes by a file, because the interface
// takes none, and a command line can be read by others.
func (s *sandbox) Run(ctx context.Context, command string, input []byte, limit time.Duration) ([]byte, int, error) {
	id, err := s.running(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", remote.ErrNotStarted, err)
	}
	file := "/tmp/.hermes-" + randomName()
	if err := s.upload(ctx, id, file, input); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", remote.ErrNotStarted, err)
	}
	line := "exec 0<" + file + "; rm -f " + file + "\n" + command
	body := map[string]any{"command": "sh -c " + shellstate.Quote(line), "timeout": int(max(limit, time.Hour).Seconds()) + 10}
	var answer struct {
		ExitCode *int   `json:"exitCode"`
		Code     int    `json:"code"` // what older ones call it
		Result   string `json:"result"`
	}
	if err := s.call(ctx, http.MethodPost, "/toolbox/"+id+"/toolbox/process/execute", body, &answer); err != nil {
		var no *refused
		if errors.As(err, &no) && no.status == http.StatusNotFound {
			s.forget(id)
			err = fmt.Errorf("%w: %w", remote.ErrNotStarted, err)
		}
		return nil, 0, err
	}
	if answer.ExitCode != nil {
		answer.Code = *answer.ExitCode
	}
	return []byte(answer.Result), answer.Code, nil
}

func (s *sandbox) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == id {
		s.id = ""
	}
}

func (s *sandbox) upload(ctx context.Context, id, name string, content []byte) error {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", "input")
	if err == nil {
		_, err = part.Write(content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	return s.send(ctx, http.MethodPost, "/toolbox/"+id+"/toolbox/files/upload?path="+url.QueryEscape(name), w.FormDataContentType(), &b, nil)
}

func (s *sandbox) close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		return nil
	}
	id := s.id
	s.id = ""
	if s.set.Persistent {
		return s.call(ctx, http.MethodPost, "/sandbox/"+id+"/stop", nil, nil)
	}
	return s.call(ctx, http.MethodDelete, "/sandbox/"+id, nil, nil)
}

func randomName() string { return strings.ToLower(rand.Text()[:12]) }
