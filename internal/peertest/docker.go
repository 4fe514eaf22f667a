package peertest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Docker is a daemon of our own, with an image that holds the programs of this
// machine: no registry is asked.
type Docker struct {
	Host    string   // for DOCKER_HOST
	Image   string   // it has no programs: mount Volumes
	Volumes []string // read-only
	socket  string
	dir     string
	mu      sync.Mutex
	cmd     *exec.Cmd
	log     *bytes.Buffer
}

// StartDocker starts a daemon. It skips where one cannot be started by
// an ordinary user, and fails where it should be.
func StartDocker(t testing.TB) *Docker {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root starts a Docker daemon")
	}
	if _, err := exec.LookPath("dockerd"); err != nil {
		t.Fatalf("%v: install docker.io (scripts/setup does)", err)
	}
	dir, err := os.MkdirTemp("", "hermes-docker-")
	if err != nil {
		t.Fatal(err)
	}
	d := &Docker{Image: "hermes-test:1", dir: dir, socket: filepath.Join(dir, "s")}
	d.Host = "unix://" + d.socket
	t.Cleanup(d.remove)
	d.Start(t)
	d.importImage(t)
	return d
}

// Start starts the daemon, again after Stop.
func (d *Docker) Start(t testing.TB) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = &bytes.Buffer{}
	d.cmd = exec.Command(
		"dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none", "--data-root", filepath.Join(d.dir, "data"), "--exec-root", filepath.Join(d.dir, "exec"),
		"--pidfile", filepath.Join(d.dir, "pid"), "--host", d.Host, "--group", "0", "--log-level", "warn",
	)
	d.cmd.Env = append(os.Environ(), "HOME="+d.dir, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func(cmd *exec.Cmd) { defer close(ended); _ = cmd.Wait() }(d.cmd)
	for deadline := time.Now().Add(60 * time.Second); ; {
		resp, err := d.do(context.Background(), http.MethodGet, "/_ping", nil)
		if err == nil {
			_ = resp.Body.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("dockerd ended:\n%s", d.log)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("dockerd does not answer: %v\n%s", err, d.log)
		}
	}
}

// Stop ends the daemon, and all containers with it.
func (d *Docker) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Signal(os.Interrupt)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if d.cmd.Process.Signal(syscall.Signal(0)) != nil { // it has been waited for
			break
		}
	}
	_ = d.cmd.Process.Kill() // if it has not ended
	d.cmd = nil
}

func (d *Docker) remove() {
	d.Stop()
	// What the daemon left mounted would keep its directory.
	if b, err := os.ReadFile("/proc/mounts"); err == nil {
		for line := range strings.SplitSeq(string(b), "\n") {
			if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], d.dir+"/") {
				_ = exec.Command("umount", "-l", f[1]).Run()
			}
		}
	}
	_ = os.RemoveAll(d.dir)
}

func (d *Docker) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", d.socket)
	}}}
	req, err := http.NewRequestWithContext(ctx, method, "http://docker"+path, body)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

// importImage makes an image out of names of directories: their content is
// mounted from this machine.
func (d *Docker) importImage(t testing.TB) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(h tar.Header, content string) {
		h.Size = int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dev", "etc", "etc/alternatives", "home", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "var", "var/tmp", "workspace"} {
		add(tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755}, "")
	}
	d.Volumes = []string{"/usr:/usr:ro", "/etc/alternatives:/etc/alternatives:ro"}
	for _, name := range []string{"bin", "lib", "lib32", "lib64"} {
		to, err := os.Readlink("/" + name)
		switch {
		case err == nil:
			add(tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: strings.TrimPrefix(to, "/"), Mode: 0o777}, "")
		case errors.Is(err, os.ErrNotExist):
		default:
			add(tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755}, "")
			d.Volumes = append(d.Volumes, fmt.Sprintf("/%s:/%s:ro", name, name))
		}
	}
	add(tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, "root:x:0:0:root:/root:/bin/bash\n")
	add(tar.Header{Typeflag: tar.TypeReg, Name: "etc/group", Mode: 0o644}, "root:x:0:\n")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	repo, tag, _ := strings.Cut(d.Image, ":")
	resp, err := d.do(context.Background(), http.MethodPost, "/v1.41/images/create?fromSrc=-&repo="+repo+"&tag="+tag, &b)
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || bytes.Contains(said, []byte(`"error"`)) {
		t.Fatalf("import of the image: %s: %s", resp.Status, said)
	}
}
