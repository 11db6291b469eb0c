// Package rig runs the deployed programs on this machine, for the demo and for
// tests: sandboxes under the Lambda runtime interface emulator, containers as plain
// processes, and the stores as `elect emulate` runs them. All of it listens on
// loopback addresses.
package rig
