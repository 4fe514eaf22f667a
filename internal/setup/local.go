package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// LocalServer is a model server on this machine.
type LocalServer struct {
	Name   string   `json:"name"`
	URL    string   `json:"base_url"` // as model.base_url has it
	Models []string `json:"models"`   // without those that only embed
}

// Model is what to use when nobody chooses: the first.
func (s LocalServer) Model() string {
	if len(s.Models) == 0 {
		return ""
	}
	return s.Models[0]
}

// localPorts are where the usual servers listen.
var localPorts = [...]struct{ name, host string }{
	{"Ollama", "127.0.0.1:11434"},
	{"LM Studio", "127.0.0.1:1234"},
	{"llama.cpp", "127.0.0.1:8080"},
	{"vLLM", "127.0.0.1:8000"},
}

// localWait is enough for loopback and not noticed by a person.
const localWait = 400 * time.Millisecond

// FindLocal looks for model servers on fixed ports of the loopback address,
// and where OLLAMA_HOST and LM_BASE_URL say when that is loopback too. It never
// looks anywhere else.
func FindLocal(ctx context.Context, lookup func(string) (string, bool)) []LocalServer {
	type place struct{ name, base string }
	var places []place
	for _, v := range []struct{ name, variable string }{{"Ollama", "OLLAMA_HOST"}, {"LM Studio", "LM_BASE_URL"}} {
		if value, ok := lookup(v.variable); ok {
			if base := loopbackURL(value); base != "" {
				places = append(places, place{v.name, base})
			}
		}
	}
	for _, p := range localPorts {
		base := "http://" + p.host + "/v1"
		if len(places) == 0 || places[0].base != base {
			places = append(places, place{p.name, base})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, localWait)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{}).DialContext, DisableKeepAlives: true}}
	found := make([]LocalServer, len(places))
	var wg sync.WaitGroup
	for i, p := range places {
		wg.Go(func() {
			if models, err := listLocal(ctx, client, p.base); err == nil && len(models) > 0 {
				found[i] = LocalServer{Name: p.name, URL: p.base, Models: models}
			}
		})
	}
	wg.Wait()
	var out []LocalServer
	for _, s := range found {
		if s.URL != "" {
			out = append(out, s)
		}
	}
	return out
}

// loopbackURL makes an address of the forms people write an OpenAI-like base
// URL, "" when it is not this machine's loopback.
func loopbackURL(value string) string {
	value = strings.TrimSpace(value)
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "http" {
		return ""
	}
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !addr.IsLoopback() && !addr.IsUnspecified()) {
		return ""
	} else if err == nil && addr.IsUnspecified() {
		host = "127.0.0.1" // where a server that listens everywhere can be asked
	}
	port := u.Port()
	if port == "" {
		port = "11434"
	}
	return "http://" + net.JoinHostPort(host, port) + "/v1"
}

// listLocal asks an OpenAI-like server for its models.
func listLocal(ctx context.Context, client *http.Client, base string) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", base, resp.Status)
	}
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s answered no list of models: %w", base, err)
	}
	var names []string
	for _, m := range list.Data {
		if m.ID != "" && !strings.Contains(strings.ToLower(m.ID), "embed") {
			names = append(names, m.ID)
		}
	}
	return names, nil
}
