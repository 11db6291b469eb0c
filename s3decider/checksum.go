package s3decider

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// addChecksum puts the checksum that Options ask for into a header. The SDK would
// send it after the body in a chunked upload, over TLS, which not every store
// understands. Algorithms that are not here are left to it.
func addChecksum(in *s3.PutObjectInput, body []byte) {
	crc := func(table *crc32.Table) *string {
		return encoded(binary.BigEndian.AppendUint32(nil, crc32.Checksum(body, table)))
	}
	switch in.ChecksumAlgorithm {
	case types.ChecksumAlgorithmCrc32:
		in.ChecksumCRC32 = crc(crc32.IEEETable)
	case types.ChecksumAlgorithmCrc32c:
		in.ChecksumCRC32C = crc(crc32.MakeTable(crc32.Castagnoli))
	case types.ChecksumAlgorithmSha1:
		sum := sha1.Sum(body)
		in.ChecksumSHA1 = encoded(sum[:])
	case types.ChecksumAlgorithmSha256:
		sum := sha256.Sum256(body)
		in.ChecksumSHA256 = encoded(sum[:])
	}
}

func encoded(sum []byte) *string { return aws.String(base64.StdEncoding.EncodeToString(sum)) }
