package edit

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	bytesOf := func(enc interface{ String(string) (string, error) }, s string) []byte {
		out, err := enc.String(s)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(out)
	}
	russian := "Привет, мир! Это обычный русский текст.\n"
	french := "Où est le café ? « Là-bas », répondit-elle.\n"
	japan := "日本語のテキストです。ファイルを読む。\n"
	taiwan := "這是一個測試檔案,內容是中文。\n"
	china := "中文测试"
	gb, sj, b5 := simplifiedchinese.GB18030.NewEncoder(), japanese.ShiftJIS.NewEncoder(), traditionalchinese.Big5.NewEncoder()
	tests := []struct {
		name     string
		data     []byte
		stated   string
		content  string
		encoding string
		guessed  bool
	}{
		{"empty", nil, "", "", "utf-8", false},
		{"ascii", []byte("hi\n"), "", "hi\n", "utf-8", false},
		{"utf-8 mark", []byte("\xEF\xBB\xBFhi"), "", "hi", "utf-8", false},
		{"F-014", []byte(strings.Repeat("a", 999) + "ç\nx\n"), "", strings.Repeat("a", 999) + "ç\nx\n", "utf-8", false},
		{"F-015", []byte{0xff, 0xfe, 0x68, 0, 0x69, 0, 0x0a, 0}, "", "hi\n", "utf-16le", false},
		{"utf-16be mark", []byte{0xfe, 0xff, 0, 0x68, 0xd8, 0x3d, 0xde, 0x00}, "", "h😀", "utf-16be", false},
		{"utf-16le without mark", []byte("h\x00\xe9\x00\n\x00"), "", "hé\n", "utf-16le", true},
		{"utf-16be without mark", []byte("\x00h\x4e\x2d\x00\n"), "", "h中\n", "utf-16be", true},
		{"F-016", bytesOf(gb, china), "", china, "gb18030", true},
		{"F-016 stated", bytesOf(gb, china), "GBK", china, "gb18030", false},
		{"shift-jis", bytesOf(sj, japan), "", japan, "shift_jis", true},
		{"big5", bytesOf(b5, taiwan), "", taiwan, "big5", true},
		{"windows-1251", bytesOf(charmap.Windows1251.NewEncoder(), russian), "", russian, "windows-1251", true},
		{"windows-1252", bytesOf(charmap.Windows1252.NewEncoder(), french), "", french, "windows-1252", true},
		{"latin-1 stated", []byte("caf\xe9"), "latin-1", "café", "iso-8859-1", false},
		{"gb in code", []byte("// \xd6\xd0\xce\xc4\nint x = 1;\n"), "", "// 中文\nint x = 1;\n", "gb18030", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Decode(tt.data, tt.stated)
			if err != nil {
				t.Fatal(err)
			}
			if got.Content != tt.content || got.Encoding != tt.encoding || got.Guessed != tt.guessed {
				t.Errorf("%q %s guessed %v", got.Content, got.Encoding, got.Guessed)
			}
			back, err := got.Encode()
			if err != nil || !bytes.Equal(back, tt.data) {
				t.Errorf("back: % x, %v", back, err)
			}
		})
	}
}

