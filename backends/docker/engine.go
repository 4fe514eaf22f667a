package docker

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/shellstate"
)

// apiVersion is the oldest that is spoken: Docker 20.10. Podman speaks it too.
const apiVersion = "v1.41"

// engine speaks Docker's Engine API: the dozen requests that are needed.
type engine struct {
	http *http.Client
	base string
	name string // for messages
	dial func(ctx context.Context) (net.Conn, error)
}

// newEngine finds the engine as Docker's own programs do.
func newEngine(environ []string) (*engine, error) {
	host := shellstate.Value(environ, "DOCKER_HOST")
	if host == "" {
		host = "unix:///var/run/docker.sock"
	}
	u, err := url.Parse(host)
	if err != nil {
		return nil, fmt.Errorf("DOCKER_HOST %q: %w", host, err)
	}
	e := &engine{name: host, base: "http://docker/" + apiVersion}
	var d net.Dialer
	switch u.Scheme {
	case "unix":
		e.dial = func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "unix", u.Path) }
	case "tcp", "http", "https":
		e.dial = func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", u.Host) }
		if u.Scheme == "https" || shellstate.Value(environ, "DOCKER_TLS_VERIFY") != "" {
			conf, err := tlsConfig(shellstate.Value(environ, "DOCKER_CERT_PATH"), u.Hostname())
			if err != nil {
				return nil, err
			}
			td := &tls.Dialer{Config: conf}
			e.dial = func(ctx context.Context) (net.Conn, error) { return td.DialContext(ctx, "tcp", u.Host) }
		}
	default:
		return nil, fmt.Errorf("DOCKER_HOST %q: %s is not spoken here: use unix:// or tcp://, or the ssh backend", host, u.Scheme)
	}
	e.http = &http.Client{Transport: &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return e.dial(ctx) },
		MaxIdleConns:    4,
		IdleConnTimeout: 30 * time.Second,
	}}
	return e, nil
}

func tlsConfig(dir, host string) (*tls.Config, error) {
	conf := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if dir == "" {
		return conf, nil
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		return nil, fmt.Errorf("DOCKER_CERT_PATH: %w", err)
	}
	conf.RootCAs = x509.NewCertPool()
	if !conf.RootCAs.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("DOCKER_CERT_PATH: %s holds no certificate", filepath.Join(dir, "ca.pem"))
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		return nil, fmt.Errorf("DOCKER_CERT_PATH: %w", err)
	}
	conf.Certificates = []tls.Certificate{pair}
	return conf, nil
}

// refused is an answer of the engine that says no.
type refused struct {
	status int
	text   string
}

func (r *refused) Error() string { return r.text }

func isStatus(err error, status int) bool {
	var r *refused
	return errors.As(err, &r) && r.status == status
}

// unreachable says what to do when there is no engine.
func (e *engine) unreachable(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("docker at %s cannot be reached: %w: start it, or: hermes config set terminal.backend local", e.name, err)
}

func (e *engine) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, e.base+path, r)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// call sends a request and decodes the answer into out, unless that is nil.
func (e *engine) call(ctx context.Context, method, path string, body, out any) error {
	req, err := e.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	resp, err := e.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return e.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	if err := check(resp); err != nil {
		return err
	}
	if out == nil {
		_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

func check(resp *http.Response) error {
	if resp.StatusCode < 400 {
		return nil
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what there is of it
	var said struct{ Message string }
	if json.Unmarshal(b, &said) != nil || said.Message == "" {
		said.Message = strings.TrimSpace(string(b))
	}
	return &refused{resp.StatusCode, said.Message}
}

// hijack sends a request whose connection becomes the way to a program.
func (e *engine) hijack(ctx context.Context, path string, body any) (net.Conn, *bufio.Reader, error) {
	req, err := e.request(ctx, http.MethodPost, path, body)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "tcp")
	conn, err := e.dial(ctx)
	if err != nil {
		return nil, nil, e.unreachable(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	fail := func(err error) (net.Conn, *bufio.Reader, error) {
		stop()
		_ = conn.Close() // nothing was begun
		return nil, nil, err
	}
	if err := req.Write(conn); err != nil {
		return fail(e.unreachable(err))
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	resp, err := http.ReadResponse(in, req)
	if err != nil {
		return fail(e.unreachable(err))
	}
	if resp.StatusCode != http.StatusSwitchingProtocols && resp.StatusCode != http.StatusOK {
		return fail(check(resp))
	}
	if !stop() {
		return fail(ctx.Err())
	}
	return conn, in, nil
}

// version is what the engine says of itself.
type version struct {
	Version       string
	APIVersion    string `json:"ApiVersion"`
	MinAPIVersion string
	OS            string `json:"Os"`
}

func (e *engine) version(ctx context.Context) (version, error) {
	var v version
	err := e.call(ctx, http.MethodGet, "/version", nil, &v)
	return v, err
}
