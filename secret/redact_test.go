package secret

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestRedactByShape(t *testing.T) {
	t.Parallel()
	const key = "abcdefghijklmnopqrstuvwxyz0123456789"
	for _, tc := range []struct{ name, in, want string }{
		{"env assignment", "OPENAI_API_KEY=" + key, "OPENAI_API_KEY=***"},
		{"env password", "export DB_PASSWORD=hunter2", "export DB_PASSWORD=***"},
		{"env, letters", "PASSWORD=correcthorse", "PASSWORD=***"},
		{"env with odd characters", "SMTP_PASS=a&b,c", "SMTP_PASS=***"},
		{"env quoted", "TOKEN='abc def ghi jkl mno'", "TOKEN='***'"},
		{"env quoted token", `GITHUB_TOKEN="a1b2c3d4"`, `GITHUB_TOKEN="***"`},
		{"shell prefix", "TOKEN=a1b2c3d4e5 curl x", "TOKEN=*** curl x"},
		{"grep output", "config.yaml:12:  bot_token: a1b2c3d4e5f6", "config.yaml:12:  bot_token: ***"},
		{"yaml", "  api_key: a1b2c3d4e5", "  api_key: ***"},
		{"yaml password", "password: hunter2x", "password: ***"},
		{"json", `{"api_key": "a1b2c3d4e5", "n": 1}`, `{"api_key": "***", "n": 1}`},
		{"json camel", `{"accessToken":"a1b2c3d4e5"}`, `{"accessToken":"***"}`},
		{"json password", `{"password":"hunter2"}`, `{"password":"***"}`},
		{"json in json", `"{\"client_secret\":\"hunter2x\"}"`, `"{\"client_secret\":\"***\"}"`},
		{"json escaped quote", `{"password":"a\"bcdef"}`, `{"password":"***"}`},
		{"python", `api_key = "a1b2c3d4e5f6"`, `api_key = "***"`},
		{"header", "Authorization: Bearer " + key, "Authorization: Bearer abcdef...6789"},
		{"header basic", "authorization: Basic dXNlcjpwYXNz", "authorization: Basic ***"},
		{"header in json", `{"Authorization": "Bearer a1b2c3d4"}`, `{"Authorization": "Bearer ***"}`},
		{"header in curl", `curl -H "Authorization: token a1b2c3d4e5" x`, `curl -H "Authorization: token ***" x`},
		{"x-api-key", "x-api-key: a1b2c3d4e5f6", "x-api-key: ***"},
		{"bearer alone", "sent Bearer a1b2c3d4e5f6g7h8i9", "sent Bearer a1b2c3...h8i9"},
		{"openai", "key sk-proj-Abc123Def456Ghi789 used", "key sk-pro...i789 used"},
		{"short vendor", "sk-abc1234567", "***"},
		{"github", "ghp_" + key, "ghp_ab...6789"},
		{"github pat", "github_pat_11ABCDEFG0_" + key, "github...6789"},
		{"slack", "xoxb-123456789012-abcdefABCDEF", "xoxb-1...CDEF"},
		{"aws", "AKIAIOSFODNN7EXAMPLE", "AKIAIO...MPLE"},
		{"google", "AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIzaSy...stuv"},
		{"hugging face", "hf_abcdefghijklmnopqrstuvwxyz", "hf_abc...wxyz"},
		{"sendgrid", "SG.abcdefghij.klmnopqrstuvwxyz12", "SG.abc...yz12"},
		{"weak prefix, random", "fc-0123456789abcdef0123", "fc-012...0123"},
		{"after a JSON line end", `"a\nghp_` + key + `"`, `"a\nghp_ab...6789"`},
		{"telegram", "123456789:AAEabcdefghijklmnopqrstuvwxyz012345", "***"},
		{"telegram in an address", "https://api.telegram.org/bot123456789:AAEabcdefghijklmnopqrstuvwxyz012345/getMe", "https://api.telegram.org/bot***/getMe"},
		{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123", "eyJhbG...F123"},
		{"database", "postgres://app:s3cret@db:5432/x", "postgres://app:***@db:5432/x"},
		{"userinfo", "https://user:pw@host/p?q=1", "https://user:***@host/p?q=1"},
		{"userinfo token", "https://a1b2c3d4e5f6g7h8i9@github.com/o/r", "https://***@github.com/o/r"},
		{"after an apostrophe", "it's password: 'hunter2'", "it's password: '***'"},
		{"in a quoted argument", `curl -d '{"password": "hunter2"}' x`, `curl -d '{"password": "***"}' x`},
		{"lower-case ini", "password=hunter2", "password=***"},
		{"colon, letters and digits", "secret: a1b2c3", "secret: ***"},
		{"hash fragment", "https://x/cb#access_token=2YotnFZFEjr1z", "https://x/cb#access_token=***"},
		{"query", "https://x/y?api_key=a1b2c3d4&q=1", "https://x/y?api_key=***&q=1"},
		{"query signature", "https://x/y?q=1&X-Amz-Signature=0123abcdef#f", "https://x/y?q=1&X-Amz-Signature=***#f"},
		{"F-156 curl -u, key as user", "curl -u 'key_live_abcdefghijklmnop:' https://x.example", "curl -u '***:' https://x.example"},
		{"curl -u", "curl -s -u bob:hunter2 https://x", "curl -s -u bob:*** https://x"},
		{"curl --user", `curl --user "bob:hunter2" https://x`, `curl --user "bob:***" https://x`},
		{"curl -u glued", "curl -ubob:hunter2 https://x", "curl -ubob:*** https://x"},
		{"arguments as a list", `["curl","-u","bob:hunter2","https://x"]`, `["curl","-u","bob:***","https://x"]`},
		{"flag", "tool --api-key a1b2c3d4 --x", "tool --api-key *** --x"},
		{"flag =", "tool --password=hunter2 --x", "tool --password=*** --x"},
		{"pem", "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\nxyz\n-----END RSA PRIVATE KEY-----\nb", "a\n-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nb"},
		{"pem cut off", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nMIIEvQIBADANBgkqhkiG9w1\nThis is text.\n", "-----BEGIN PRIVATE KEY-----***This is text.\n"},
		{"colour inside", "ghp_abcdef\x1b[01;31mghijklmnopqr\x1b[0mstuvwxyz0123", "ghp_ab...0123"},
		{"zero width inside", "TOKEN=a1b2\u200bc3d4e5", "TOKEN=***"},
		{"two", "A_TOKEN=a1b2c3d4 B_SECRET=e5f6g7h8", "A_TOKEN=*** B_SECRET=***"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := NewRedactor() // it remembers
			got := r.Redact(tc.in)
			if got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.in, got, tc.want)
			}
			if again := r.Redact(got); again != got {
				t.Errorf("a second pass changes %s to %s", got, again)
			}
		})
	}
}

