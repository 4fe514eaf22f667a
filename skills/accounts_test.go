package skills

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func certificatePEM(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

const pageID = "0123456789abcdef0123456789abcdef"

func TestNotion(t *testing.T) {
	t.Parallel()
	const script = "productivity/notion/scripts/notion.py"
	text := func(s string) string {
		return `[{"plain_text": "` + s + `", "annotations": {"bold": true}, "href": null}]`
	}
	s := serve(t, map[string]string{
		"POST /v1/search":                                             `{"results": [{"object": "page", "id": "` + pageID + `", "url": "https://n/p", "last_edited_time": "2025-01-01", "properties": {"Name": {"type": "title", "title": ` + text("Road map") + `}}}], "has_more": false}`,
		"GET /v1/pages/" + pageID:                                     `{"id": "` + pageID + `", "url": "https://n/p", "properties": {"Name": {"type": "title", "title": ` + text("Road map") + `}, "Status": {"type": "status", "status": {"name": "Open"}}, "Done": {"type": "checkbox", "checkbox": false}}}`,
		"GET /v1/blocks/" + pageID + "/children":                      `{"results": [{"id": "b1", "type": "heading_1", "heading_1": {"rich_text": ` + text("Head") + `}}, {"id": "b2", "type": "to_do", "to_do": {"checked": true, "rich_text": ` + text("did it") + `}, "has_children": true}, {"id": "b3", "type": "image", "image": {}}], "has_more": false}`,
		"GET /v1/blocks/b2/children":                                  `{"results": [{"id": "b4", "type": "paragraph", "paragraph": {"rich_text": ` + text("inside") + `}}]}`,
		"GET /v1/databases/" + pageID:                                 `{"data_sources": [{"id": "ds1", "name": "Tasks"}]}`,
		"GET /v1/data_sources/ds1":                                    `{"properties": {"Status": {"type": "select", "select": {"options": [{"name": "Open"}, {"name": "Shut"}]}}}}`,
		"GET /v1/data_sources/" + pageID:                              `{"properties": {"Task": {"type": "title", "title": {}}}}`,
		"POST /v1/data_sources/" + pageID + "/query":                  `{"results": [{"id": "r1", "properties": {"Name": {"type": "title", "title": ` + text("Row") + `}, "N": {"type": "number", "number": 7}}}], "has_more": false}`,
		"POST /v1/pages":                                              `{"id": "` + pageID + `", "url": "https://n/new"}`,
		"PATCH /v1/blocks/" + pageID + "/children":                    `{"results": [{}, {}, {}]}`,
		"PATCH /v1/pages/" + pageID:                                   `{"url": "https://n/p"}`,
		"POST /v1/data_sources/" + strings.Repeat("e", 32) + "/query": `400 {"message": "no such property"}`,
	})
	env := []string{"NOTION_API_KEY=ntn_secret"}
	ok := func(stdin string, args []string, want ...string) {
		t.Helper()
		checkIn(t, env, 0, stdin, script, append(args, "--api", s.URL), want...)
	}
	ok("", []string{"search", "road"}, "page  "+pageID, "Road map", "https://n/p")
	if got := s.last(t, "POST", "/v1/search"); got.Header.Get("Authorization") != "Bearer ntn_secret" || got.Header.Get("Notion-Version") != "2025-09-03" {
		t.Errorf("headers %v", got.Header)
	}
	ok("", []string{"page", "https://www.notion.so/Road-map-" + pageID + "?pvs=4"}, "# Road map", "Status: Open", "# **Head**", "- [x] **did it**\n  **inside**\n[image]")
	ok("", []string{"db", pageID}, "source ds1  Tasks\n  Status: select (Open, Shut)")
	ok("", []string{"query", pageID, "--filter", `{"property": "N"}`}, "r1  Row\n  N: 7\n1 rows")
	if got := s.last(t, "POST", "/v1/data_sources/"+pageID+"/query"); !strings.Contains(got.body, `"filter": {"property": "N"}`) {
		t.Errorf("asked %s", got.body)
	}
	ok("# Head\n\nA **bold** [link](https://x.example) and\nmore.\n- [ ] task\n", []string{"create", "--source", pageID, "--title", "T"}, "https://n/new", "3 blocks")
	if got := s.last(t, "POST", "/v1/pages"); !strings.Contains(got.body, `"data_source_id": "`+pageID) || !strings.Contains(got.body, `"Task": {"title"`) {
		t.Errorf("made %s", got.body)
	}
	var sent struct {
		Children []struct {
			Type      string
			Paragraph struct {
				RichText []struct {
					Text struct {
						Content string
						Link    struct{ URL string }
					}
					Annotations struct{ Bold bool }
				} `json:"rich_text"`
			}
		}
	}
	if err := json.Unmarshal([]byte(s.last(t, "PATCH", "/v1/blocks/"+pageID+"/children").body), &sent); err != nil {
		t.Fatal(err)
	}
	if len(sent.Children) != 3 || sent.Children[0].Type != "heading_1" || sent.Children[2].Type != "to_do" {
		t.Fatalf("sent %+v", sent)
	}
	p := sent.Children[1].Paragraph.RichText
	if len(p) != 5 || p[1].Text.Content != "bold" || !p[1].Annotations.Bold || p[3].Text.Link.URL != "https://x.example" || p[4].Text.Content != " and more." {
		t.Errorf("paragraph %+v", p)
	}
	ok("", []string{"set", pageID, `{"Done": {"checkbox": true}}`}, "https://n/p")

	bad := func(env []string, code int, stdin string, args []string, want ...string) {
		t.Helper()
		if out := checkIn(t, env, code, stdin, script, args, want...); strings.Contains(out, "ntn_secret") {
			t.Error("the key is printed")
		}
	}
	bad(env, 1, "one line", []string{"append", pageID, "--api", s.URL}, "1 blocks were sent, Notion reports 3")
	bad(env, 1, "", []string{"query", strings.Repeat("e", 32), "--api", s.URL}, "Notion answers 400: no such property")
	bad(env, 1, "", []string{"page", strings.Repeat("f", 32), "--api", s.URL}, "Notion answers 404", "is it connected")
	bad(env, 1, "", []string{"page", "nothing", "--api", s.URL}, "nothing holds no Notion id")
	bad(env, 1, "", []string{"query", pageID, "--filter", "{", "--api", s.URL}, "--filter is no JSON")
	bad(nil, 3, "", []string{"search", "x", "--api", s.URL}, "NOTION_API_KEY is not set")
	bad(env, 1, "", []string{"search", "x", "--api", "https://elsewhere.example"}, "for tests on this machine only")
	bad(env, 1, "", []string{"search", "x", "--api", closed(t)}, "refused")
	refusing := serve(t, map[string]string{"POST /v1/search": `401 {"message": "API token is invalid."}`})
	bad(env, 3, "", []string{"search", "x", "--api", refusing.URL}, "refuses NOTION_API_KEY: API token is invalid.")
}

func TestLinear(t *testing.T) {
	t.Parallel()
	const script = "productivity/linear/scripts/linear.py"
	const issue = `{"id": "u1", "identifier": "ENG-1", "title": "Login loops", "url": "https://l/ENG-1", "priorityLabel": "High", "updatedAt": "x", "createdAt": "2025-01-01", "description": "It loops.",
		"state": {"name": "Todo", "type": "unstarted"}, "assignee": null, "team": {"key": "ENG"}, "labels": {"nodes": []}, "creator": {"displayName": "ada"},
		"comments": {"nodes": [{"body": "Me too", "createdAt": "2025-01-02", "user": null}], "pageInfo": {"hasNextPage": false}}}`
	const team = `{"id": "t1", "key": "ENG", "name": "Engineering", "states": {"nodes": [{"id": "s1", "name": "Todo", "type": "unstarted"}, {"id": "s2", "name": "Done", "type": "completed"}]}}`
	// one answer holds what every query here asks for
	s := serve(t, map[string]string{"POST /graphql": `{"data": {"viewer": {"id": "me1", "name": "Ada", "email": "a@x", "organization": {"name": "Org"}}, "teams": {"nodes": [` + team + `]},
		"issues": {"nodes": [` + issue + `], "pageInfo": {"hasNextPage": true}}, "searchIssues": {"nodes": [], "pageInfo": {"hasNextPage": false}}, "issue": ` + issue + `,
		"issueCreate": {"success": true, "issue": ` + issue + `}, "issueUpdate": {"success": true, "issue": ` + issue + `}, "commentCreate": {"success": false, "comment": null}}}`})
	env := []string{"LINEAR_API_KEY=lin_api_secret"}
	do := func(code int, stdin string, args []string, want ...string) map[string]any {
		t.Helper()
		checkIn(t, env, code, stdin, script, append(args, "--api", s.URL), want...)
		var sent struct{ Variables map[string]any }
		got := s.last(t, "POST", "/graphql")
		if got.Header.Get("Authorization") != "lin_api_secret" {
			t.Errorf("headers %v", got.Header)
		}
		if err := json.Unmarshal([]byte(got.body), &sent); err != nil {
			t.Fatal(err)
		}
		return sent.Variables
	}
	do(0, "", []string{"me"}, "Ada <a@x>, Org")
	do(0, "", []string{"teams"}, "ENG  Engineering\n  Todo, Done")
	v := do(0, "", []string{"issues", "--mine", "--team", "eng"}, "ENG-1  [Todo, High] Login loops\n  nobody  https://l/ENG-1", "(there are more; see --max)")
	if f, err := json.Marshal(v["f"]); err != nil || string(f) != `{"assignee":{"isMe":{"eq":true}},"state":{"type":{"nin":["completed","canceled"]}},"team":{"key":{"eqIgnoreCase":"eng"}}}` {
		t.Errorf("filter %s, %v", f, err)
	}
	do(0, "", []string{"search", "x"}, "nothing found")
	do(0, "", []string{"issue", "ENG-1"}, "It loops.", "?, 2025-01-02:\nMe too")
	v = do(0, "Body\n", []string{"create", "--team", "ENG", "--title", "T", "--priority", "2", "--assignee", "me", "--state", "done"}, "ENG-1")
	if i, err := json.Marshal(v["i"]); err != nil || string(i) != `{"assigneeId":"me1","description":"Body","priority":2,"stateId":"s2","teamId":"t1","title":"T"}` {
		t.Errorf("made %s, %v", i, err)
	}
	do(0, "", []string{"update", "ENG-1", "--assignee", "none"}, "ENG-1")
	do(1, "", []string{"update", "ENG-1", "--state", "Gone"}, "there is no state Gone in ENG; there are: Todo, Done")
	do(1, "", []string{"update", "ENG-1"}, "nothing to change")
	do(1, "text", []string{"comment", "ENG-1"}, "did not take the comment")
	checkIn(t, nil, 3, "", script, []string{"me", "--api", s.URL}, "LINEAR_API_KEY is not set")
	checkIn(t, env, 1, "", script, []string{"me", "--api", "https://elsewhere.example"}, "for tests on this machine only")
	for status, code := range map[string]int{"401": 3, "400": 1} {
		refusing := serve(t, map[string]string{"POST /graphql": status + ` {"errors": [{"message": "Bad thing"}]}`})
		checkIn(t, env, code, "", script, []string{"me", "--api", refusing.URL}, "Bad thing")
	}
	down := serve(t, map[string]string{"POST /graphql": "502 <html>"})
	checkIn(t, env, 1, "", script, []string{"me", "--api", down.URL}, "Linear answers 502")
}

func TestGoogleWorkspace(t *testing.T) {
	t.Parallel()
	const script = "productivity/google-workspace/scripts/google_api.py"
	b64 := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	const mail = "/gmail/v1/users/me"
	s := serve(t, map[string]string{
		"POST /token":                                `{"access_token": "ya29.fresh", "refresh_token": "1//refresh", "expires_in": 3599, "scope": "https://www.googleapis.com/auth/gmail.readonly https://www.googleapis.com/auth/gmail.compose"}`,
		"GET " + mail + "/profile":                   `{"emailAddress": "ada@example.com"}`,
		"GET " + mail + "/messages":                  `{"messages": [{"id": "m1"}]}`,
		"GET " + mail + "/messages/m1":               `{"id": "m1", "threadId": "t1", "snippet": "Hi &amp; bye", "payload": {"mimeType": "multipart/mixed", "headers": [{"name": "From", "value": "Bob <b@x>"}, {"name": "Subject", "value": "Plan"}, {"name": "Date", "value": "Mon"}], "parts": [{"mimeType": "text/html", "body": {"data": "` + b64("<p>html</p>") + `"}}, {"mimeType": "text/plain", "body": {"data": "` + b64("Grüße") + `"}}, {"filename": "a.pdf", "body": {}}]}}`,
		"POST " + mail + "/drafts":                   `{"id": "d1"}`,
		"GET /calendar/v3/calendars/primary/events":  `{"items": [{"id": "e1", "summary": "Tea", "start": {"dateTime": "2025-06-01T10:00:00+02:00"}, "end": {"dateTime": "2025-06-01T11:00:00+02:00"}, "location": "Here"}]}`,
		"POST /calendar/v3/calendars/primary/events": `{"id": "e2", "htmlLink": "https://c/e2"}`,
		"GET /drive/v3/files":                        `{"files": [{"id": "f1", "name": "Budget", "mimeType": "application/vnd.google-apps.spreadsheet"}]}`,
		"GET /drive/v3/files/f1":                     `{"name": "Budget", "mimeType": "application/vnd.google-apps.spreadsheet"}`,
		"GET /drive/v3/files/f1/export":              "a,b\n1,2\n",
		"GET /v4/spreadsheets/s1/values/A1:B2":       `{"values": [["x", "y z"], ["1", "a,b"]]}`,
		"POST /v4/spreadsheets/s1/values/A1:append":  `{"updates": {"updatedRange": "A3:B3", "updatedRows": 1}}`,
	})
	home := t.TempDir()
	env := []string{"HERMES_HOME=" + home, "GOOGLE_WORKSPACE_ACCOUNT=ada@example.com"}
	do := func(code int, stdin string, args []string, want ...string) string {
		t.Helper()
		out := checkIn(t, env, code, stdin, script, append(args, "--api", s.URL), want...)
		for _, secret := range []string{"GOCSPX", "ya29", "1//refresh"} {
			if strings.Contains(out, secret) {
				t.Errorf("%v prints the secret %s", args, secret)
			}
		}
		return out
	}
	do(3, "", []string{"check"}, "google_token.json is missing")
	do(3, "", []string{"auth-url"}, "google_client_secret.json is missing: see references/setup.md")
	if err := os.WriteFile(filepath.Join(home, "google_client_secret.json"), []byte(`{"installed": {"client_id": "id.apps", "client_secret": "GOCSPX-x"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	do(1, "", []string{"auth-url", "--services", "gmail,fax"}, "unknown service fax")
	url := do(0, "", []string{"auth-url", "--services", "gmail"}, "https://accounts.google.com/o/oauth2/v2/auth?client_id=id.apps", "code_challenge_method=S256", "login_hint=ada%40example.com")
	_, state, _ := strings.Cut(url, "state=")
	state, _, _ = strings.Cut(state, "&")
	do(1, "http://localhost:1/?state=other&code=c\n", []string{"auth-finish"}, "belongs to another login")
	do(1, "http://localhost:1/?error=access_denied\n", []string{"auth-finish"}, "Google refused: access_denied")
	do(0, "http://localhost:1/?state="+state+"&code=4/abc\n", []string{"auth-finish"}, "logged in")
	if got := s.last(t, "POST", "/token").body; !strings.Contains(got, "code=4%2Fabc") || !strings.Contains(got, "code_verifier=") {
		t.Errorf("asked for a token with %s", got)
	}
	token := filepath.Join(home, "google_token.json")
	if info, err := os.Stat(token); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", info, err)
	}
	do(0, "", []string{"check"}, "the login works, for: gmail\naccount: ada@example.com\n")
	do(0, "", []string{"gmail", "search", "from:bob"}, "m1  Mon\n  Bob <b@x>\n  Plan\n  Hi & bye\n")
	if got := s.last(t, "GET", mail+"/profile").Header.Get("Authorization"); got != "Bearer ya29.fresh" {
		t.Errorf("authorized by %q", got)
	}
	do(0, "", []string{"gmail", "read", "m1"}, "Subject: Plan", "Attached: a.pdf", "\nGrüße\n")
	letter := filepath.Join(home, "l.txt")
	if err := os.WriteFile(letter, []byte("Hällo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	do(0, "", []string{"gmail", "draft", "--to", "b@x", "--subject", "Größe", "--body-file", letter}, "draft d1")
	var draft struct{ Message struct{ Raw string } }
	if err := json.Unmarshal([]byte(s.last(t, "POST", mail+"/drafts").body), &draft); err != nil {
		t.Fatal(err)
	}
	if raw, err := base64.URLEncoding.DecodeString(draft.Message.Raw); err != nil || !strings.Contains(string(raw), "To: b@x\n") || !strings.Contains(string(raw), "=?utf-8?") {
		t.Errorf("drafted %q, %v", raw, err)
	}
	do(1, "", []string{"gmail", "draft", "--to", "b@x\nBcc: c@x", "--subject", "S", "--body-file", letter}, "google_api: ")
	do(0, "", []string{"calendar", "list"}, "2025-06-01T10:00:00+02:00 - 2025-06-01T11:00:00+02:00  Tea, Here")
	do(0, "", []string{"calendar", "add", "--title", "T", "--start", "2025-06-01", "--end", "2025-06-02"}, "added e2")
	do(1, "", []string{"calendar", "add", "--title", "T", "--start", "2025-06-01T10:00", "--end", "2025-06-02"}, "a time with its zone")
	do(0, "", []string{"drive", "search", "o'clock"}, "f1", "Budget")
	if got := s.last(t, "GET", "/drive/v3/files").URL.Query().Get("q"); got != `fullText contains 'o\'clock' and trashed = false` {
		t.Errorf("searched for %s", got)
	}
	file := filepath.Join(home, "out.csv")
	do(0, "", []string{"drive", "get", "f1", "--out", file}, "out.csv: Budget, 8 bytes")
	do(1, "", []string{"drive", "get", "f1", "--out", file}, "is there already")
	do(0, "", []string{"sheets", "read", "s1", "A1:B2"}, "x,y z\n1,\"a,b\"\n")
	do(0, "p,q\n", []string{"sheets", "append", "s1", "A1"}, "1 rows in A3:B3")
	do(1, "p,q\nr,s\n", []string{"sheets", "append", "s1", "A1"}, "2 rows were given, Google reports 1")
	do(1, "", []string{"gmail", "read", "gone"}, "Google answers 404")

	// An old token is renewed once and kept; one that was taken back asks for a login.
	if err := os.WriteFile(token, []byte(`{"token": "old", "refresh_token": "1//refresh", "client_id": "id.apps", "client_secret": "GOCSPX-x", "scopes": [], "expiry": "2020-01-01T00:00:00.123456Z"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	do(0, "", []string{"calendar", "list"}, "Tea")
	if data, err := os.ReadFile(token); err != nil || !strings.Contains(string(data), "ya29.fresh") || !strings.Contains(string(data), "1//refresh") {
		t.Errorf("the token was not kept: %v", err)
	}
	ended := serve(t, map[string]string{"POST /token": `400 {"error": "invalid_grant", "error_description": "Token has been expired or revoked."}`})
	if err := os.WriteFile(token, []byte(`{"refresh_token": "1//refresh"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	checkIn(t, env, 3, "", script, []string{"check", "--api", ended.URL}, "the login has ended")
	checkIn(t, env, 1, "", script, []string{"check", "--api", "https://elsewhere.example"}, "for tests on this machine only")
}
