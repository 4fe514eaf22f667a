package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hermes-go/hermes/provider"
)

// transport is shared by every endpoint, so that the second request to a host
// finds a connection. It is made when the first request is.
var transport = sync.OnceValue(func() http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          1024,
		MaxIdleConnsPerHost:   1024,    // a local server without HTTP/2 needs one for each session
		ReadBufferSize:        2 << 10, // for headers: bodies are longer and go past it
		WriteBufferSize:       1 << 10, // likewise
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // a compressed stream arrives in lumps
	}
})

var errForeign = errors.New("the service redirects")

// httpClient returns own, or the shared client, with a rule for redirects: to
// another scheme, host or port goes nothing that was meant for this one, least
// of all a conversation.
func httpClient(own *http.Client) *http.Client {
	c := &http.Client{}
	if own != nil {
		*c = *own
	}
	if c.Transport == nil {
		c.Transport = transport()
	}
	before := c.CheckRedirect
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return fmt.Errorf("%w too often", errForeign)
		}
		if !provider.SameOrigin(req.URL, via[0].URL) {
			if req.Method == http.MethodPost {
				return fmt.Errorf("%w to %s, another address; set base_url to it if it is yours", errForeign, req.URL.Host)
			}
			for k := range req.Header {
				if !harmless(k) {
					delete(req.Header, k)
				}
			}
		}
		if before != nil {
			return before(req, via)
		}
		return nil
	}
	return c
}

// harmless names the headers that may go anywhere. Of those that a user has
// configured nobody knows which hold a secret.
func harmless(header string) bool {
	switch header {
	case "Content-Type", "Accept", "User-Agent", "Content-Length":
		return true
	}
	return false
}

// NewHeader starts the headers of a request: ours, then those of the endpoint.
func NewHeader(e provider.Endpoint) http.Header {
	h := make(http.Header, 8)
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "hermes")
	for k, v := range e.Headers {
		h[http.CanonicalHeaderKey(k)] = v
	}
	return h
}

// Bearer sets the usual key header unless the endpoint's own headers do.
func Bearer(h http.Header, e provider.Endpoint) {
	if e.Key != "" && h.Get("Authorization") == "" {
		h.Set("Authorization", "Bearer "+e.Key)
	}
}

func (x *exchange) post(ctx context.Context, out Outgoing) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, out.URL, out.Body.Reader())
	if err != nil {
		return nil, err
	}
	req.Header = out.Header
	req.ContentLength = int64(out.Body.Len())
	req.GetBody = func() (io.ReadCloser, error) { return out.Body.Reader(), nil }
	return x.http.Do(req)
}

// Get fetches a small JSON document of an endpoint, such as its models.
func Get(ctx context.Context, e provider.Endpoint, url string, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	resp, err := httpClient(e.HTTP).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(http.MaxBytesReader(nil, resp.Body, 64<<20)); err != nil {
		return nil, fmt.Errorf("read %s: %w", e.Host(), err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, provider.Classify(resp.StatusCode, resp.Header, body.Bytes(), provider.Sent{Now: time.Now()})
	}
	return body.Bytes(), nil
}
