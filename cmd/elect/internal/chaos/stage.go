package chaos

import (
	"fmt"
	"os"

	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/emulators/netfault"
	"github.com/cloudelect/cloudelect/emulators/s3"
)

// Stores are the names of the emulated stores, in the order in which elections are
// dealt to them.
func Stores() []string { return []string{"gcs", "s3", "dynamodb"} }

// stage is the emulators, and before each election a proxy of its own.
type stage struct {
	sites  []*site
	closes []func()
}

// site is where one election is kept.
type site struct {
	store   string
	url     string // as --store takes it
	environ []string
	proxy   *netfault.Proxy
}

const container = "elections" // the bucket, or the table

// setStage starts the emulators, and a proxy for each election.
func setStage(elections int) (*stage, error) {
	st := new(stage)
	roots := make(map[string]string)
	for _, store := range Stores() {
		root, end, err := emulate(store)
		if err != nil {
			st.close()
			return nil, err
		}
		roots[store] = root
		st.closes = append(st.closes, end)
	}
	for e := range elections {
		store := Stores()[e%len(Stores())]
		proxy, err := netfault.Listen(roots[store], nil)
		if err != nil {
			st.close()
			return nil, err
		}
		st.closes = append(st.closes, proxy.Close)
		st.sites = append(st.sites, newSite(store, e, proxy))
	}
	return st, nil
}

func emulate(store string) (root string, end func(), err error) {
	switch store {
	case "gcs":
		server, err := gcs.Start(&gcs.Options{Buckets: []string{container}})
		if err != nil {
			return "", nil, err
		}
		return server.URL(), server.Close, nil
	case "s3":
		server, err := s3.Start(&s3.Options{Buckets: []string{container}})
		if err != nil {
			return "", nil, err
		}
		return server.URL(), server.Close, nil
	}
	server, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{container: "election"}})
	if err != nil {
		return "", nil, err
	}
	return server.URL(), server.Close, nil
}

func newSite(store string, election int, proxy *netfault.Proxy) *site {
	s := &site{store: store, proxy: proxy}
	if store == "gcs" {
		s.url = fmt.Sprintf("gs://%s/chaos-%d", container, election)
		s.environ = []string{"STORAGE_EMULATOR_HOST=" + proxy.Endpoint()}
		return s
	}
	s.url = fmt.Sprintf("%s://%s/chaos-%d?region=us-east-1&endpoint=%s", store, container, election, proxy.URL())
	s.environ = []string{"AWS_ACCESS_KEY_ID=emulator", "AWS_SECRET_ACCESS_KEY=emulator",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "AWS_EC2_METADATA_DISABLED=true"}
	return s
}

// close ends the proxies before what is behind them.
func (st *stage) close() {
	for i := len(st.closes) - 1; i >= 0; i-- {
		st.closes[i]()
	}
}
