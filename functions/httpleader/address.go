package httpleader

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// unreachable says why the other replicas cannot forward to hostPort, or "". What a
// server listens on is often written here by mistake: it is no address to be reached at.
func unreachable(hostPort string) string {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return err.Error()
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "its port is no number between 1 and 65535"
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "":
		return "it has no host, so others do not know whom to reach: write this replica's own address"
	case err == nil && ip.IsUnspecified():
		return "it means every address of a host, and is where a server listens: write this replica's own address"
	case err == nil:
		return ""
	case strings.ContainsFunc(host, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`/\?#@:%[]<>"'`, r)
	}):
		return "its host is neither a name nor an address"
	}
	return ""
}