// Ordinary text must come out as it went in.
func TestRedactLeavesAlone(t *testing.T) {
	t.Parallel()
	r := NewRedactor()
	for _, in := range []string{
		"MAX_TOKENS=100000" /* F-155 */, "max_tokens: 4096", `{"max_tokens": 4096, "total_tokens": 123456789}`, "TOKEN_LIMIT=8000", "completion_tokens=512",
		"OPENAI_API_KEY=$OPENAI_API_KEY", "TOKEN=${TOKEN}", `api_key = os.environ["API_KEY"]`, "token = get_token(user)", "password = None",
		"api_key: str = None", "password: string", "token: self.token", "const token = response.data.token;", "key: value", "primary_key=id", "KEY=VALUE",
		"sk-learn-contrib", "scikit-learn", "npm_config_registry", "hf_hub_download", "fc-cache-list", "am_transaction_id", "sk_buff_head", "exa_search_results", "r8_unaligned_load_word",
		"Put your key in ~/.hermes/.env", `curl -H "Authorization: Bearer $API_KEY" https://api.example.com/v1`, "Authorization: Bearer <token>", "the bearer of this letter",
		"git push -u origin main", "docker run -u 1000:1000 img", "python -u a.py:b", "sort -u a:b", "https://example.com/a:b@c", "see http://host:8080/x", "mailto:bob@example.com",
		"https://user@example.com/x", "10:30:45.123 INFO token refreshed", "TOKEN_URL=https://auth.example.com/token", "SECRET_NAME=my-secret", "KEY_FILE=/etc/x/key.pem",
		"ACCESS_TOKEN_EXPIRES=3600", "token_type: bearer", `{"type": "string", "token": {"type": "string"}}`, `"token": "string"`, "SSH_AUTH_SOCK=/tmp/ssh-abc/agent.1",
		"PWD=/home/user/project1", "-----BEGIN PRIVATE KEY----- marks the start", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", "eyJ.short", "version 1.2.eyJ",
		"123456789:short", "C++ std::token::value1234", "if token == 'abc': pass", "tokenizer = AutoTokenizer.from_pretrained('x')", "secret santa: bring a present",
		"the password is case sensitive", "Password: ", "password=", "passwords=3", "monkey=12345678", "hotkey=ctrl+b12", "keyboard: qwertz123", `"key": "a1b2c3d4"`,
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "commit 0123456789abcdef0123456789abcdef01234567", "uuid 550e8400-e29b-41d4-a716-446655440000",
		"中文 token 说明", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA", "x[token]=1", "--token-limit 5000", "--password", "--auth none", "author: jane2doe", "AUTHOR=jane2doe",
		"cmd.Env = append(env, \"PWD=\"+dir)", "x = \"TOKEN=\" + value1234", "--- PASS: TestTypeCheck2/GOROOT (2.12s)", "type Vec0Token = TVec0Token", "FTS5_TOKEN_COLOCATED = 0x0001", "private_key: ed25519.Ed25519PrivateKey,",
		"    key_password=None,", "    client_secret=self.consumer.secret,", "    key_password=certs[0][2],", "    password=password,", "    access_token=request.owner_key1)", "# Keep Authorization: headers on a redirect.",
		"Authorization: OAuth realm=\"Example\",", "def f(token_url, authorization_response=None, x=1)", "the --username and --password options can", "[\"--password\", password]", "MyPrivateKey = EllipticCurvePrivateKey",
		"authorization = req.headers.authorization;", "authorization = base64.decodebytes(x2)", "refuse(\"no password: \"+err.Error())", "getpass(prompt='Password: ', stream=None)", "SERVER_AUTH = '1.3.6.1.5.5.7.3.1'",
		"secretValues: recordingSecrets,", "Token: \"#f8f8f2\",", "[\"USER=go\", \"PWD=/tmp\"]", "proxy_password=self._options[\"password\"],",
		"a\x1b[31mred\x1b[0m text", "foo\u200bbar", "",
	} {
		if got := r.Redact(in); got != in {
			t.Errorf("changed\n%s\n%s", in, got)
		}
	}
}

