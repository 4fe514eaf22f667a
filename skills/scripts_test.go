package skills

import (
	"database/sql"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// check runs a script and looks for texts in all that it printed.
func check(t *testing.T, code int, stdin, script string, args []string, want ...string) string {
	t.Helper()
	return checkIn(t, nil, code, stdin, script, args, want...)
}

func checkIn(t *testing.T, env []string, code int, stdin, script string, args []string, want ...string) string {
	t.Helper()
	stdout, stderr, got := runIn(t, env, stdin, script, args...)
	if got != code {
		t.Errorf("%s %v: exit %d, want %d: %s%s", script, args, got, code, stdout, stderr)
	}
	if strings.Contains(stderr, "Traceback") {
		t.Errorf("%s %v breaks down: %s", script, args, stderr)
	}
	for _, w := range want {
		if !strings.Contains(stdout+stderr, w) {
			t.Errorf("%s %v: no %q in %s%s", script, args, w, stdout, stderr)
		}
	}
	return stdout
}

// TestFileScripts runs the scripts that read files, on files that other
// programs wrote, and on what is none of theirs.
func TestFileScripts(t *testing.T) {
	t.Parallel()
	const (
		profile = "data-science/data-analysis/scripts/profile.py"
		xlsx    = "documents/spreadsheets/scripts/xlsx.py"
		extract = "productivity/ocr-and-documents/scripts/extract_text.py"
		subs    = "media/youtube-content/scripts/transcript.py"
		image   = "media/images/scripts/imginfo.py"
		feeds   = "research/blogwatcher/scripts/feeds.py"
	)
	for _, tt := range []struct {
		name, script, stdin string
		args                []string
		code                int
		want                []string
	}{
		{"profile of a CSV", profile, "", []string{"testdata/table.csv"}, 0, []string{
			"4 rows, 5 columns", "note: 1 rows repeat an earlier one", "id: integer; 3 distinct; 1 to 3", "amount: number; 2 empty; 2 distinct; 2.5 to 10, mean 6.25, median 6.25, sum 12.5",
			"day: date; 3 distinct; 2025-01-31 to 2025-02-03", "code: text; 3 distinct", "read as empty: NA",
		}},
		{"profile of JSON lines", profile, "", []string{"testdata/table.jsonl", "--json"}, 0, []string{`"rows": 2`, `"name": "c"`}},
		{"profile of semicolons", profile, "a;b\n1;2\n3\n", []string{"-"}, 0, []string{"columns are separated by semicolons", "line 3 has 1 fields, the first has 2", "b: integer; 1 empty"}},
		{"profile of broken JSON", profile, "{\"a\":1}\n{oops}\n", []string{"-", "--format", "jsonl"}, 1, []string{"profile: -: line 2: "}},
		{"profile of a workbook", profile, "", []string{"testdata/book.xlsx"}, 1, []string{"use the skill spreadsheets"}},
		{"profile of nothing", profile, "", []string{"-"}, 1, []string{"the file is empty"}},

		{"sheets", xlsx, "", []string{"sheets", "testdata/book.xlsx"}, 0, []string{"Orders: 6 rows, 6 columns, 1 formulas without a value", "Hidden: 2 rows, 2 columns (hidden)"}},
		{"values", xlsx, "", []string{"read", "testdata/book.xlsx"}, 0, []string{
			"1,Müller & Söhne,2025-01-31,12.5,TRUE,2025-01-31 13:30:00\n", "007,\"O'Hara, Ltd\",2025-02-01,1000000,FALSE,\n", "after a gap,,,,,\n", "1 formulas have no value in the file",
		}},
		{"formulas", xlsx, "", []string{"read", "testdata/book.xlsx", "--formulas"}, 0, []string{",=SUM(D2:D3),"}},
		{"no such sheet", xlsx, "", []string{"read", "testdata/book.xlsx", "--sheet", "X"}, 1, []string{"there is no sheet X; there are: Orders, Hidden"}},
		{"no workbook", xlsx, "", []string{"read", "testdata/minutes.docx"}, 1, []string{"it is no .xlsx workbook"}},
		{"no zip", xlsx, "", []string{"read", "testdata/table.csv"}, 1, []string{"xlsx: testdata/table.csv: File is not a zip file"}},

		{"docx", extract, "", []string{"testdata/minutes.docx"}, 0, []string{"# Minutes\n", "Ada spoke first.\nThen Grace.", "## Decisions", "What | Who\nShip | Grace", "Two runs make one line."}},
		{"pptx", extract, "", []string{"testdata/slides.pptx"}, 0, []string{"# Slide 1", "First point\nSecond point", "Notes: Say hello.", "# Slide 2"}},
		{"odt", extract, "", []string{"testdata/brief.odt"}, 0, []string{"# Brief", "Ein Absatz mit ß."}},
		{"rtf", extract, "", []string{"testdata/note.rtf"}, 0, []string{"Café —dash\nSecond bold line."}},
		{"mail", extract, "", []string{"testdata/mail.eml"}, 0, []string{"Subject: Grüße", "Hello there.", "[attached: a.pdf, application/pdf]"}},
		{"html", extract, "", []string{"testdata/page.html"}, 0, []string{"## Head\n", "One two\n", "- a\n", "x | y\n"}},
		{"several, one is none", extract, "", []string{"testdata/brief.odt", "testdata/photo.jpg"}, 1, []string{"==> testdata/brief.odt <==", "photo.jpg: no document of a kind that is known"}},
		{"a workbook is for another skill", extract, "", []string{"testdata/book.xlsx"}, 1, []string{"use the skill spreadsheets"}},

		{"scrolling captions", subs, "", []string{"testdata/auto.vtt"}, 0, []string{"[00:00] hello and welcome to this & that\n\n[1:01:05] an hour later\n"}},
		{"SubRip", subs, "", []string{"testdata/film.srt", "--no-times", "--every", "100"}, 0, []string{"First line second line Far away\n"}},
		{"no captions", subs, "", []string{"testdata/table.csv"}, 1, []string{"there are no subtitles in testdata/table.csv"}},

		{"photo", image, "", []string{"testdata/photo.jpg"}, 0, []string{"JPEG, 64 x 48", "make: Acme", "orientation: 6 (turn right to see it upright)", "taken: 2025:01:31 13:30:00", "exposure: 1/250 s", "gps: -33.859833, 151.200000"}},
		{"other images", image, "", []string{"testdata/picture.png", "testdata/picture.gif", "testdata/picture.webp", "testdata/lossless.webp", "--json"}, 0, []string{`"format": "PNG"`, `"format": "GIF"`, `"format": "WebP"`}},
		{"no image", image, "", []string{"testdata/table.csv", "testdata/picture.gif"}, 1, []string{"table.csv: no image of a kind that is known", "GIF, 64 x 48"}},

		{"feeds", feeds, "", []string{"testdata/atom.xml", "testdata/rss.xml", "testdata/feed.json"}, 0, []string{
			"# A Journal", "2025-02-03  Second post\n  https://a.example/2\n  Words & more", "2019-12-31  First post", "2025-02-04  Only title\n  https://n.example/1\n  Text", "2025-02-05  Seven",
		}},
		{"a feed that is none", feeds, "", []string{"testdata/arxiv_error.xml", "testdata/ddg.html"}, 1, []string{"feeds: testdata/ddg.html: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.code, tt.stdin, tt.script, tt.args, tt.want...)
		})
	}
}

// TestDamagedFiles gives the readers of binary files the halves of good ones:
// each says so and exits 1.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	for script, files := range map[string][]string{
		"documents/spreadsheets/scripts/xlsx.py":                 {"book.xlsx"},
		"productivity/ocr-and-documents/scripts/extract_text.py": {"minutes.docx", "brief.odt"},
		"media/images/scripts/imginfo.py":                        {"photo.jpg", "picture.png", "picture.webp"},
	} {
		for _, name := range files {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				data, err := os.ReadFile(filepath.Join("testdata", name))
				if err != nil {
					t.Fatal(err)
				}
				part := len(data) / 2
				if filepath.Ext(name) != ".docx" && filepath.Ext(name) != ".odt" && filepath.Ext(name) != ".xlsx" {
					part = 20 // what a program sees of a size stands early
				}
				half := filepath.Join(t.TempDir(), name)
				if err := os.WriteFile(half, data[:part], 0o600); err != nil {
					t.Fatal(err)
				}
				args := []string{half}
				if strings.HasSuffix(script, "xlsx.py") {
					args = []string{"read", half}
				}
				if out := check(t, 1, "", script, args, name); strings.TrimSpace(out) != "" {
					t.Errorf("it printed %q", out)
				}
			})
		}
	}
}

