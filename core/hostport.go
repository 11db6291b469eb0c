package core

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"unicode"
)

// SelfHostPorts returns this host's global unicast addresses joined with port
// (a number or a service's name), in a form that fits Config.HostPort. It is
// an error if the port is not one, or if the host has no such address.
func SelfHostPorts(port string) ([]string, error) {
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return nil, fmt.Errorf("%w: port %q is neither a number nor a known service", ErrInvalidConfig, port)
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("core: cannot list this host's addresses: %w", err)
	}
	var found []string
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			found = append(found, net.JoinHostPort(n.IP.String(), port))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("core: this host has no global unicast address to be reached at with port %s", port)
	}
	return found, nil
}

// ValidateHostPort tells whether others can be told to reach a server at hostPort: nil
// for a host, as a name or an address, and a port, as a number or a known service's
// name. An error says in words what is wrong, like an address that means every address of
// a host and is where a server listens; it asks no resolver.
func ValidateHostPort(hostPort string) error {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		if wrong := new(net.AddrError); errors.As(err, &wrong) {
			return fmt.Errorf("not host:port: %s", wrong.Err)
		}
		return err
	}
	if strings.ContainsFunc(hostPort, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
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
