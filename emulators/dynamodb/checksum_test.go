package dynamodb_test

import (
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/emulators/dynamodb"
)

// The SDK compares the checksum, and warns on standard error where it is wrong.
func TestChecksum(t *testing.T) {
	s, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL(), strings.NewReader(`{"TableName": "elections", "Key": {"election": {"S": "x"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := resp.Header.Get("X-Amz-Crc32"), fmt.Sprint(crc32.ChecksumIEEE(body)); got != want {
		t.Errorf("X-Amz-Crc32 is %s of %q, want %s", got, body, want)
	}
}