func TestWorkbookRoundTrip(t *testing.T) {
	t.Parallel()
	const script = "documents/spreadsheets/scripts/xlsx.py"
	dir := t.TempDir()
	people, out := filepath.Join(dir, "people.csv"), filepath.Join(dir, "out.xlsx")
	const table = "name,code,amount,big\nMüller <&> Söhne,007,-12.5,12345678901234567890\n\"two\nlines\",,0,1e5\n"
	if err := os.WriteFile(people, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, 0, "", script, []string{"write", out, people, people}, "people, people (2)")
	check(t, 1, "", script, []string{"write", out, people}, "is there already; --force replaces it")
	check(t, 0, "", script, []string{"sheets", out}, "people: 3 rows, 4 columns", "people (2): 3 rows")
	if got := check(t, 0, "", script, []string{"read", out, "--sheet", "people (2)"}); got != table {
		t.Errorf("came back as %q, want %q", got, table)
	}
	check(t, 1, "", script, []string{"write", filepath.Join(dir, "x.xlsx"), filepath.Join(dir, "gone.csv")}, "gone.csv")
	if left, err := filepath.Glob(filepath.Join(dir, "*x.xlsx*")); err != nil || len(left) > 0 {
		t.Errorf("a failed write leaves %v, %v", left, err)
	}
}

