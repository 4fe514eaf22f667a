package provider

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// rule classifies by status and words; the first that matches counts. No
// statuses means any, no words means whatever the text.
type rule struct {
	status []int
	all    []string // each must occur
	any    []string // one must occur
	class  Class
}

func (r rule) matches(status int, text string) bool {
	if len(r.status) > 0 && !slices.Contains(r.status, status) {
		return false
	}
	for _, w := range r.all {
		if !strings.Contains(text, w) {
			return false
		}
	}
	if len(r.any) == 0 {
		return true
	}
	return slices.ContainsFunc(r.any, func(w string) bool { return strings.Contains(text, w) })
}

// unstated are the statuses under which the words decide: none at all (an
// error inside a stream) and the ones services use for everything.
var unstated = []int{0, http.StatusBadRequest, http.StatusInternalServerError, http.StatusUnprocessableEntity}

var rules = [...]rule{
	{status: []int{400}, all: []string{"signature", "thinking"}, class: ClassSignature},
	{status: []int{400}, any: []string{"invalid_encrypted_content", "encrypted content could not be"}, class: ClassSignature},
	{status: []int{400}, any: []string{"thought signature is not valid", "thought_signature", "invalid thought signature"}, class: ClassSignature},
	{status: []int{400, 500}, any: []string{"failed to parse grammar", "error parsing grammar", "json_schema_to_grammar", "json-schema-to-grammar", "unable to generate parser for this template"}, class: ClassGrammar},
	{status: []int{429}, all: []string{"extra usage", "long context"}, class: ClassContextOverflow},
	{status: []int{429}, any: []string{"insufficient_quota", "exceeded your current quota", "billing_hard_limit", "credit balance"}, class: ClassBilling},
	{status: []int{429}, class: ClassRateLimit},
	{status: []int{401}, class: ClassAuth},
	{status: []int{403}, any: []string{"key limit exceeded", "spending limit", "insufficient credits", "insufficient balance"}, class: ClassBilling},
	{status: []int{403}, any: []string{"content policy", "moderation", "flagged"}, class: ClassPolicy},
	{status: []int{403}, class: ClassAuth},
	{status: []int{402}, any: []string{"try again", "resets at", "reset at", "resets in", "per window", "usage window", "retry after", "temporarily"}, class: ClassRateLimit},
	{status: []int{402}, class: ClassBilling},
	{status: []int{404}, any: []string{"data policy", "guardrail restrictions", "no endpoints available matching your"}, class: ClassPolicy},
	{status: []int{404}, all: []string{"support tool use"}, class: ClassFormat},
	{status: []int{404}, any: []string{"model_not_found", "model not found", "no such model", "unknown model", "does not exist", "not_found_error", "no endpoints found", "not found for api version", "try pulling it first"}, class: ClassModelNotFound},
	{status: []int{404}, all: []string{"model", "not found"}, class: ClassModelNotFound},
	{status: []int{413}, class: ClassPayloadTooLarge},
	{status: unstated, any: []string{
		"maximum context length", "context_length_exceeded", "context length exceeded", "prompt is too long", "prompt too long",
		"exceeds the context window", "exceeded the context window", "context window exceeded", "exceed context limit", "exceeds the available context size",
		"exceed_context_size", "input token count exceeds", "exceeds the maximum number of tokens", "model_context_window_exceeded",
		"input is too long for requested model", "reduce the length of the messages", "too many tokens in the prompt", "larger than the context",
		"greater than the context length", "exceeds model's maximum context",
	}, class: ClassContextOverflow},
	{status: unstated, all: []string{"input token count", "exceeds the maximum"}, class: ClassContextOverflow},
	{status: unstated, any: []string{"request_too_large", "request entity too large", "payload too large"}, class: ClassPayloadTooLarge},
	{status: unstated, any: []string{"content management policy", "violates our usage policy", "content_policy_violation", "blocked by policy", "data policy"}, class: ClassPolicy},
	{status: unstated, any: []string{"credit balance is too low", "insufficient_quota", "insufficient credits", "insufficient balance", "billing_not_active", "payment_required", "exceeded your current quota"}, class: ClassBilling},
	{status: unstated, any: []string{"rate_limit_exceeded", "rate limit exceeded", "rate_limit_error", "too many requests", "resource_exhausted", "throttl", "rate limited"}, class: ClassRateLimit},
	{status: unstated, any: []string{"api_key_invalid", "invalid api key", "api key not valid", "invalid_api_key", "incorrect api key", "authentication_error", "unauthenticated"}, class: ClassAuth},
	{status: []int{0, 400}, any: []string{"model_not_found", "invalid model id", "unknown model", "no such model", "is not a valid model", "model does not exist", "model not found"}, class: ClassModelNotFound},
	{status: []int{0, 500}, any: []string{"overloaded", "model is currently loading", "server is busy", "engine is busy"}, class: ClassOverloaded},
	{status: []int{0}, any: []string{"timed out", "timeout", "connection reset", "connection lost", "network error", "network connection", "upstream connect", "broken pipe"}, class: ClassTimeout},
	{status: []int{0}, any: []string{"internal server error", "server_error", "api_error", "internal error", "bad gateway"}, class: ClassServer},
	{status: []int{0}, any: []string{"invalid_request_error", "invalid_argument", "bad request"}, class: ClassFormat},
}

// byCode maps the codes that services give in a field of their own.
var byCode = map[string]Class{
	"insufficient_quota":      ClassBilling,
	"context_length_exceeded": ClassContextOverflow,
	"model_not_found":         ClassModelNotFound,
	"invalid_api_key":         ClassAuth,
	"permission_error":        ClassAuth,
	"permission_denied":       ClassAuth,
	"overloaded_error":        ClassOverloaded,
	"unavailable":             ClassOverloaded,
	"deadline_exceeded":       ClassTimeout,
}

var windowPatterns = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`maximum context length (?:is|of) (\d[\d,]*)`),
		regexp.MustCompile(`\d[\d,]* tokens > (\d[\d,]*) maximum`),
		regexp.MustCompile(`context limit: \d+ \+ \d+ > (\d+)`),
		regexp.MustCompile(`context (?:window|size|length)[^.\d]{0,30}?(\d[\d,]{3,})`),
		regexp.MustCompile(`exceeds the maximum number of tokens allowed[^\d]{0,10}(\d[\d,]*)`),
		regexp.MustCompile(`n_ctx["']?\s*[:=]\s*(\d+)`),
	}
})

var availablePatterns = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`context limit: (\d+) \+ \d+ > (\d+)`), // prompt and window
		regexp.MustCompile(`available_tokens["']?\s*[:=]\s*(\d+)`),
		regexp.MustCompile(`available tokens[:=\s]+(\d+)`),
		regexp.MustCompile(`at most (\d+) (?:completion|output) tokens`),
	}
})

// windowOf reads the window and the room for output that an overflow names.
func windowOf(text string) (window, available int) {
	for _, p := range windowPatterns() {
		if m := p.FindStringSubmatch(text); m != nil {
			window = number(m[1])
			break
		}
	}
	for i, p := range availablePatterns() {
		m := p.FindStringSubmatch(text)
		switch {
		case m == nil:
			continue
		case i == 0:
			available = max(0, number(m[2])-number(m[1]))
		default:
			available = number(m[1])
		}
		break
	}
	return window, available
}

func number(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return 0
	}
	return n
}
