package cliutil

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// WriteJSON writes v as one line of JSON.
func WriteJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

// Warn prints one line to stderr, in the form that errors have.
func (e *Env) Warn(format string, args ...any) {
	fmt.Fprintf(e.Stderr, "elect: %s\n", Line(fmt.Errorf(format, args...)))
}

// StoreFlag adds --store, which every command that looks at an election needs.
func StoreFlag(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVarP(url, "store", "s", "", "where the election is kept: gs://BUCKET/OBJECT, s3://BUCKET/KEY or dynamodb://TABLE/ELECTION")
}

// NoArgs refuses arguments, as an error that says so.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usage("%s takes no arguments, and got %.80q: see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}
