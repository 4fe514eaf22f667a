package backend

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ownSecrets are the files of the program's directory that no command is ever
// given, whatever the configuration or a skill asks for.
var ownSecrets = []string{".env", "config.yaml", "auth.json", "state.db", "state.db-wal", "state.db-shm"}

// Credentials are the names of the credential files that commands may read:
// those of the configuration and those that the task's skills ask for.
func (o Options) Credentials(configured []string) []string {
	if o.Files == nil {
		return configured
	}
	all := slices.Concat(configured, o.Files())
	slices.Sort(all)
	return slices.Compact(all)
}

// CredentialFile is the full path of a credential file that commands may read,
// named relative to the program's directory. Links are followed before it is
// judged; what lies outside, is missing, or is the program's own is refused.
func CredentialFile(home, name string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", fmt.Errorf("credential file %s is not given to commands: %s", name, why)
	}
	if name == "" || filepath.IsAbs(name) || !filepath.IsLocal(name) {
		return refuse("name it relative to " + home)
	}
	root, err := filepath.EvalSymlinks(home)
	if err != nil {
		return refuse(err.Error())
	}
	file, err := filepath.EvalSymlinks(filepath.Join(root, name))
	if err != nil {
		return refuse("it does not exist")
	}
	rel, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(rel) {
		return refuse("it leads out of " + home)
	}
	inner := filepath.ToSlash(rel)
	if parts := strings.Split(inner, "/"); len(parts) > 2 && parts[0] == "profiles" {
		inner = strings.Join(parts[2:], "/") // a profile's directory is like the main one
	}
	if slices.ContainsFunc(ownSecrets, func(own string) bool {
		return strings.EqualFold(own, inner) || strings.EqualFold(own, filepath.Base(name))
	}) {
		return refuse("it is the program's own")
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return refuse("it is no file")
	}
	return file, nil
}
