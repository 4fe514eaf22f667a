package skills

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// asked is one request that a script made.
type asked struct {
	*http.Request
	body string
}

// service answers the requests of a script with saved answers: texts by
// "METHOD /path", where a text that begins with @ is a file of testdata and one
// that begins with a number has that status.
type service struct {
	*httptest.Server
	mu  sync.Mutex
	got []asked
}

func serve(t *testing.T, answers map[string]string) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.got = append(s.got, asked{r, string(body)})
		s.mu.Unlock()
		text, ok := answers[r.Method+" "+r.URL.Path]
		status := http.StatusOK
		switch {
		case !ok:
			status, text = http.StatusNotFound, `{"message": "there is no `+r.URL.Path+`", "errors": [{"message": "no such thing"}]}`
		case strings.HasPrefix(text, "@"):
			data, err := os.ReadFile(filepath.Join("testdata", text[1:]))
			if err != nil {
				t.Error(err)
			}
			text = string(data)
		case len(text) > 3 && text[3] == ' ':
			status, text = int(text[0]-'0')*100+int(text[1]-'0')*10+int(text[2]-'0'), text[4:]
		}
		w.WriteHeader(status)
		if _, err := io.WriteString(w, text); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// last is the newest request whose path is the given one.
func (s *service) last(t *testing.T, method, path string) asked {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.got) - 1; i >= 0; i-- {
		if s.got[i].Method == method && s.got[i].URL.Path == path {
			return s.got[i]
		}
	}
	t.Fatalf("nothing asked for %s %s", method, path)
	return asked{}
}

