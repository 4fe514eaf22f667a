// Package urlsafe keeps requests for addresses that a model chose away from
// the private network, from this machine and from the cloud's metadata
// services. What counts is the address that is dialled, not the name: a name
// that is checked first and resolved again later may have another address by
// then. It fetches nothing, and is not for the services that the user configured.
package urlsafe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Guard says which addresses may be reached. The zero value refuses
// everything that is not public.
type Guard struct {
	// AllowPrivate lets through the local network and this machine. Metadata
	// services stay refused.
	AllowPrivate bool
	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
}

// ErrRefused is in every error about an address that may not be reached.
var ErrRefused = errors.New("address refused")

// metadataHosts are the names of services that hand out the credentials of a
// machine in a cloud.
var metadataHosts = [...]string{"metadata.google.internal", "metadata.goog", "metadata.azure.internal", "instance-data", "instance-data.ec2.internal"}

// Metadata reports whether a host, a name or an address in any of its usual
// spellings, is a metadata service.
func Metadata(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	for _, name := range metadataHosts {
		if host == name {
			return true
		}
	}
	ip, ok := parse(host)
	return ok && metadata(ip)
}

// metadata also knows the link-local range, in which most of them are.
func metadata(ip netip.Addr) bool {
	switch ip.String() {
	case "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254":
		return true
	}
	return ip.Is4() && ip.IsLinkLocalUnicast()
}

// special are the ranges beyond those that netip names: this network, shared
// and reserved addresses, documentation, benchmarks, and the forms of IPv6 that
// stand for an unknown IPv4 address.
var special = sync.OnceValue(func() []netip.Prefix {
	return []netip.Prefix{
		prefix(0, 0, 0, 0, 8), prefix(100, 64, 0, 0, 10), prefix(192, 0, 0, 0, 24), prefix(192, 0, 2, 0, 24), prefix(192, 88, 99, 0, 24),
		prefix(198, 18, 0, 0, 15), prefix(198, 51, 100, 0, 24), prefix(203, 0, 113, 0, 24), prefix(240, 0, 0, 0, 4),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01}), 23),                         // protocol assignments, Teredo among them
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8}), 32),             // documentation
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x3f, 0xff}), 20),                         // documentation
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x01}), 64),                               // discard only
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x5f}), 16),                               // segment routing
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfe, 0xc0}), 10),                         // site-local
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}), 48), // local translation
	}
})

func prefix(a, b, c, d byte, bits int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b, c, d}), bits)
}

// plain takes an IPv4 address out of the IPv6 forms that carry one: mapped,
// compatible, NAT64 and 6to4.
func plain(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip
	}
	b := ip.As16()
	switch {
	case b[0] == 0x00 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b && [8]byte(b[4:12]) == [8]byte{}:
		return netip.AddrFrom4([4]byte(b[12:]))
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6]))
	case [12]byte(b[:12]) == [12]byte{} && (b[12] != 0 || b[13] != 0):
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

// Check says whether an address may be reached.
func (g Guard) Check(ip netip.Addr) error {
	if !ip.IsValid() {
		return fmt.Errorf("%w: no address", ErrRefused)
	}
	p := plain(ip)
	if metadata(p) {
		return fmt.Errorf("%w: %s belongs to a metadata service or is link-local, and is never reached", ErrRefused, ip)
	}
	if g.AllowPrivate {
		return nil
	}
	kind := ""
	switch {
	case p.IsLoopback():
		kind = "this machine"
	case p.IsPrivate():
		kind = "a private network"
	case p.IsLinkLocalUnicast(), p.IsLinkLocalMulticast(), p.IsInterfaceLocalMulticast():
		kind = "the local link"
	case p.IsMulticast():
		kind = "a group of machines"
	case p.IsUnspecified():
		kind = "no machine"
	default:
		for _, r := range special() {
			if r.Contains(p) {
				kind = "a reserved range"
			}
		}
	}
	if kind == "" {
		return nil
	}
	return fmt.Errorf("%w: %s belongs to %s; security.allow_private_urls lets such addresses through", ErrRefused, ip, kind)
}

// Control refuses a connection by the address that is about to be dialled. It
// is for net.Dialer.Control.
func (g Guard) Control(network, address string, _ syscall.RawConn) error {
	switch network {
	case "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6":
	default:
		return fmt.Errorf("%w: network %s", ErrRefused, network)
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrRefused, address, err)
	}
	return g.Check(at.Addr())
}

// CheckURL refuses an address before anything is sent: by its form, its name
// and every address that the name has now. A request for it must still go
// through Transport or Control.
func (g Guard) CheckURL(ctx context.Context, raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, errors.Unwrap(err)) // the cause alone: the address may hold a password
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%w: the scheme is %q, want http or https", ErrRefused, u.Scheme)
	}
	host := u.Hostname()
	if host == "" {
		return fmt.Errorf("%w: it names no host", ErrRefused)
	}
	if Metadata(host) {
		return fmt.Errorf("%w: %s is a metadata service, and is never reached", ErrRefused, host)
	}
	if ip, ok := parse(host); ok {
		return g.Check(ip)
	}
	ips, err := g.resolver().LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("%w: %s is not known: %w", ErrRefused, host, err)
	}
	for _, ip := range ips {
		if err := g.Check(ip); err != nil {
			return fmt.Errorf("%s: %w", host, err)
		}
	}
	return nil
}

func (g Guard) resolver() *net.Resolver {
	if g.Resolver != nil {
		return g.Resolver
	}
	return net.DefaultResolver
}

// Transport is for requests to addresses that a model chose. It uses no proxy:
// behind one, what is dialled is not what is asked for. Redirects are dialled
// through it like everything else.
func (g Guard) Transport() *http.Transport {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second, Resolver: g.Resolver, Control: g.Control}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 16, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 60 * time.Second,
	}
}

// parse reads an address as the libraries of C do, which also know 0x7f.1,
// 2130706433 and 017700000001.
func parse(host string) (netip.Addr, bool) {
	host, _, _ = strings.Cut(strings.Trim(host, "[]"), "%")
	if ip, err := netip.ParseAddr(host); err == nil {
		return plain(ip), true
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		if part == "" || strings.ContainsAny(part, "+-_") {
			return netip.Addr{}, false
		}
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			if room := uint(8 * (4 - i)); n>>room != 0 {
				return netip.Addr{}, false
			}
			value |= n
		} else {
			if n > 255 {
				return netip.Addr{}, false
			}
			value |= n << (8 * (3 - uint(i)))
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}