func TestRedactKnownValues(t *testing.T) {
	t.Parallel()
	const value = `p4ss/w+rd&"x`
	s := opened(t, "MY_PASSWORD='"+value+"'\nSHORT_TOKEN=abc1234\nPLAIN=visible-text\nMAX_TOKENS=100000000\nDECLARED=declared-value\nTERMINAL_SSH_KEY=/etc/passwd\n", "PROC_TOKEN=from-process")
	s.Declare(Var{Name: "DECLARED", Secret: true})
	r := s.Redactor()
	for name, in := range map[string]string{
		"as it stands": "x" + value + "y", "query escaped": url.QueryEscape(value), "path escaped": url.PathEscape(value),
		"lower hex escaped": strings.ToLower(url.QueryEscape(value)), "json": fmt.Sprintf("%q", value), "hex": fmt.Sprintf("%x", value),
		"declared": "declared-value", "process": "from-process", "split by zero width": "p4ss\u200b/w+rd&\"x", "coloured": "from-\x1b[1mprocess",
	} {
		if got := r.Redact(in); !strings.Contains(got, "***") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for shift := range 5 {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			in := enc.EncodeToString([]byte(strings.Repeat("u", shift) + value + "tail"))
			if got := r.Redact(in); !strings.Contains(got, "***") {
				t.Errorf("base64 after %d bytes: %s", shift, got)
			}
		}
	}
	for _, in := range []string{"visible-text", "abc1234", "100000000", "/etc/passwd"} {
		if got := r.Redact("x " + in); got != "x "+in {
			t.Errorf("%s became %s", in, got)
		}
	}
	if got := r.Redact("learned-later"); got != "learned-later" {
		t.Error(got)
	}
	s.Learn("config", "learned-later")
	if _, err := s.Set("NEW_KEY", "set-just-now"); err != nil {
		t.Fatal(err)
	}
	if got := r.Redact("learned-later set-just-now"); got != "*** ***" {
		t.Error(got)
	}
	if b := []byte("clean"); &r.RedactBytes(b)[0] != &b[0] {
		t.Error("clean bytes were copied")
	}
}

