package edit

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Encodings names every encoding that Decode accepts, in a fixed order.
func Encodings() []string {
	return []string{
		"utf-8", "utf-16le", "utf-16be", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr",
		"windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254",
		"windows-1255", "windows-1256", "windows-1257", "windows-1258", "windows-874",
		"iso-8859-1", "iso-8859-2", "iso-8859-15", "koi8-r", "cp437", "cp850", "cp866",
	}
}

// canonical accepts the usual spellings of a name.
func canonical(name string) (string, bool) {
	n := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	switch n {
	case "utf8", "utf-8-sig", "utf-8-bom", "ascii", "us-ascii":
		n = "utf-8"
	case "utf-16", "utf16", "utf16le", "utf-16-le", "ucs-2", "unicode":
		n = "utf-16le"
	case "utf16be", "utf-16-be":
		n = "utf-16be"
	case "gbk", "gb2312", "gb-2312", "cp936", "936", "gb-18030":
		n = "gb18030"
	case "cp950", "big5-hkscs", "big-5":
		n = "big5"
	case "shift-jis", "sjis", "shiftjis", "cp932", "windows-31j", "ms932":
		n = "shift_jis"
	case "eucjp":
		n = "euc-jp"
	case "euckr", "cp949", "uhc":
		n = "euc-kr"
	case "latin-1", "latin1", "iso8859-1", "l1":
		n = "iso-8859-1"
	case "latin-2", "latin2", "iso8859-2":
		n = "iso-8859-2"
	case "latin-9", "latin9", "iso8859-15":
		n = "iso-8859-15"
	case "koi8r":
		n = "koi8-r"
	case "ibm437", "ibm850", "ibm866":
		n = "cp" + n[3:]
	default:
		if rest, ok := strings.CutPrefix(n, "cp125"); ok {
			n = "windows-125" + rest
		} else if rest, ok := strings.CutPrefix(n, "windows125"); ok {
			n = "windows-125" + rest
		}
	}
	for _, known := range Encodings() {
		if n == known {
			return n, true
		}
	}
	return "", false
}

// charsetOf maps a canonical name that is not Unicode.
func charsetOf(name string) encoding.Encoding {
	switch name {
	case "gb18030":
		return simplifiedchinese.GB18030
	case "big5":
		return traditionalchinese.Big5
	case "shift_jis":
		return japanese.ShiftJIS
	case "euc-jp":
		return japanese.EUCJP
	case "euc-kr":
		return korean.EUCKR
	case "windows-1250":
		return charmap.Windows1250
	case "windows-1251":
		return charmap.Windows1251
	case "windows-1253":
		return charmap.Windows1253
	case "windows-1254":
		return charmap.Windows1254
	case "windows-1255":
		return charmap.Windows1255
	case "windows-1256":
		return charmap.Windows1256
	case "windows-1257":
		return charmap.Windows1257
	case "windows-1258":
		return charmap.Windows1258
	case "windows-874":
		return charmap.Windows874
	case "iso-8859-1":
		return charmap.ISO8859_1
	case "iso-8859-2":
		return charmap.ISO8859_2
	case "iso-8859-15":
		return charmap.ISO8859_15
	case "koi8-r":
		return charmap.KOI8R
	case "cp437":
		return charmap.CodePage437
	case "cp850":
		return charmap.CodePage850
	case "cp866":
		return charmap.CodePage866
	}
	return charmap.Windows1252
}
