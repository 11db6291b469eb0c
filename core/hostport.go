package core

import (
	"fmt"
	"net"
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
