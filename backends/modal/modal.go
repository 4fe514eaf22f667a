// Package modal runs commands in a sandbox of Modal, by the gateway that offers
// it over HTTP ("managed"). Modal's own interface is gRPC, whose library is not
// linked: the direct mode says so. Commands run to their end and nothing runs
// beside them. It was tested against a stand-in of the documented requests
// only; no account was used.
package modal

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/remote"
	"github.com/hermes-go/hermes/secret"
)

const (
	kind       = "modal"
	tokenName  = "TOOL_GATEWAY_USER_TOKEN"
	urlName    = "MODAL_GATEWAY_URL"
	domainName = "TOOL_GATEWAY_DOMAIN"
	schemeName = "TOOL_GATEWAY_SCHEME"
)

func init() {
	backend.Register(backend.Kind{
		Name:     kind,
		About:    "Commands run in a sandbox of Modal, by its gateway (tested against a stand-in only).",
		Isolated: true,
		Remote:   true,
		Env: []secret.Var{
			{Name: tokenName, About: "Token of the tool gateway", Category: secret.Tool, Secret: true, Advanced: true},
			{Name: urlName, About: "Address of the gateway for Modal", Category: secret.Setting, Advanced: true},
			{Name: domainName, About: "Domain of the tool gateways", Category: secret.Setting, Advanced: true},
			{Name: schemeName, About: "https, unless told otherwise", Category: secret.Setting, Advanced: true},
		},
		Probe: func(_ context.Context, o backend.Options) error {
			_, err := newSandbox(o)
			return err
		},
		Open: func(_ context.Context, o backend.Options) (backend.Env, error) { return open(o) },
	})
}

// settings are the keys of the terminal section that matter here.
type settings struct {
	Mode       string   `yaml:"modal_mode"`
	Image      string   `yaml:"modal_image"`
	CPU        float64  `yaml:"container_cpu"`
	Memory     int      `yaml:"container_memory"`
	Disk       int      `yaml:"container_disk"`
	Persistent bool     `yaml:"container_persistent"`
	Creds      []string `yaml:"credential_files"`
}

// sandbox is the one of a task.
type sandbox struct {
	base, token string
	http        *http.Client
	o           backend.Options
	set         settings

	mu sync.Mutex
	id string
}

