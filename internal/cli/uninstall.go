package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func newUninstall(e *env) *cobra.Command {
	var full, yes, dry bool
	c := &cobra.Command{
		Use: "uninstall", Short: "Remove the program; --full removes the home as well", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w; remove it by hand", err)
			}
			remove := []string{program}
			if full {
				if err := looksLikeHome(e.place.Root, e.userHome); err != nil {
					return err
				}
				remove = append(remove, e.place.Root)
			}
			fmt.Fprintf(e.err, "To be removed for good:\n  %s\n", strings.Join(remove, "\n  "))
			if !full {
				fmt.Fprintf(e.err, "The home %s stays (--full removes it too).\n", e.place.Root)
			}
			if dry {
				return nil
			}
			if !yes {
				if !e.asks {
					return usageError("nobody can be asked; add --yes to remove this")
				}
				line, err := readLine(c.Context(), e, "Type uninstall to go on: ")
				if err != nil {
					return err
				}
				if line != "uninstall" {
					return errors.New("nothing was removed")
				}
			}
			return removeAll(e, remove)
		},
	}
	c.Flags().BoolVar(&full, "full", false, "also the home with all settings, keys, memory and conversations")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	return c
}

// looksLikeHome refuses to remove a directory that does not look like a home.
func looksLikeHome(dir, userHome string) error {
	if dir == userHome || dir == filepath.Dir(dir) || strings.HasPrefix(userHome, dir+string(filepath.Separator)) {
		return fmt.Errorf("%s is more than a home of this program; remove by hand what you do not need", dir)
	}
	for _, mark := range []string{"config.yaml", ".env", "state.db", "sessions", "memories", "profiles"} {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return nil
		}
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s does not look like a home of this program; remove it by hand", dir)
}

func removeAll(e *env, paths []string) error {
	var errs []error
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			errs = append(errs, fmt.Errorf("remove %s: %w; remove it by hand", path, err))
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			errs = append(errs, fmt.Errorf("%s is still there; remove it by hand", path))
			continue
		}
		fmt.Fprintln(e.out, "removed", path)
	}
	return errors.Join(errs...)
}
