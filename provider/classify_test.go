package provider

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	big := Sent{Model: "gpt-4", Bytes: 400_000, Now: now}
	for _, c := range []struct {
		name   string
		status int
		header string // name: value
		body   string
		sent   Sent
		want   Error
	}{
		{name: "thinking signature", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid signature in thinking block"}}`, want: Error{Class: ClassSignature}},
		{name: "encrypted item of another service", status: 400, body: `{"error":{"code":"invalid_encrypted_content","message":"The encrypted content could not be verified."}}`, want: Error{Class: ClassSignature}},
		{name: "llama.cpp grammar", status: 400, body: `{"error":{"code":400,"message":"failed to parse grammar","type":"invalid_request_error"}}`, want: Error{Class: ClassGrammar}},
		{name: "long context tier", status: 429, body: `{"error":{"message":"Extra usage is required for long context requests."}}`, want: Error{Class: ClassContextOverflow}},
		{name: "401", status: 401, body: `{"error":{"message":"Incorrect API key provided: sk-x","code":"invalid_api_key"}}`, want: Error{Class: ClassAuth}},
		{name: "case 34", status: 403, body: `{"error":{"message":"Key limit exceeded (daily limit)"}}`, want: Error{Class: ClassBilling}},
		{name: "403", status: 403, body: `{"error":{"message":"Forbidden"}}`, want: Error{Class: ClassAuth}},
		{name: "402 that passes", status: 402, body: `{"error":{"message":"Usage limit reached, try again in 5 minutes"}}`, want: Error{Class: ClassRateLimit}},
		{name: "402", status: 402, body: `{"error":{"message":"Insufficient credits"}}`, want: Error{Class: ClassBilling}},
		{name: "OpenAI's quota", status: 429, body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, want: Error{Class: ClassBilling}},
		{name: "rate, date", status: 429, header: "Retry-After: Thu, 01 Jan 2026 12:00:30 GMT", body: `{}`, sent: Sent{Now: now}, want: Error{Class: ClassRateLimit, RetryAfter: 30 * time.Second}},
		{name: "rate, seconds", status: 429, header: "Retry-After: 2.5", want: Error{Class: ClassRateLimit, RetryAfter: 2500 * time.Millisecond}},
		{name: "rate, Google", status: 429, body: `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38.5s"}]}}`, want: Error{Class: ClassRateLimit, RetryAfter: 38500 * time.Millisecond}},
		{name: "Google, in a list", status: 400, body: `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`, want: Error{Class: ClassAuth}},
		{name: "policy", status: 404, body: `{"error":{"message":"No endpoints found matching your data policy"}}`, want: Error{Class: ClassPolicy}},
		{name: "no such model", status: 404, body: `{"error":{"message":"model 'x' not found, try pulling it first"}}`, want: Error{Class: ClassModelNotFound}},
		{name: "no such page", status: 404, body: `nginx`, want: Error{Class: ClassUnknown}},
		{name: "413", status: 413, want: Error{Class: ClassPayloadTooLarge}},
		{name: "case 30", status: 400, body: `{"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 40000 tokens","code":"context_length_exceeded"}}`, want: Error{Class: ClassContextOverflow, Window: 32768}},
		{name: "Anthropic's overflow", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 20000 > 200000, decrease input length"}}`, want: Error{Class: ClassContextOverflow, Window: 200000, Available: 10000}},
		{name: "llama.cpp's overflow", status: 400, body: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, want: Error{Class: ClassContextOverflow}},
		{name: "Gemini's overflow", status: 400, body: `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, want: Error{Class: ClassContextOverflow, Window: 1048576}},
		{name: "terse and large", status: 400, body: `{"error":{"message":"Error"}}`, sent: big, want: Error{Class: ClassContextOverflow}},
		{name: "terse and small", status: 400, body: `{"error":{"message":"Error"}}`, sent: Sent{Model: "gpt-4", Bytes: 100}, want: Error{Class: ClassFormat}},
		{name: "format", status: 400, body: `{"error":{"message":"Unknown parameter: 'foo'."}}`, want: Error{Class: ClassFormat}},
		{name: "other 4xx", status: 418, want: Error{Class: ClassFormat}},
		{name: "500", status: 500, want: Error{Class: ClassServer}},
		{name: "502 page", status: 502, body: `<html><head><title>502 &amp; more</title></head></html>`, want: Error{Class: ClassServer, Message: "502 & more"}},
		{name: "503", status: 503, want: Error{Class: ClassOverloaded}},
		{name: "529", status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, want: Error{Class: ClassOverloaded}},
		{name: "overloaded in a stream", body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, want: Error{Class: ClassOverloaded}},
		{name: "router in a stream", body: `{"error":{"code":502,"message":"Upstream error"}}`, want: Error{Class: ClassServer, Status: 502}},
		{name: "rate in a stream", body: `{"error":{"type":"rate_limit_exceeded","message":"slow down"}}`, want: Error{Class: ClassRateLimit}},
		{name: "quoted", status: 400, body: `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 300000 tokens > 200000 maximum\"}}"}}}`, want: Error{Class: ClassContextOverflow, Window: 200000}},
		{name: "words of a tool in an error", status: 400, body: `{"error":{"message":"messages[3].content: the file says rate limits do not exist here"}}`, want: Error{Class: ClassFormat}},
		{name: "FastAPI", status: 422, body: `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`, want: Error{Class: ClassFormat}},
	} {
		h := http.Header{}
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			h.Set(name, value)
		}
		got := Classify(c.status, h, []byte(c.body), c.sent)
		if got.Class != c.want.Class || got.Window != c.want.Window || got.Available != c.want.Available || got.RetryAfter != c.want.RetryAfter {
			t.Errorf("%s: got %+v", c.name, got)
		}
		if c.want.Message != "" && got.Message != c.want.Message || c.want.Status != 0 && got.Status != c.want.Status {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

func TestToolIndex(t *testing.T) {
	t.Parallel()
	sent := Sent{Tools: []string{"read_file", "web", "patch", "todo"}}
	for body, want := range map[string]int{
		`{"error":{"message":"Invalid schema for function 'patch': array schema missing items","param":"tools[2].function.parameters"}}`:                                  2,
		`{"error":{"message":"Invalid schema for function 'web': bad"}}`:                                                                                                  1,
		`{"type":"error","error":{"type":"invalid_request_error","message":"tools.3.custom.input_schema: JSON schema is invalid"}}`:                                       3,
		`{"error":{"message":"* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[c].items: missing field.\n","status":"INVALID_ARGUMENT"}}`: 1,
		`{"error":{"message":"Invalid JSON payload received. Unknown name \"x\" at 'tools[0].function_declarations[2].parameters': Cannot find field.","code":400}}`:      2,
		`{"error":{"message":"tools[9].function is wrong"}}`:                                                                                                              -1,
		`{"error":{"message":"messages[2] is wrong"}}`:                                                                                                                    -1,
	} {
		if got := Classify(400, nil, []byte(body), sent); got.ToolIndex != want {
			t.Errorf("%s: got %d, want %d", body, got.ToolIndex, want)
		}
	}
}

func TestContextWindow(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]int{
		"claude-opus-4-6": 1_000_000, "anthropic/claude-sonnet-4.6": 1_000_000, "claude-sonnet-4-5-20250929": 200_000, "gpt-5.4-mini": 1_050_000, "openai/gpt-5": 400_000,
		"gpt-4.1-mini": 1_047_576, "gpt-4o": 128_000, "google/gemini-3-flash-preview": 1_048_576, "deepseek-chat": 1_000_000, "deepseek-v3": 128_000, "qwen3-coder:30b": 262_144,
		"llama3.3": 131_072, "glm-4.6": 202_752, "grok-4-fast": 2_000_000, "grok-4": 256_000, "kimi-k2": 262_144, "who-knows": 256_000, "": 256_000,
	} {
		if got := ContextWindow(model); got != want {
			t.Errorf("%s: %d, want %d", model, got, want)
		}
	}
	if MaxOutput("claude-3-5-sonnet") != 8192 || MaxOutput("who-knows") != 0 {
		t.Error("output limits")
	}
}