// F-014 at every cut: the prefix of a text is the text without the cut character.
func TestDecodePrefix(t *testing.T) {
	t.Parallel()
	for _, char := range []string{"ç", "中", "😀"} {
		for cut := 1; cut < len(char); cut++ {
			data := []byte(strings.Repeat("a", 1000-cut) + char + "\nx\n")[:1000]
			got, err := DecodePrefix(data, "")
			if err != nil || got.Content != strings.Repeat("a", 1000-cut) || got.Encoding != "utf-8" || got.Damaged != 0 {
				t.Errorf("%s cut after %d: %v, %d damaged, %d bytes", char, cut, err, got.Damaged, len(got.Content))
			}
			if _, err := got.Encode(); !errors.Is(err, ErrPartial) {
				t.Errorf("a prefix was encoded: %v", err)
			}
		}
	}
	gb, _ := simplifiedchinese.GB18030.NewEncoder().String("中文测试")
	for n := 1; n <= len(gb); n++ {
		got, err := DecodePrefix([]byte("int x;\n"+gb[:n]), "gb18030")
		if want := "int x;\n" + string([]rune("中文测试")[:n/2]); err != nil || got.Content != want {
			t.Errorf("gb prefix %d: %q, %v", n, got.Content, err)
		}
	}
	for n := 2; n <= 8; n++ {
		got, err := DecodePrefix([]byte("\xff\xfeh\x00\x3d\xd8\x00\xde")[:n], "")
		if err != nil || !strings.HasPrefix("h😀", got.Content) {
			t.Errorf("utf-16 prefix %d: %q, %v", n, got.Content, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"zeros":     "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x02\x00>\x00",
		"png":       "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"controls":  strings.Repeat("\x01\x02a", 100),
		"utf-32":    "\xff\xfe\x00\x00h\x00\x00\x00",
		"odd":       "\xff\xfeh",
		"surrogate": "\xff\xfe\x00\xd8h\x00",
	} {
		if got, err := Decode([]byte(data), ""); !errors.Is(err, ErrBinary) {
			t.Errorf("%s: %q, %v", name, got.Content, err)
		}
	}
	var e *EncodingError
	if _, err := Decode([]byte("x"), "klingon"); !errors.As(err, &e) || !strings.Contains(err.Error(), "shift_jis") {
		t.Errorf("unknown encoding: %v", err)
	}
	if _, err := Decode([]byte("\x80\x81\x82\x83 \x8d\x8f\x90\x9d"), ""); !errors.As(err, &e) || !strings.Contains(err.Error(), "encoding=") {
		t.Errorf("unguessable: %v", err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, data, stated, content string
		char                        rune
		line                        int
	}{
		{"no such character", "caf\xe9\n", "windows-1252", "café\n中\n", '中', 2},
		{"gb18030 holds everything but this", "\xd6\xd0", "gb18030", "中\n\uFFFD", '\uFFFD', 2},
		{"replacement character in utf-8", "a\xff\n", "utf-8", "\uFFFD\n", '\uFFFD', 1},
		{"in utf-16", "\xff\xfea\x00", "", "a\uFFFD", '\uFFFD', 1},
	}
	for _, tt := range tests {
		txt, err := Decode([]byte(tt.data), tt.stated)
		if err != nil {
			t.Fatal(tt.name, err)
		}
		txt.Content = tt.content
		var e *CharError
		if _, err := txt.Encode(); !errors.As(err, &e) || e.Char != tt.char || e.Line != tt.line {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// Bytes that are no characters, and characters with several codes, come back
// as they were when another line is edited.
func TestOddBytesSurvive(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ enc, data, old, new, want string }{
		"utf-8 with a stray byte": {"", "ä ö ü é ñ\nx\xffy\nend\n", "end", "END", "ä ö ü é ñ\nx\xffy\nEND\n"},
		"same line":               {"", "ä ö ü é ñ\nx\xffy\nend\n", "y\n", "z\n", "ä ö ü é ñ\nx\xffz\nend\n"},
		"gb18030 stray":           {"gb18030", "\xd6\xd0\n\xff\xff\nend\n", "end", "中", "\xd6\xd0\n\xff\xff\n\xd6\xd0\n"},
		"shift_jis twin codes":    {"shift_jis", "\x87\x90 \x81\xe0\nx\n", "x", "y", "\x87\x90 \x81\xe0\ny\n"},
		"genuine U+FFFD":          {"", "a\uFFFDb\nx\n", "x", "y", "a\uFFFDb\ny\n"},
	} {
		txt, err := Decode([]byte(tt.data), tt.enc)
		if err != nil {
			t.Fatal(name, err)
		}
		res, err := Replace(txt.Content, tt.old, tt.new, false)
		if err != nil {
			t.Fatal(name, err)
		}
		txt.Content = res.Content
		got, err := txt.Encode()
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"hi", "\xff\xfeh\x00", "\xef\xbb\xbfx", "\xd6\xd0\xce\xc4", "caf\xe9", "a\x00b", "ä\xff\n"} {
		f.Add([]byte(s), "")
		f.Add([]byte(s), "gb18030")
		f.Add([]byte(s), "shift_jis")
		f.Add([]byte(s), "big5")
		f.Add([]byte(s), "utf-16")
	}
	f.Fuzz(func(t *testing.T, data []byte, enc string) {
		was := bytes.Clone(data)
		txt, err := Decode(data, enc)
		if err != nil {
			return
		}
		back, err := txt.Encode()
		if err != nil {
			if txt.locked == nil {
				t.Fatalf("%s: decoded but not encoded: %v", txt.Encoding, err)
			}
			return
		}
		if !bytes.Equal(back, was) {
			t.Fatalf("%s: % x became % x", txt.Encoding, was, back)
		}
		if txt.Encoding != "utf-8" && !utf8.ValidString(txt.Content) {
			t.Fatalf("%s: content is not UTF-8", txt.Encoding)
		}
		if p, err := DecodePrefix(data[:len(data)/2], enc); err == nil && p.Encoding == "utf-8" && txt.Encoding == "utf-8" && !strings.HasPrefix(txt.Content, p.Content) {
			t.Fatalf("prefix %q of %q", p.Content, txt.Content)
		}
	})
}