func TestLogHandler(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	log := slog.New(NewLogHandler(slog.NewJSONHandler(&buf, nil), NewRedactor("s3cretvalue")))
	type rec struct{ A, B string }
	log.With("w", "s3cretvalue").WithGroup("g").Info("has s3cretvalue", "err", fmt.Errorf("x: %w", errors.New("s3cretvalue")), "api_key", "anything",
		"any", rec{"s3cretvalue", "b"}, "bytes", []byte("s3cretvalue"), "ok", rec{"a", "b"}, "n", 3, slog.Group("h", "x", "s3cretvalue"), "map", map[string]string{"k": "s3cretvalue"})
	out := buf.String()
	if strings.Contains(out, "s3cret") || strings.Contains(out, "anything") || strings.Contains(out, base64.StdEncoding.EncodeToString([]byte("s3cretvalue"))) {
		t.Error(out)
	}
	if !strings.Contains(out, `"ok":{"A":"a","B":"b"}`) || !strings.Contains(out, `"n":3`) {
		t.Error(out)
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "***", "elevenchars": "***", "twelve-chars": "twel...hars"} {
		if got := Mask(in); got != want {
			t.Errorf("Mask(%q) = %q", in, got)
		}
	}
}

// FuzzRedact: nothing panics and no known value survives, wherever it stands.
func FuzzRedact(f *testing.F) {
	f.Add("A=", "supersecret", "\n")
	f.Add("\x1b[31m", "s3cr\u200bet-value", "://@:=-----BEGIN PRIVATE KEY-----")
	f.Add("Authorization: Basic ", "***secret***", "eyJ.eyJ")
	f.Fuzz(func(t *testing.T, before, value, after string) {
		if len(value) < minSecret || len(value) > 200 || len(before)+len(after) > 2000 {
			return
		}
		r := NewRedactor(value)
		got := r.Redact(before + value + after)
		if strings.Contains(got, value) {
			t.Fatalf("%q survives in %q", value, got)
		}
		r.Redact(before + base64.StdEncoding.EncodeToString([]byte(value)) + after)
	})
}

func TestRedactRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, uint64(*rounds)))
	pieces := []string{"TOKEN=", "\"api_key\": \"", "://u:", "@h", "-u ", "curl ", "Bearer ", "-----BEGIN PRIVATE KEY-----", "\n", "\\", "\"", "'", "=", ":", "sk-", "eyJ.eyJ", "\x1b[", "\u200b", "***", "..."}
	for range 3000 * *rounds {
		var b strings.Builder
		value := randomValue(r) + "12345678"
		for range r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		b.WriteString(value)
		for range r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if got := NewRedactor(value, "other-secret").Redact(b.String()); strings.Contains(got, value) {
			t.Fatalf("%q survives in %q", value, got)
		}
	}
}

