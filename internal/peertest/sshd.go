//go:build !windows

package peertest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// SSH is a server of our own on loopback, with keys made for it.
type SSH struct {
	Port  int
	User  string
	Key   string // file of a private key that it takes
	Known string // a line for known_hosts
	Dir   string

	config string
	listen net.Listener
	mu     sync.Mutex
	live   map[*exec.Cmd]struct{}
	wait   sync.WaitGroup
}

// StartSSH starts a server: a process of sshd for each connection.
func StartSSH(t testing.TB) *SSH {
	t.Helper()
	const sshd = "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		t.Fatalf("%v: install openssh-server (scripts/setup does)", err)
	}
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where it gives up rights
			t.Fatal(err)
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s := &SSH{User: me.Username, Dir: t.TempDir(), live: map[*exec.Cmd]struct{}{}}
	host := writeKey(t, filepath.Join(s.Dir, "host"))
	s.Key = filepath.Join(s.Dir, "user")
	own := writeKey(t, s.Key)
	allowed := filepath.Join(s.Dir, "authorized")
	if err := os.WriteFile(allowed, ssh.MarshalAuthorizedKey(own), 0o600); err != nil {
		t.Fatal(err)
	}
	s.config = filepath.Join(s.Dir, "config")
	// SHLVL keeps bash from reading the start-up files of whoever runs the tests.
	text := fmt.Sprintf("SetEnv SHLVL=2\nHostKey %s\nAuthorizedKeysFile %s\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nStrictModes no\nPrintMotd no\nUseDNS no\nPidFile none\nSubsystem sftp internal-sftp\n",
		filepath.Join(s.Dir, "host"), allowed)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.Port = s.listen.Addr().(*net.TCPAddr).Port
	s.Known = knownhosts.Line([]string{knownhosts.Normalize(s.listen.Addr().String())}, host)
	go func() { // ends with the listener
		for {
			c, err := s.listen.Accept()
			if err != nil {
				return
			}
			f, err := c.(*net.TCPConn).File()
			_ = c.Close() // the copy is what counts
			if err != nil {
				return
			}
			cmd := exec.Command(sshd, "-i", "-f", s.config)
			cmd.Stdin, cmd.Stdout = f, f
			cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
			s.mu.Lock()
			if cmd.Start() == nil {
				s.live[cmd] = struct{}{}
				s.wait.Go(func() {
					_ = cmd.Wait()
					s.mu.Lock()
					delete(s.live, cmd)
					s.mu.Unlock()
				})
			}
			s.mu.Unlock()
			_ = f.Close() // the child has its own
		}
	}()
	t.Cleanup(func() {
		_ = s.listen.Close()
		s.Drop()
		s.wait.Wait()
	})
	return s
}

// Drop ends every connection, as when the machine goes away.
func (s *SSH) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cmd := range s.live {
		_ = cmd.Process.Kill()
	}
}

func writeKey(t testing.TB, file string) ssh.PublicKey {
	t.Helper()
	pub, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
