// The program gcs is the container of a job whose election is in Cloud Storage.
// docs/DEPLOY.md deploys it.
package main

import (
	"os"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/job"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/gcsstore"
)

func main() { os.Exit(job.Main(gcsstore.Open)) }