// closed is an address where nobody listens.
func closed(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestOpenServices(t *testing.T) {
	t.Parallel()
	const (
		wiki    = "research/wikipedia/scripts/wiki.py"
		cite    = "research/citations/scripts/cite.py"
		maps    = "productivity/maps/scripts/maps.py"
		weather = "productivity/weather/scripts/weather.py"
		feeds   = "research/blogwatcher/scripts/feeds.py"
	)
	page := map[string]string{"GET /": "@wiki_page.json"}
	work := map[string]string{"GET /works/10.1000/xyz123": "@crossref_work.json", "GET /works": "@crossref_search.json"}
	osm := map[string]string{
		"GET /search": "@geocode.json", "GET /reverse": `{"display_name": "Pariser Platz"}`, "POST /api/interpreter": "@overpass.json",
		"GET /route/v1/bike/13.3777,52.5163;9.9,53.5": "@route.json",
	}
	meteo := map[string]string{"GET /v1/search": "@meteo_place.json", "GET /v1/forecast": "@meteo.json"}
	for _, tt := range []struct {
		name, script string
		answers      map[string]string
		args         []string
		code         int
		want         []string
	}{
		{"article", wiki, page, []string{"page", "Clepsydra"}, 0, []string{"(Clepsydra leads to Water clock)", "https://en.wikipedia.org/wiki/Water_clock", "\nIt measures time.\n"}},
		{"sections", wiki, page, []string{"page", "Clepsydra", "--sections", "--lang", "de"}, 0, []string{"https://de.", "History (4 characters)\n  Egypt (9 characters)\nUse"}},
		{"section", wiki, page, []string{"page", "Clepsydra", "--section", "history"}, 0, []string{"== History ==\nOld.\n\n== Egypt ==\nVery old.\n"}},
		{"no section", wiki, page, []string{"page", "Clepsydra", "--section", "Nope"}, 1, []string{"no section Nope; there are: History, Egypt, Use"}},
		{"search", wiki, map[string]string{"GET /": "@wiki_search.json"}, []string{"search", "clock"}, 0, []string{"Water clock\n", `a clock of "water"`}},
		{"no article", wiki, map[string]string{"GET /": `{"query": {"pages": [{"title": "X", "missing": true}]}}`}, []string{"page", "X"}, 1, []string{"there is no article X; try: search X"}},
		{"refused", wiki, map[string]string{"GET /": "429 slow down"}, []string{"search", "x"}, 1, []string{"answers 429", "wait a minute"}},
		{"no language", wiki, page, []string{"page", "X", "--lang", "../x"}, 2, []string{"--lang takes a code"}},

		{"reference", cite, work, []string{"doi", "https://doi.org/10.1000/xyz123"}, 0, []string{"A Thing & Another\n  Example, Ada; The Group (2015)\n  Journal of Things, vol. 7, no. 2, pp. 10-20\n"}},
		{"bibtex", cite, work, []string{"doi", "10.1000/xyz123", "--bibtex"}, 0, []string{"@article{example2015thing,", "title = {{A Thing \\& Another}}", "pages = {10--20}", "author = {Example, Ada and The Group}"}},
		{"candidates", cite, work, []string{"search", "a book"}, 0, []string{"A Book\n  (no authors)\n"}},
		{"not registered", cite, work, []string{"doi", "10.9999/none"}, 1, []string{"not registered with Crossref"}},
		{"no DOI", cite, work, []string{"doi", "hello"}, 2, []string{"hello is no DOI"}},

		{"place", maps, osm, []string{"find", "Brandenburger Tor"}, 0, []string{"52.5163,13.3777  Brandenburger Tor, Berlin, Deutschland (attraction)"}},
		{"address", maps, osm, []string{"at", "52.5,13.4"}, 0, []string{"Pariser Platz"}},
		{"route", maps, osm, []string{"route", "Brandenburger Tor", "53.5,9.9", "--by", "bike", "--steps"}, 0, []string{"65.4 km, 1 h 12 min by bike (straight line 257.1 km)", "120 m  depart left Pariser Platz"}},
		{"nearby", maps, osm, []string{"near", "52.5163,13.3777", "cafe"}, 0, []string{"11 m  Near Café  24/7", "Far Café  A-Straße 2"}},
		{"no tag", maps, osm, []string{"near", "52.5,13.4", `x"];node`}, 1, []string{"is no value of a tag"}},
		{"no point", maps, osm, []string{"at", "99,200"}, 1, []string{"latitude comes first"}},
		{"no way", maps, map[string]string{"GET /route/v1/driving/2.0,1.0;4.0,3.0": `{"code": "NoRoute", "message": "none"}`}, []string{"route", "1,2", "3,4"}, 1, []string{"there is no way: none"}},

		{"weather", weather, meteo, []string{"Paris, Texas", "--hours", "2"}, 0, []string{
			"Paris, Texas, United States, 2025-06-01T13:15", "now: light rain, 21.4°C", "2025-06-01  thunderstorm, 15.5 to 24°C, rain 3.2 mm (80%), gusts - km/h, sun 06:12-20:30",
			"2025-06-01 13:00  light rain, 21°C, rain 70% 0.4 mm", "2025-06-01 14:00  clear",
		}},
		{"no such place", weather, meteo, []string{"Paris, Japan"}, 1, []string{"no place is called Paris, Japan"}},
		{"odd answer", weather, map[string]string{"GET /v1/forecast": "{}"}, []string{"1,2"}, 1, []string{"the answer is not as expected"}},
		{"no JSON", weather, map[string]string{"GET /v1/forecast": "<html>"}, []string{"1,2"}, 1, []string{"weather: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.answers)
			check(t, tt.code, "", tt.script, append(tt.args, "--api", s.URL+map[string]string{wiki: "/"}[tt.script]), tt.want...)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		url := closed(t)
		for script, args := range map[string][]string{wiki: {"search", "x"}, cite: {"search", "x"}, maps: {"find", "x"}, weather: {"x"}} {
			check(t, 1, "", script, append(args, "--api", url), "refused")
		}
		check(t, 1, "", feeds, []string{url}, "refused")
	})
	t.Run("references of a file", func(t *testing.T) {
		t.Parallel()
		s := serve(t, work)
		file := filepath.Join(t.TempDir(), "paper.md")
		if err := os.WriteFile(file, []byte("See (https://doi.org/10.1000/xyz123). Also doi:10.1000/XYZ123, and 10.4242/made(up)."), 0o600); err != nil {
			t.Fatal(err)
		}
		check(t, 1, "", cite, []string{"check", file, "--api", s.URL}, "ok       10.1000/xyz123  A Thing & Another (2015)\nmissing  10.4242/made(up)\n1 of 2 DOIs")
	})
	t.Run("feeds of a page", func(t *testing.T) {
		t.Parallel()
		s := serve(t, map[string]string{"GET /blog/": `<link rel="alternate" type="application/atom+xml" href="feed.atom" title="T">`, "GET /blog/feed.atom": "@atom.xml"})
		check(t, 0, "", feeds, []string{"--discover", s.URL + "/blog/"}, s.URL+"/blog/feed.atom T\n")
		check(t, 0, "", feeds, []string{s.URL + "/blog/feed.atom"}, "Second post")
	})
}

func TestNetcheck(t *testing.T) {
	t.Parallel()
	const script = "system/network-diagnosis/scripts/netcheck.py"
	plain := serve(t, map[string]string{"GET /ok": "fine", "GET /bad": "503 no"})
	check(t, 0, "", script, []string{plain.URL + "/ok", strings.TrimPrefix(plain.URL, "http://")}, "200 OK", "is open")
	check(t, 1, "", script, []string{plain.URL + "/bad"}, "FAIL http", "503 Service Unavailable")
	check(t, 1, "", script, []string{closed(t)}, "FAIL connect 127.0.0.1", "refused: nothing listens there")
	check(t, 2, "", script, []string{"gopher://x"}, "say which port")
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	check(t, 1, "", script, []string{secure.URL}, "FAIL tls", "certificate refused: self")
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, certificatePEM(secure), 0o600); err != nil {
		t.Fatal(err)
	}
	out := check(t, 0, "", script, []string{secure.URL, "--ca", ca, "--json"})
	var got []struct {
		TLS    string
		Days   int `json:"certificate_days"`
		Status int
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 1 || got[0].TLS == "" || got[0].Days < 100 || got[0].Status != 404 {
		t.Errorf("%v: %+v", err, got)
	}
	check(t, 1, "", script, []string{secure.URL, "--ca", ca, "--warn-days", "100000"}, "FAIL certificate", "ends in ")
}