func newSandbox(o backend.Options) (*sandbox, error) {
	s := &sandbox{http: &http.Client{}, o: o, set: settings{Mode: "auto", Image: "nikolaik/python-nodejs:python3.11-nodejs20", CPU: 1, Memory: 5120, Persistent: true}}
	if o.Decode != nil {
		if err := o.Decode(&s.set); err != nil {
			return nil, fmt.Errorf("terminal settings: %w", err)
		}
	}
	if s.set.Mode == "direct" {
		return nil, errors.New("terminal.modal_mode direct is not built into this program: it needs Modal's own library; set it to managed, or use another backend")
	}
	lookup := o.Lookup
	if lookup == nil {
		lookup = func(string) string { return "" }
	}
	s.token = lookup(tokenName)
	if s.token == "" {
		return nil, fmt.Errorf("%s is not set: hermes config set %s", tokenName, tokenName)
	}
	s.base = strings.TrimRight(lookup(urlName), "/")
	if domain := lookup(domainName); s.base == "" && domain != "" {
		scheme := lookup(schemeName)
		if scheme == "" {
			scheme = "https"
		}
		s.base = scheme + "://modal-gateway." + domain
	}
	if s.base == "" {
		return nil, fmt.Errorf("%s is not set: hermes config set %s ADDRESS", urlName, urlName)
	}
	if len(o.Credentials(s.set.Creds)) > 0 {
		return nil, errors.New("terminal.credential_files are not given to the gateway of Modal: empty that list, or use another backend")
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
	o.Cwd = "/root"
	r := remote.New(remote.Options{Options: o, Kind: kind, Place: remote.Batch(s), Name: "the Modal sandbox", Close: s.close, Batch: true})
	return env{r.WithFiles()}, nil
}

// refused is an answer of the gateway that says no.
type refused struct {
	status int
	text   string
}

func (r *refused) Error() string {
	return fmt.Sprintf("the gateway of modal answers %d: %s", r.status, r.text)
}

// call sends a request. A key lets the gateway see that one came twice.
func (s *sandbox) call(ctx context.Context, method, path, key string, body, out any) error {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, r)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("x-idempotency-key", key)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return fmt.Errorf("the gateway of modal cannot be reached: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	if resp.StatusCode >= 300 {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 2048)) // what there is of it
		return &refused{resp.StatusCode, strings.TrimSpace(string(b))}
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

const (
	sandboxLife = time.Hour
	idleLife    = 5 * time.Minute
	looksEvery  = 250 * time.Millisecond // the gateway tells nobody when a command has ended
)

func (s *sandbox) running(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id != "" {
		return s.id, nil
	}
	body := map[string]any{
		"image": s.set.Image, "cwd": "/root", "cpu": s.set.CPU, "memoryMiB": s.set.Memory, "timeoutMs": sandboxLife.Milliseconds(),
		"idleTimeoutMs": idleLife.Milliseconds(), "persistentFilesystem": s.set.Persistent, "logicalKey": s.o.Task,
	}
	if s.set.Disk > 0 {
		body["diskMiB"] = s.set.Disk
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := s.call(ctx, http.MethodPost, "/v1/sandboxes", rand.Text(), body, &made); err != nil {
		return "", fmt.Errorf("make a sandbox of %s: %w", s.set.Image, err)
	}
	if made.ID == "" {
		return "", errors.New("the gateway of modal made a sandbox without a name")
	}
	s.id = made.ID
	return s.id, nil
}

// execution is a command as the gateway describes it.
type execution struct {
	Status   string `json:"status"`
	Output   string `json:"output"`
	ExitCode int    `json:"returncode"`
	Error    string `json:"error"`
}

// Run implements remote.Runner.
func (s *sandbox) Run(ctx context.Context, command string, input []byte, limit time.Duration) ([]byte, int, error) {
	id, err := s.running(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", remote.ErrNotStarted, err)
	}
	exec := rand.Text()
	if limit <= 0 {
		limit = sandboxLife
	}
	body := map[string]any{"execId": exec, "command": command, "cwd": "/", "timeoutMs": (limit + 10*time.Second).Milliseconds(), "stdinData": string(input)}
	path := "/v1/sandboxes/" + id + "/execs"
	var e execution
	if err := s.call(ctx, http.MethodPost, path, "", body, &e); err != nil {
		var no *refused
		if errors.As(err, &no) {
			if no.status == http.StatusNotFound {
				s.forget(id) // its time was over
			}
			err = fmt.Errorf("%w: %w", remote.ErrNotStarted, err)
		}
		return nil, 0, err
	}
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	for {
		switch e.Status {
		case "completed":
			return []byte(e.Output), e.ExitCode, nil
		case "timeout":
			return []byte(e.Output), backend.CodeTimeout, nil
		case "failed", "cancelled":
			return nil, 0, fmt.Errorf("the command is %s: %s", e.Status, e.Error)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			return nil, 0, errors.Join(ctx.Err(), s.call(end, http.MethodPost, path+"/"+exec+"/cancel", "", map[string]any{}, nil))
		}
		if err := s.call(ctx, http.MethodGet, path+"/"+exec, "", nil, &e); err != nil && ctx.Err() == nil {
			return nil, 0, err
		}
	}
}

func (s *sandbox) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == id {
		s.id = ""
	}
}

func (s *sandbox) close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		return nil
	}
	id := s.id
	s.id = ""
	return s.call(ctx, http.MethodPost, "/v1/sandboxes/"+id+"/terminate", "", map[string]any{"snapshotBeforeTerminate": s.set.Persistent}, nil)
}