// Hostile text must not take for ever.
func TestRedactIsLinear(t *testing.T) {
	t.Parallel()
	r := NewRedactor("some-secret-value", "aaaaaaaaaaaaaaaaaaaaaaaa")
	for _, piece := range []string{
		"token=", "\\\"token\\\":\\\"", "token:'", "-----BEGIN PRIVATE KEY-----", "Authorization: ", "a.eyJ", "sk-", "\nsk-", "a://a:", "12345678:", "-u '", "curl -u a:", "--token ",
		"\x1b]", "\x1b[", "\u200b", "Bearer ", "aaaaaaaa", "*", "AKIA", "eyJ", "password=\"", "x=", "?key=",
	} {
		start := time.Now()
		r.Redact(strings.Repeat(piece, 300_000/len(piece)))
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%q takes %v", piece, d)
		}
	}
}

func TestChildEnv(t *testing.T) {
	t.Parallel()
	s := opened(t, "")
	s.Declare(Var{Name: "WEATHER_KEY", Category: Tool, Secret: true}, Var{Name: "WEATHER_URL", Category: Tool}, Var{Name: "SKILL_KEY", Category: Skill, Secret: true}, Var{Name: "SOME_SETTING", Category: Setting})
	in := []string{
		"PATH=/bin", "OPENAI_API_KEY=x", "GITHUB_TOKEN=x", "WEATHER_KEY=x", "WEATHER_URL=x", "SKILL_KEY=x", "SOME_SETTING=x", "MY_TOKEN=x", "TELEGRAM_HOME_CHANNEL=x",
		"ANTHROPIC_BASE_URL=x", "SUDO_PASSWORD=x", "HASS_URL=x", "LLM_MODEL=x", "_HERMES_FORCE_GROQ_API_KEY=y", "AWS_PROFILE=p", "HERMES_HOME=/h", "SLACK_ALLOWED_USERS=x",
	}
	env, refused := s.ChildEnv(in, []string{"SKILL_KEY", "OPENAI_API_KEY", "WEATHER_KEY", "OTHER"})
	if got := strings.Join(env, " "); got != "PATH=/bin SKILL_KEY=x SOME_SETTING=x MY_TOKEN=x AWS_PROFILE=p HERMES_HOME=/h GROQ_API_KEY=y" {
		t.Error(got)
	}
	if got := strings.Join(refused, " "); got != "OPENAI_API_KEY WEATHER_KEY" {
		t.Error(got)
	}
	env, _ = s.ScriptEnv(in, []string{"SKILL_KEY"})
	if got := strings.Join(env, " "); got != "PATH=/bin SKILL_KEY=x" {
		t.Error(got)
	}
}

func BenchmarkRedact(b *testing.B) {
	var values []string
	r := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		v := make([]byte, 40)
		for i := range v {
			v[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[r.IntN(62)]
		}
		values = append(values, string(v))
	}
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog; it was 10:30 and key ideas, well-known ones, were good. ", 10_000)
	code := strings.Repeat("	if err := s.update(ctx, req_id, &cfg.Options{Name: \"foo_bar\", Size: 10}); err != nil { return fmt.Errorf(\"x: %w\", err) }\n	token := next(); key = val\n", 7_000)
	logs := strings.Repeat("2026-05-01 12:34:56,789 INFO [session_1a2b] agent.loop: API call model=x/y provider=openrouter in=1234 out=56 total_tokens=1290 url=https://api.example.com/v1/chat\n", 6_000)
	red := NewRedactor(values...)
	for name, text := range map[string]string{"prose": prose, "code": code, "logs": logs} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if red.Redact(text) != text {
					b.Fatal("not clean")
				}
			}
		})
	}
	b.Run("short", func(b *testing.B) {
		for b.Loop() {
			io.WriteString(io.Discard, red.Redact("tool finished in 12 ms"))
		}
	})
}
