// The program s3 is a Lambda function, the bootstrap of the runtime provided.al2023,
// whose elections are in S3. docs/DEPLOY.md deploys it.
package main

import (
	"context"
	"log"
	"os"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/s3store"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/worker"
)

func main() {
	log.SetFlags(0)
	if err := worker.Run(context.Background(), os.Getenv, s3store.Open); err != nil {
		log.Fatal(err)
	}
}
