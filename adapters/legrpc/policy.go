package legrpc

import (
	"encoding/json"

	"google.golang.org/grpc/balancer"
)

// errorsOfResolver tells whether the balancing policy that a service config names gives
// calls the resolver's error while it has one endpoint without addresses. Others
// may connect lazily, and keep calls waiting instead. No service config, or none that
// names a policy, means pick_first.
func errorsOfResolver(config []byte) bool {
	var named struct {
		Policy  string                       `json:"loadBalancingPolicy"`
		Configs []map[string]json.RawMessage `json:"loadBalancingConfig"`
	}
	if err := json.Unmarshal(config, &named); err != nil {
		return true // it is not used
	}
	policy := named.Policy
	for _, c := range named.Configs { // the first one that this program knows is used
		for name := range c {
			policy = name
		}
		if balancer.Get(policy) != nil {
			break
		}
	}
	switch policy {
	case "", "pick_first", "round_robin", "least_request_experimental":
		return true
	}
	return false
}
