package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-go/hermes/internal/app"
	"github.com/hermes-go/hermes/internal/setup"
)

func newAuthStatus(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "status PROVIDER", Short: "Say whether there is a key for a service, and where from; exit code 1 when there is none", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				name, err := poolName(a, args[0])
				if err != nil {
					return err
				}
				auth, err := setup.ReadAuth(a.Home)
				if err != nil {
					return err
				}
				rows := authRows(a, auth, name)
				usable := false
				for _, r := range rows {
					usable = usable || r.Status == "ok"
				}
				state := "logged out"
				if usable {
					state = "logged in"
				}
				var b strings.Builder
				fmt.Fprintf(&b, "%s: %s\n", name, state)
				for _, r := range rows {
					fmt.Fprintf(&b, "  %s %s (%s): %s\n", r.Label, r.Key, r.Source, r.Status)
				}
				if _, err := fmt.Fprint(e.out, b.String()); err != nil {
					return err
				}
				if !usable {
					return reported(exitFailed)
				}
				return nil
			})
		},
	}
}

func newAuthLogout(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "logout PROVIDER", Short: "Take all keys of a service out of auth.json", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(func(a *app.App) error {
				name, err := poolName(a, args[0])
				if err != nil {
					return err
				}
				keys, login := 0, false
				err = setup.UpdateAuth(a.Home, time.Now(), func(auth *setup.Auth) (err error) {
					if keys, login, err = auth.Logout(name); err == nil && keys == 0 && !login {
						err = fmt.Errorf("auth.json has no key for %s; see: hermes auth list", name)
					}
					return err
				})
				if err != nil {
					return fmt.Errorf("log out of %s: %w", name, err)
				}
				left, err := setup.ReadAuth(a.Home)
				if err != nil {
					return err
				}
				said := fmt.Sprintf("%s: %d keys removed", name, keys)
				if login {
					said += ", and the login of another program"
				}
				if _, err := fmt.Fprintln(e.out, said); err != nil {
					return err
				}
				for _, r := range authRows(a, left, name) {
					e.notice(fmt.Sprintf("%s is a variable and still counts; remove it with: hermes config unset %s", r.Label, r.Label))
				}
				return nil
			})
		},
	}
}
