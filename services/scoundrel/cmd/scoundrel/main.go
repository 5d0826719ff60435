// Command scoundrel is the whole backend in one program, and its clients.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/scoundrel-game/scoundrel/services/scoundrel"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks to stop; a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(scoundrel.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
