package gcsdecider

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"

	"cloud.google.com/go/storage"
	"google.golang.org/api/option"
	"google.golang.org/api/option/internaloption"
	htransport "google.golang.org/api/transport/http"
)

// emulatorVar names the emulator that storage.NewClient obeys too.
const emulatorVar = "STORAGE_EMULATOR_HOST"

// NewClient returns a client like storage.NewClient's, with the credentials
// and the endpoint that storage.NewClient would take from opts and the
// environment (STORAGE_EMULATOR_HOST included), and with three differences:
//
//   - Its transport notes the Date of every answer that a Decider waits for, so
//     that elections can judge terms by the store's own clock (Token.StoreDate).
//   - After a request that was not answered the next one is sent on another
//     connection: with HTTP/2 a dead one would be used until a ping finds out.
//   - It reads through the JSON API, as it writes, unless opts say otherwise.
//
// The caller closes it. A Decider works with any other HTTP client as well, only
// without the store's time.
func NewClient(ctx context.Context, opts ...option.ClientOption) (*storage.Client, error) {
	forTransport := transportOptions(opts)
	// Looking for credentials may ask a metadata server: once is enough. Without
	// any, hc below is the caller's own client, or an error.
	if creds, err := internaloption.AuthCreds(ctx, forTransport); err == nil && creds != nil {
		forTransport = append(forTransport, option.WithAuthCredentials(creds))
		opts = append(slices.Clip(opts), option.WithAuthCredentials(creds))
	}
	hc, _, err := htransport.NewClient(ctx, forTransport...)
	if err != nil {
		return nil, fmt.Errorf("gcsdecider: new client: %w: see to the credentials and the options", err)
	}
	dated := *hc // the caller's own, perhaps, which stays as it is
	dated.Transport = &dateTransport{base: hc.Transport, again: anotherLike(context.WithoutCancel(ctx), hc, forTransport)}

	all := append([]option.ClientOption{storage.WithJSONReads()}, opts...)
	// These are in hc's transport by now, and refused beside an HTTP client.
	all = append(all, option.WithQuotaProject(""), option.WithRequestReason(""), option.WithClientCertSource(nil),
		option.WithHTTPClient(&dated))
	client, err := storage.NewClient(ctx, all...)
	if err != nil {
		return nil, fmt.Errorf("gcsdecider: new client: %w: see to the options and %s", err, emulatorVar)
	}
	return client, nil
}

// transportOptions are opts over the defaults that storage.NewClient gives to
// its own transport. A client that is made with an HTTP client of its own has
// no credentials but that one's, so they must be put in here.
func transportOptions(opts []option.ClientOption) []option.ClientOption {
	if os.Getenv(emulatorVar) != "" {
		// An emulator is never sent credentials, not even those in opts.
		return append([]option.ClientOption{
			option.WithoutAuthentication(), internaloption.SkipDialSettingsValidation(),
		}, opts...)
	}
	all := append([]option.ClientOption{
		option.WithScopes(storage.ScopeFullControl, "https://www.googleapis.com/auth/cloud-platform"),
		option.WithUserAgent("cloudelect-gcsdecider"),
	}, opts...)
	return append(all,
		internaloption.WithDefaultEndpointTemplate("https://storage.UNIVERSE_DOMAIN/storage/v1/"),
		internaloption.WithDefaultMTLSEndpoint("https://storage.mtls.googleapis.com/storage/v1/"),
		internaloption.WithDefaultUniverseDomain("googleapis.com"),
		internaloption.EnableNewAuthLibrary(),
	)
}

// anotherLike returns what makes a transport as hc's was made, without its connections.
func anotherLike(ctx context.Context, hc *http.Client, opts []option.ClientOption) func() http.RoundTripper {
	return func() http.RoundTripper {
		another, _, err := htransport.NewClient(ctx, opts...)
		if err != nil || another == hc { // the caller's own client is the only one of its kind
			return nil
		}
		return another.Transport
	}
}
