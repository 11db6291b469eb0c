// The program s3 is the container of a job whose election is in S3.
// docs/DEPLOY.md deploys it.
package main

import (
	"os"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/job"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/s3store"
)

func main() { os.Exit(job.Main(s3store.Open)) }
