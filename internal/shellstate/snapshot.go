package shellstate

import (
	"bytes"
	"errors"
	"strings"
)

// Snapshot is what the user's shell start-up files define: functions and
// aliases as shell text, and the names they go by. The variables they export
// become the environment of the first command.
type Snapshot struct {
	Vars  []string
	Text  string
	Names []string
}

// Before is what must stand before a script. The definitions can be long, so
// they are only given to scripts in which one of the names occurs.
func (s *Snapshot) Before(script string) string {
	for _, name := range s.Names {
		if strings.Contains(script, name) {
			return s.Text
		}
	}
	return ""
}

// Report prints what Snapshot holds, for ParseSnapshot. It stands after the
// start-up files, in bash.
const Report = `set +eux
{
builtin pwd -P; builtin printf '\0'; builtin export -p; builtin printf '\0'
while builtin read -r _ _ name; do
	case $name in _[!_]*) ;; *) builtin printf '%s\0' "$name"; builtin declare -f "$name"; builtin printf '\0' ;; esac
done < <(builtin declare -F)
builtin printf '\0'
builtin alias -p; builtin printf '\0'
}`

// ParseSnapshot reads what Report printed.
func ParseSnapshot(out []byte) (*Snapshot, error) {
	parts := bytes.Split(out, []byte{0})
	if len(parts) < 4 {
		return nil, errors.New("the start-up files ended the shell")
	}
	vars, ok := ParseExports(string(parts[1]))
	if !ok {
		return nil, errors.New("the shell's variables could not be read")
	}
	s := &Snapshot{Vars: vars}
	var text strings.Builder
	i := 2
	for ; i+1 < len(parts) && len(parts[i]) > 0; i += 2 {
		s.Names = append(s.Names, string(parts[i]))
		text.Write(parts[i+1])
		text.WriteByte('\n')
	}
	if i+1 < len(parts) {
		for line := range strings.Lines(string(parts[i+1])) {
			// alias name='text'
			name, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "alias "), "-- "), "=")
			switch {
			case !ok:
			case name == "rm" || name == "cp" || name == "mv": // asking back is for people; here it silently does nothing
				continue
			default:
				s.Names = append(s.Names, name)
			}
			text.WriteString(line)
		}
	}
	if len(s.Names) > 0 {
		s.Text = "shopt -s expand_aliases\n" + text.String() + "\n"
	}
	return s, nil
}
