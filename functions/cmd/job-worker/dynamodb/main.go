// The program dynamodb is the container of a job whose election is in DynamoDB.
// docs/DEPLOY.md deploys it.
package main

import (
	"os"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/job"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/dynamodbstore"
)

func main() { os.Exit(job.Main(dynamodbstore.Open)) }
