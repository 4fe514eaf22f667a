package ssh

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

const (
	dialLimit = 10 * time.Second
	aliveTime = 15 * time.Second // between questions whether the machine is still there
)

// target is a machine and who one is there.
type target struct {
	host, user, key string
	port            int
	userHome        string // where ~/.ssh is
	home            string // the program's own directory
	agent           string // socket of the agent; "": none
}

func (t target) String() string { return t.user + "@" + t.addr() }

func (t target) addr() string {
	return net.JoinHostPort(strings.Trim(t.host, "[]"), strconv.Itoa(t.port))
}

// dial connects. The machine must be known: nobody can be asked here whether
// a key is the right one.
func (t target) dial(ctx context.Context) (*ssh.Client, error) {
	callback, known, err := t.hostKeys()
	if err != nil {
		return nil, err
	}
	auth, done, err := t.auth(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", t.addr())
	if err != nil {
		return nil, fmt.Errorf("ssh to %s: %w", t, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	c, chans, reqs, err := ssh.NewClientConn(conn, t.addr(), &ssh.ClientConfig{
		User: t.user, Auth: auth, HostKeyCallback: callback, HostKeyAlgorithms: known, ClientVersion: "SSH-2.0-hermes",
	})
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close() // it is of no use
		return nil, fmt.Errorf("ssh to %s: %w", t, err)
	}
	client := ssh.NewClient(c, chans, reqs)
	go keepAlive(client)
	return client, nil
}

// keepAlive asks now and then, so that a machine that is gone is seen to be.
func keepAlive(c *ssh.Client) {
	gone := make(chan struct{})
	go func() { defer close(gone); _ = c.Wait() }()
	tick := time.NewTicker(aliveTime)
	defer tick.Stop()
	for {
		select {
		case <-gone:
			return
		case <-tick.C:
			answer := make(chan error, 1)
			go func() {
				_, _, err := c.SendRequest("keepalive@openssh.com", true, nil)
				answer <- err
			}()
			select {
			case err := <-answer:
				if err == nil {
					continue
				}
			case <-time.After(2 * aliveTime):
			case <-gone:
			}
			_ = c.Close() // all that runs there learns of it
			return
		}
	}
}

// knownFiles are the files of known machines that exist.
func (t target) knownFiles() []string {
	var files []string
	for _, f := range []string{filepath.Join(t.userHome, ".ssh", "known_hosts"), filepath.Join(t.userHome, ".ssh", "known_hosts2"), filepath.Join(t.home, "known_hosts"), "/etc/ssh/ssh_known_hosts"} {
		if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
			files = append(files, f)
		}
	}
	return files
}

// hostKeys checks a machine's key, and says which kinds of key to ask it for:
// one that is known by another kind must not count as changed.
func (t target) hostKeys() (ssh.HostKeyCallback, []string, error) {
	unknown := func(key ssh.PublicKey) error {
		said := ""
		if key != nil {
			said = fmt.Sprintf(" (it shows %s)", ssh.FingerprintSHA256(key))
		}
		return fmt.Errorf("the key of %s is not known%s: connect once with: ssh -p %d %s@%s, and compare it", t.host, said, t.port, t.user, t.host)
	}
	files := t.knownFiles()
	if len(files) == 0 {
		return nil, nil, unknown(nil)
	}
	check, err := knownhosts.New(files...)
	if err != nil {
		return nil, nil, fmt.Errorf("known_hosts: %w", err)
	}
	// A key that nobody has brings out those that are known.
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	probe, err := ssh.NewPublicKey(pub)
	if err != nil {
		return nil, nil, err
	}
	var algorithms []string
	var found *knownhosts.KeyError
	if errors.As(check(t.addr(), &net.TCPAddr{IP: net.IPv4zero, Port: t.port}, probe), &found) {
		for _, k := range found.Want {
			if k.Key.Type() == ssh.KeyAlgoRSA {
				algorithms = append(algorithms, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			}
			algorithms = append(algorithms, k.Key.Type())
		}
	}
	return func(addr string, remote net.Addr, key ssh.PublicKey) error {
		err := check(addr, remote, key)
		var wrong *knownhosts.KeyError
		switch {
		case !errors.As(err, &wrong):
			return err
		case len(wrong.Want) == 0:
			return unknown(key)
		}
		return fmt.Errorf("the key of %s HAS CHANGED: it shows %s, and %s:%d has another: somebody may sit between; if the machine was set up anew, remove that line",
			t.host, ssh.FingerprintSHA256(key), wrong.Want[0].Filename, wrong.Want[0].Line)
	}, algorithms, nil
}

// auth is what the user can show: the key of the configuration, or the agent
// and the usual files.
func (t target) auth(ctx context.Context) ([]ssh.AuthMethod, func(), error) {
	done := func() {}
	var signers []ssh.Signer
	if t.key != "" {
		file := t.key
		if strings.HasPrefix(file, "~/") {
			file = filepath.Join(t.userHome, file[2:])
		}
		s, err := readKey(file)
		if err != nil {
			return nil, nil, fmt.Errorf("terminal.ssh_key: %w", err)
		}
		return []ssh.AuthMethod{ssh.PublicKeys(s)}, done, nil
	}
	if t.agent != "" {
		var d net.Dialer
		if conn, err := d.DialContext(ctx, "unix", t.agent); err == nil {
			done = func() { _ = conn.Close() } // it was only asked to sign
			if list, err := agent.NewClient(conn).Signers(); err == nil {
				signers = append(signers, list...)
			}
		}
	}
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		if s, err := readKey(filepath.Join(t.userHome, ".ssh", name)); err == nil { // one that needs a passphrase is the agent's matter
			signers = append(signers, s)
		}
	}
	if len(signers) == 0 {
		done()
		return nil, nil, fmt.Errorf("ssh to %s: there is no key: add one to the agent, or: hermes config set terminal.ssh_key FILE", t)
	}
	return []ssh.AuthMethod{ssh.PublicKeys(signers...)}, done, nil
}

func readKey(file string) (ssh.Signer, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s, err := ssh.ParsePrivateKey(b)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, fmt.Errorf("%s needs a passphrase: add it to the agent (ssh-add %s) and leave terminal.ssh_key empty", file, file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}
