package provider

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// hostOf is the host and port of a URL, in lower case and without the port
// that the scheme implies.
func hostOf(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return ""
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		return host
	}
	return net.JoinHostPort(host, port)
}

func hostname(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// SameOrigin reports whether two URLs have scheme, host and port in common:
// what a key given for one may be sent to.
func SameOrigin(a, b *url.URL) bool {
	return a != nil && b != nil && strings.EqualFold(a.Scheme, b.Scheme) && hostOf(a.String()) == hostOf(b.String())
}

// within reports whether host is domain or below it.
func within(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

func localHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() || carrierNAT(addr)
	}
	switch {
	case within(host, "localhost"), strings.HasSuffix(host, ".local"), strings.HasSuffix(host, ".internal"), strings.HasSuffix(host, ".lan"):
		return true
	}
	return host != "" && !strings.Contains(host, ".") // a container's name
}

// carrierNAT is 100.64.0.0/10, where private overlay networks live.
func carrierNAT(a netip.Addr) bool {
	if !a.Is4() {
		return false
	}
	b := a.As4()
	return b[0] == 100 && b[1]&0xc0 == 64
}
