package urlsafe

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]bool{ // reached by default, and with AllowPrivate
		"93.184.216.34": {true, true}, "2606:2800:220:1:248:1893:25c8:1946": {true, true}, "8.8.8.8": {true, true}, "64:ff9b::808:808": {true, true},
		"127.0.0.1": {false, true}, "::1": {false, true}, "10.0.0.1": {false, true}, "172.16.0.1": {false, true}, "192.168.1.1": {false, true}, "fd12::1": {false, true},
		"100.64.0.1": {false, true}, "0.0.0.0": {false, true}, "::": {false, true}, "224.0.0.1": {false, true}, "ff02::1": {false, true}, "fe80::1": {false, true}, "255.255.255.255": {false, true},
		"198.18.0.1": {false, true}, "192.0.2.1": {false, true}, "2001:db8::1": {false, true}, "fec0::1": {false, true}, "2001::1": {false, true},
		"169.254.169.254": {false, false}, "169.254.0.1": {false, false}, "100.100.100.200": {false, false}, "fd00:ec2::254": {false, false},
		"::ffff:169.254.169.254": {false, false}, "::ffff:127.0.0.1": {false, true}, "64:ff9b::7f00:1": {false, true}, "64:ff9b::a9fe:a9fe": {false, false}, "2002:7f00:1::": {false, true}, "2002:a9fe:a9fe::1": {false, false}, "::127.0.0.1": {false, true},
	} {
		for i, private := range []bool{false, true} {
			err := Guard{AllowPrivate: private}.Check(netip.MustParseAddr(address))
			if (err == nil) != want[i] || err != nil && !errors.Is(err, ErrRefused) {
				t.Errorf("%s, private %v: %v", address, private, err)
			}
		}
	}
	if (Guard{}).Check(netip.Addr{}) == nil {
		t.Error("no address")
	}
}

// Case 89: metadata whatever the settings, the local network only with them.
func TestCase89(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]bool{
		"http://169.254.169.254/": {false, false}, "http://10.0.0.1/": {false, true}, "https://[::1]:8080/x": {false, true}, "http://8.8.8.8/": {true, true},
		"http://metadata.google.internal/": {false, false}, "http://METADATA.google.internal./x": {false, false}, "http://2852039166/": {false, false}, "http://0xa9fea9fe/": {false, false}, "http://0251.0376.0251.0376/": {false, false},
		"http://127.1/": {false, true}, "http://0x7f000001/": {false, true}, "http://017700000001/": {false, true}, "http://[::ffff:10.0.0.1]/": {false, true},
		"file:///etc/passwd": {false, false}, "http:///x": {false, false}, "gopher://8.8.8.8/": {false, false}, "http://u:p%zz@x/": {false, false},
	} {
		for i, private := range []bool{false, true} {
			err := Guard{AllowPrivate: private}.CheckURL(t.Context(), raw)
			if (err == nil) != want[i] {
				t.Errorf("%s, private %v: %v", raw, private, err)
			}
			if err != nil && strings.Contains(err.Error(), "u:p") {
				t.Errorf("the error shows a password: %v", err)
			}
		}
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{"169.254.169.254": true, "[fd00:ec2::254]": true, "metadata.goog": true, "instance-data": true, "169.254.170.2": true, "example.com": false, "10.0.0.1": false, "": false, "1": false} {
		if Metadata(host) != want {
			t.Errorf("%s", host)
		}
	}
}

// names answers questions for A records with one address after the other.
func names(t *testing.T, answers ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	var asked atomic.Int32
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil || n < 17 {
				return
			}
			q := append([]byte{}, buf[:n]...)
			end := 12
			for q[end] != 0 {
				end += int(q[end]) + 1
			}
			end += 5
			reply := append([]byte{}, q[:end]...)
			reply[2], reply[3] = 0x81, 0x80
			copy(reply[6:12], []byte{0, 0, 0, 0, 0, 0})
			if binary.BigEndian.Uint16(q[end-4:]) == 1 {
				i := min(int(asked.Add(1))-1, len(answers)-1)
				reply[7] = 1
				ip := netip.MustParseAddr(answers[i]).As4()
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				reply = append(reply, ip[:]...)
			}
			if _, err := conn.WriteTo(reply, from); err != nil {
				return
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
}

// A name that is public when it is checked and private when it is dialled is
// refused where it is dialled; so is a redirect to this machine.
func TestRebinding(t *testing.T) {
	t.Parallel()
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	g := Guard{Resolver: names(t, "93.184.216.34", "127.0.0.1")}
	address := "http://rebind.example:" + port + "/"
	if err := g.CheckURL(t.Context(), address); err != nil {
		t.Fatalf("the first look: %v", err)
	}
	_, err = (&http.Client{Transport: g.Transport()}).Get(address)
	if !errors.Is(err, ErrRefused) || reached {
		t.Errorf("reached %v: %v", reached, err)
	}
	if err := (Guard{Resolver: names(t, "10.0.0.7")}).CheckURL(t.Context(), "http://inside.example/"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "inside.example") {
		t.Errorf("a private name: %v", err)
	}
	private := Guard{AllowPrivate: true, Resolver: names(t, "127.0.0.1")}
	resp, err := (&http.Client{Transport: private.Transport()}).Get(address)
	if err != nil || !reached {
		t.Fatalf("allowed: %v", err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if err := (Guard{}).Control("unix", "/run/docker.sock", nil); !errors.Is(err, ErrRefused) {
		t.Errorf("a socket: %v", err)
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1/", "http://0x7f.1", "http://[::1]/", "http://1.2.3.4.5/", "http://[fe80::1%25eth0]/"} {
		f.Add(s)
	}
	g := Guard{Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") }}}
	f.Fuzz(func(t *testing.T, raw string) {
		if err := g.CheckURL(t.Context(), raw); err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", raw, err)
		}
	})
}
