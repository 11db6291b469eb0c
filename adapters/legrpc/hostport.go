package legrpc

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"unicode"
)

// dialable: a host and a port that mean the same everywhere.
func dialable(hp string) error {
	host, port, err := net.SplitHostPort(hp)
	if err != nil {
		if wrong := new(net.AddrError); errors.As(err, &wrong) {
			return fmt.Errorf("not host:port: %s", wrong.Err)
		}
		return err
	}
	if strings.ContainsFunc(hp, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return errors.New("not host:port: there is a space or a control character in it")
	}
	if err := reachable(host); err != nil {
		return err
	}
	if !isPort(port) {
		return fmt.Errorf("port %q is neither a number from 1 to 65535 nor a known service", port)
	}
	return nil
}

var errListens = errors.New("that is where a server listens, not where others reach it")

// reachable: a name, or an address that is somewhere.
func reachable(host string) error {
	if host == "" {
		return errors.New("it has no host")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.WithZone("").Unmap().IsUnspecified() {
			return errListens
		}
		return nil
	}
	if strings.ContainsAny(host, "%/\\@?#[]<>\"") {
		return fmt.Errorf("%q is neither a name nor an IP address", host)
	}
	if strings.HasPrefix(host, "0") && strings.Trim(host, "0.xX") == "" { // an address to some resolvers
		return errListens
	}
	return nil
}

// isPort takes digits for a number, without a sign, and words for a service.
func isPort(port string) bool {
	digits := strings.Trim(port, "0123456789") == ""
	if !digits && !strings.ContainsFunc(port, unicode.IsLetter) {
		return false
	}
	n, err := net.LookupPort("tcp", port)
	return err == nil && n > 0 && port != ""
}
