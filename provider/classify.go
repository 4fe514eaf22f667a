package provider

import (
	"encoding/json"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Sent is what a classification may know of the request that failed.
type Sent struct {
	Model    string
	Bytes    int // of the body
	Messages int
	Tools    []string // names in the order in which they were sent
	Now      time.Time
}

// Classify makes an Error of a service's refusal. status is 0 for an error
// that came inside a stream; body is what the service wrote, JSON or not.
func Classify(status int, header http.Header, body []byte, sent Sent) *Error {
	f := readFailure(body)
	if status == 0 {
		status = f.status
	}
	e := &Error{
		Status: status, Code: f.code, Param: f.param, Message: shorten(f.message, 1000), ToolIndex: -1,
		RetryAfter: retryAfter(header, f, sent.Now),
	}
	if e.Message == "" && status != 0 {
		e.Message = http.StatusText(status)
	}
	text := strings.ToLower(f.message + "\n" + f.code + "\n" + f.inner)
	e.Class = classOf(status, text, f, sent)
	switch e.Class {
	case ClassContextOverflow:
		e.Window, e.Available = windowOf(text)
	case ClassFormat, ClassInvalid, ClassServer:
		e.ToolIndex = toolIndex(f, sent.Tools)
	}
	return e
}

func classOf(status int, text string, f failure, sent Sent) Class {
	for _, r := range rules {
		if r.matches(status, text) {
			return r.class
		}
	}
	if c, ok := byCode[strings.ToLower(f.code)]; ok && (status == 0 || status == http.StatusBadRequest || status == http.StatusForbidden) {
		return c
	}
	switch {
	case status == http.StatusBadRequest:
		if utf8.RuneCountInString(strings.TrimSpace(f.message)) < 30 && large(sent) {
			return ClassContextOverflow // a service that says nothing about a request that is big
		}
		return ClassFormat
	case status == http.StatusRequestTimeout:
		return ClassTimeout
	case status == http.StatusServiceUnavailable || status == 529:
		return ClassOverloaded
	case status >= 500:
		return ClassServer
	case status == http.StatusNotFound:
		return ClassUnknown
	case status >= 400:
		return ClassFormat
	}
	return ClassUnknown
}

// large is the original's measure for "probably too long": 40 % of the window,
// or much for a small one.
func large(s Sent) bool {
	tokens, window := s.Bytes/4, ContextWindow(s.Model)
	return tokens > window*2/5 || window <= 256_000 && (tokens > 80_000 || s.Messages > 80)
}

// failure is a service's error in whatever shape it came.
type failure struct {
	message, code, param string
	inner                string // what a router quotes of the service behind it
	status               int
	retry                time.Duration
}

func readFailure(body []byte) failure {
	var f failure
	body = trimSpace(body)
	if len(body) == 0 {
		return f
	}
	if body[0] == '[' { // Gemini sends a list of one when it is not asked for events
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		f.message = plainText(string(body))
		return f
	}
	f.fields(top)
	if inner, ok := top["error"]; ok {
		var text string
		var fields map[string]json.RawMessage
		switch {
		case json.Unmarshal(inner, &text) == nil:
			f.message = text
		case json.Unmarshal(inner, &fields) == nil:
			f.fields(fields)
		}
	}
	if f.message == "" {
		f.message = plainText(string(body))
	}
	return f
}

func (f *failure) fields(m map[string]json.RawMessage) {
	text := func(keys ...string) string {
		for _, k := range keys {
			var s string
			if json.Unmarshal(m[k], &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	if s := text("message", "detail", "error_description", "msg"); s != "" {
		f.message = s
	} else if d := m["detail"]; len(d) > 0 && f.message == "" && d[0] != 'n' {
		f.message = string(d)
	}
	if s := text("code", "status", "type"); s != "" && s != "error" {
		f.code = s
	}
	if t := text("type"); t != "" && (f.code == "" || f.code == "null") {
		f.code = t
	}
	f.param = text("param")
	var n int
	if json.Unmarshal(m["code"], &n) == nil && n >= 400 && n < 600 {
		f.status = n
	}
	var meta struct {
		Raw any `json:"raw"`
	}
	if json.Unmarshal(m["metadata"], &meta) == nil && meta.Raw != nil {
		if s, ok := meta.Raw.(string); ok {
			f.inner = s
			if in := readFailure([]byte(s)); in.message != "" {
				f.message += ": " + in.message
			}
		}
	}
	var details []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
		Metadata   struct {
			Delay string `json:"quotaResetDelay"`
		} `json:"metadata"`
	}
	if json.Unmarshal(m["details"], &details) == nil {
		for _, d := range details {
			f.inner += " " + d.Reason
			for _, s := range []string{d.RetryDelay, d.Metadata.Delay} {
				if wait, err := time.ParseDuration(s); err == nil {
					f.retry = max(f.retry, wait)
				}
			}
		}
	}
}

// plainText is the gist of an answer that is no JSON; of a page, its title.
func plainText(s string) string {
	low := strings.ToLower(s)
	if i := strings.Index(low, "<title>"); i >= 0 {
		rest := s[i+len("<title>"):]
		title, _, _ := strings.Cut(rest, "<")
		return strings.TrimSpace(html.UnescapeString(title))
	}
	if strings.HasPrefix(low, "<!doctype") || strings.HasPrefix(low, "<html") {
		return "the answer is a web page"
	}
	return strings.TrimSpace(s)
}

func shorten(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

func trimSpace(b []byte) []byte { return []byte(strings.TrimSpace(string(b))) }

// retryAfter reads seconds or a date; what the body says counts when the
// header is silent.
func retryAfter(h http.Header, f failure, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if s := strings.TrimSpace(h.Get("Retry-After")); s != "" {
		if n, err := strconv.ParseFloat(s, 64); err == nil && n > 0 && n < 1e9 {
			return time.Duration(n * float64(time.Second))
		}
		if t, err := http.ParseTime(s); err == nil {
			if now.IsZero() {
				now = time.Now()
			}
			if d := t.Sub(now); d > 0 {
				return d
			}
		}
	}
	return f.retry
}

// toolIndex finds the tool definition that an error names, by place or name.
func toolIndex(f failure, names []string) int {
	for _, text := range []string{f.param, f.message, f.inner} {
		for _, mark := range []string{"function_declarations[", "functiondeclarations[", "tools[", "tools."} {
			low := strings.ToLower(text)
			for at := 0; ; {
				i := strings.Index(low[at:], mark)
				if i < 0 {
					break
				}
				at += i + len(mark)
				digits := 0
				for at+digits < len(low) && low[at+digits] >= '0' && low[at+digits] <= '9' {
					digits++
				}
				n, err := strconv.Atoi(low[at : at+digits])
				if err == nil && n < len(names) && !strings.Contains(low[at:], "function_declarations[") {
					return n
				}
			}
		}
		for _, mark := range []string{"schema for function '", "schema for tool '", "invalid tool '", "function '", "tool '"} {
			low := strings.ToLower(text)
			if i := strings.Index(low, mark); i >= 0 {
				name, _, ok := strings.Cut(text[i+len(mark):], "'")
				if n := slices.Index(names, name); ok && n >= 0 {
					return n
				}
			}
		}
	}
	return -1
}