func TestChart(t *testing.T) {
	t.Parallel()
	const script = "data-science/charts/scripts/chart.py"
	out := filepath.Join(t.TempDir(), "c.svg")
	const data = "month,cost,income\n2025-01-01,3,4\n2025-02-01,5,\n2025-03-01,-1,2\n"
	for _, kind := range []string{"bar", "line"} {
		check(t, 0, data, script, []string{kind, "-", "-x", "month", "-y", "cost,income", "-o", out, "--title", "A & <b>"}, "5 points")
		svg, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer svg.Close()
		marks := map[string]int{}
		for d := xml.NewDecoder(svg); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s is no XML: %v", kind, err)
			}
			if e, ok := token.(xml.StartElement); ok {
				marks[e.Name.Local]++
			}
		}
		// a background, two of the legend, five bars; or five points, one line
		if want := map[string]int{"bar": 8, "line": 3}[kind]; marks["rect"] != want || kind == "line" && (marks["circle"] != 5 || marks["polyline"] != 1) {
			t.Errorf("%s draws %v", kind, marks)
		}
	}
	check(t, 0, "a,b\n1,2\n3,5\n", script, []string{"scatter", "-", "-x", "a", "-y", "b", "-o", out}, "2 points")
	check(t, 1, "a,b\n1,x\n", script, []string{"bar", "-", "-x", "a", "-y", "b", "-o", out}, `line 2: 'x' is no number`)
	check(t, 1, "a,b\n1,2\n", script, []string{"bar", "-", "-x", "a", "-y", "c", "-o", out}, "there is no column c; there are: a, b")
	check(t, 1, "a,b\n", script, []string{"bar", "-", "-x", "a", "-y", "b", "-o", out}, "nothing to draw")
}

