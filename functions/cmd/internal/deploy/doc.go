// Package deploy tests what is deployed: the templates and policies, the size of the
// programs, and the commands in docs/DEPLOY.md.
package deploy
