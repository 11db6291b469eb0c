package core_test

import (
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/core"
)

// What SelfHostPorts returns is fine, and what only means something on one host is not.
func TestValidateHostPort(t *testing.T) {
	for hostPort, says := range map[string]string{
		"a:80": "", "a:http": "", "10.0.0.1:1": "", "[2001:db8::1]:80": "", "[fe80::1%eth0]:80": "", "localhost:65535": "",
		"": "not host:port", "a": "not host:port", ":80": "no host", "a:": "neither a number", "a:0": "neither a number",
		"a:65536": "neither a number", "a:+80": "neither a number", "a:no such": "space", "a:nosuch": "neither a number",
		"0.0.0.0:80": "server listens", "[::]:80": "server listens", "[::%lo]:80": "server listens", "0x0:80": "server listens",
		"a/b:80": "neither a name", "u@a:80": "neither a name", "a\x00:80": "control",
	} {
		err := core.ValidateHostPort(hostPort)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v, want %q", hostPort, err, says)
		}
	}
}
