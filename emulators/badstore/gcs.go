package badstore

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// gcs is the JSON API, and reads through the XML API.
type gcs struct{}

const generationMatch = "ifGenerationMatch"

// objectPath finds the object in /storage/v1/b/BUCKET/o/OBJECT.
var objectPath = regexp.MustCompile(`^/(?:download/|upload/)?storage/v1/b/[^/]+/o/(.+)$`)

// uploadedName finds it in the metadata of a multipart upload.
var uploadedName = regexp.MustCompile(`"name":\s*("(?:[^"\\]|\\.)*")`)

func (gcs) understand(m *message) call {
	c := call{kind: Other, key: m.url.Query().Get("name"), when: m.url.Query().Get(generationMatch)}
	if at := objectPath.FindStringSubmatch(m.url.Path); at != nil {
		c.key = at[1]
	} else if _, object, ok := strings.Cut(strings.TrimPrefix(m.url.Path, "/"), "/"); ok && !strings.Contains(m.url.Path, "/storage/v1/") {
		c.key = object
	}
	if c.key == "" {
		if name := uploadedName.FindSubmatch(m.body); name != nil {
			_ = json.Unmarshal(name[1], &c.key) // no name then, and a request that is passed on
		}
	}
	switch {
	case c.key == "":
	case m.method == http.MethodGet:
		c.kind = Read
	case m.method == http.MethodDelete:
		c.kind = Delete
	case m.method == http.MethodPost && c.when == "0":
		c.kind = Create
	case m.method == http.MethodPost && c.when != "":
		c.kind = Overwrite
	}
	return c
}

func (gcs) unconditional(m *message) {
	q := m.url.Query()
	q.Del(generationMatch)
	m.url.RawQuery = q.Encode()
}

func (gcs) refused(a *answer) bool { return a.status == http.StatusPreconditionFailed }

func (gcs) yes(c call, m *message) *answer {
	generation, _ := strconv.ParseInt(c.when, 10, 64) // 0 if it is none, and still a yes
	object := map[string]string{"kind": "storage#object", "name": c.key, "generation": strconv.FormatInt(generation+1, 10)}
	if content, ok := uploaded(m); ok { // clients compare it with what they have sent
		sum := crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
		object["crc32c"] = base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
	}
	body, _ := json.Marshal(object) // strings: cannot fail
	return made(http.StatusOK, "application/json", string(body))
}

// uploaded is the content of a multipart upload: its second part.
func uploaded(m *message) ([]byte, bool) {
	_, params, err := mime.ParseMediaType(m.header.Get("Content-Type"))
	if err != nil {
		return nil, false
	}
	parts := multipart.NewReader(bytes.NewReader(m.body), params["boundary"])
	if _, err := parts.NextPart(); err != nil {
		return nil, false
	}
	second, err := parts.NextPart()
	if err != nil {
		return nil, false
	}
	content, err := io.ReadAll(second)
	return content, err == nil
}

func (gcs) forbidden(call) *answer {
	const denied = "nobody@example.com does not have storage.objects.delete access to the Google Cloud Storage object."
	return made(http.StatusForbidden, "application/json",
		`{"error":{"code":403,"message":"`+denied+`","errors":[{"domain":"global","reason":"forbidden","message":"`+denied+`"}]}}`)
}

func (gcs) omit(_ call, a *answer) {
	a.header.Del("X-Goog-Generation")
	a.header.Del("Etag")
	var object map[string]any
	if !strings.Contains(a.header.Get("Content-Type"), "json") || json.Unmarshal(a.body, &object) != nil || object["generation"] == nil {
		return
	}
	delete(object, "generation")
	delete(object, "etag")
	a.body, _ = json.Marshal(object) // of what was JSON: cannot fail
	a.resize()
}
