package core_test

import (
	"errors"
	"net"
	"testing"

	"github.com/cloudelect/cloudelect/core"
)

// TestSelfHostPorts holds on every host: one without an address gets an error
// that says so, one with addresses gets them in a form that can be dialled.
func TestSelfHostPorts(t *testing.T) {
	for _, port := range []string{"1", "8080", "65535"} {
		got, err := core.SelfHostPorts(port)
		if errors.Is(err, core.ErrInvalidConfig) || (err == nil) != (len(got) > 0) {
			t.Errorf("port %s: %q, %v", port, got, err)
		}
		for _, hp := range got {
			host, p, err := net.SplitHostPort(hp)
			if err != nil || p != port {
				t.Errorf("%q: port %q, %v", hp, p, err)
			}
			if ip := net.ParseIP(host); ip == nil || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() {
				t.Errorf("%q is nothing that others could dial", hp)
			}
		}
	}
}

func TestSelfHostPortsRefusesWhatIsNoPort(t *testing.T) {
	for _, port := range []string{"", " ", "-1", "65536", "99999999999", "80 ", ":80", "a:80", "no-such-service", "80\n", "0x50"} {
		if got, err := core.SelfHostPorts(port); !errors.Is(err, core.ErrInvalidConfig) || got != nil {
			t.Errorf("port %q: %q, %v", port, got, err)
		}
	}
}
