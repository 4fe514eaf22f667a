// Command hermes is an agent in one binary. A build with tools of one's own is
// this file with one more import.
package main

import (
	"os"

	_ "github.com/hermes-go/hermes/backends/all"
	"github.com/hermes-go/hermes/internal/cli"
	"github.com/hermes-go/hermes/internal/confine"
	_ "github.com/hermes-go/hermes/providers/all"
	_ "github.com/hermes-go/hermes/tools/all"
)

func main() {
	if code, ok := confine.Child(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(cli.Main())
}