// TestFeedsRemember sees each entry once, also when one of the feeds fails.
func TestFeedsRemember(t *testing.T) {
	t.Parallel()
	const script = "research/blogwatcher/scripts/feeds.py"
	state := filepath.Join(t.TempDir(), "deep", "feeds.json")
	args := []string{"testdata/atom.xml", "testdata/gone.xml", "--new", "--state", state, "--max", "1"}
	if out := check(t, 1, "", script, args, "Second post", "gone.xml: "); strings.Contains(out, "First post") {
		t.Error("--max 1 prints two")
	}
	check(t, 1, "", script, args, "First post")
	check(t, 1, "", script, args, "nothing new")
	check(t, 0, "", script, []string{"testdata/atom.xml", "--days", "1"}, "no entries")
	check(t, 2, "", script, []string{"testdata/atom.xml", "--new"}, "--new needs --state FILE")
	if err := os.WriteFile(state, []byte("[1]"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, 1, "", script, args, "does not hold what this script writes")
}

func TestInspectCode(t *testing.T) {
	t.Parallel()
	const script = "github/codebase-inspection/scripts/inspect_code.py"
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n\nfunc A() {}\n", "b.py": "x = 1\n", "node_modules/m.js": "1\n", "bin": "\x00\x01", "ignored.go": "package a\n", ".gitignore": "ignored.go\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check(t, 0, "", script, []string{dir}, "no git repository", "Go                2 files", "left out: 1 binary")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-qm", "one"}} {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	out := check(t, 0, "", script, []string{dir, "--churn", "--json"})
	var got struct {
		Files     int
		Languages []struct {
			Language            string
			Files, Lines, Blank int
		}
		Churn []struct {
			Path           string
			Commits, Lines int
		}
		LeftOut map[string]int `json:"left_out"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if l := got.Languages[0]; l.Language != "Go" || l.Files != 1 || l.Lines != 2 || l.Blank != 1 {
		t.Errorf("languages %+v", got.Languages)
	}
	if got.LeftOut["in skipped folders"] != 1 || len(got.Churn) != 5 || got.Churn[0].Commits != 1 {
		t.Errorf("got %+v", got)
	}
	check(t, 1, "", script, []string{filepath.Join(dir, "none")}, "is no directory")
}

// TestMessages reads a database of the shape that Messages has, which is made
// here: nobody's messages are among the tests.
func TestMessages(t *testing.T) {
	t.Parallel()
	const script = "apple/imessage/scripts/messages.py"
	path := filepath.Join(t.TempDir(), "chat ü.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", 200) // 400 bytes: a length of two bytes
	typed := func(text string) []byte {
		b := []byte("\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@\x84\x84\x84\x08NSString\x01\x94\x84\x01+")
		if len(text) < 128 {
			b = append(b, byte(len(text)))
		} else {
			b = append(b, 0x81, byte(len(text)), byte(len(text)>>8))
		}
		return append(append(b, text...), "\x86\x84\x02iI"...)
	}
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{"CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT)", nil},
		{"CREATE TABLE chat (ROWID INTEGER PRIMARY KEY, chat_identifier TEXT, display_name TEXT, service_name TEXT)", nil},
		{"CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER)", nil},
		{"CREATE TABLE message (ROWID INTEGER PRIMARY KEY, date INTEGER, is_from_me INTEGER, text TEXT, attributedBody BLOB, error INTEGER DEFAULT 0, " +
			"cache_has_attachments INTEGER DEFAULT 0, handle_id INTEGER, item_type INTEGER DEFAULT 0, associated_message_type INTEGER DEFAULT 0)", nil},
		{"INSERT INTO handle VALUES (1, '+491701234567')", nil},
		{"INSERT INTO chat VALUES (1, '+491701234567', '', 'iMessage'), (2, 'chat99', 'Family', 'iMessage')", nil},
		{"INSERT INTO message (ROWID, date, is_from_me, text, handle_id) VALUES (1, 0, 0, 'The Train is late', 1)", nil},
		{"INSERT INTO message (ROWID, date, is_from_me, attributedBody, error) VALUES (2, 700000000000000000, 1, ?, 22)", []any{typed("On my way")}},
		{"INSERT INTO message (ROWID, date, is_from_me, attributedBody, handle_id, cache_has_attachments) VALUES (3, 700000060000000000, 0, ?, 1, 1)", []any{typed(long)}},
		{"INSERT INTO message (ROWID, date, is_from_me, text, handle_id, associated_message_type) VALUES (4, 700000070000000000, 0, 'Liked', 1, 2001)", nil},
		{"INSERT INTO chat_message_join VALUES (1, 1), (1, 2), (2, 3), (1, 4)", nil},
	} {
		if _, err := db.Exec(q.sql, q.args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	check(t, 0, "", script, []string{"chats", "--db", path}, "chat99  Family (iMessage, 1 messages)", "+491701234567")
	out := check(t, 0, "", script, []string{"read", "--db", path, "--chat", "+491701234567"}, "2001-01-01 00:00  +491701234567: The Train is late\n2023-03-08 20:26  me (+491701234567): On my way [failed]\n")
	if strings.Contains(out, "Liked") {
		t.Error("a reaction is printed as a message")
	}
	check(t, 0, "", script, []string{"read", "--db", path, "--chat", "Family"}, "+491701234567 (Family): "+long+" [attachment]\n")
	check(t, 0, "", script, []string{"search", "--db", path, "train", "--days", "0"}, "The Train is late")
	check(t, 1, "", script, []string{"search", "--db", path, "nowhere"}, "nothing found")
	check(t, 1, "", script, []string{"chats", "--db", path + ".gone"}, "Full Disk Access")
}
