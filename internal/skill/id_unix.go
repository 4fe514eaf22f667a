//go:build unix

package skill

import (
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// identity is equal for two paths of one file.
func identity(path string, info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return path
	}
	return strconv.FormatUint(uint64(st.Dev), 16) + ":" + strconv.FormatUint(st.Ino, 16) //nolint:unconvert // Dev is an int32 on some systems
}

// syncDir makes a rename last through a loss of power.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// group makes a command's children end with it.
func group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
