// Package stage plays what happens to deployed programs: triggers that come twice,
// sandboxes that are killed or frozen, containers that are told to stop. A play
// tells what it sees, and fails when something is not as promised. What it judges
// by is what was stored, read without the code that is on trial.
package stage
