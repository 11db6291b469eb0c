package s3decider

import (
	"net/http"
	"testing"
	"time"
)

// FuzzStoreDate: whatever a store, or a proxy before it, puts into its headers, a date
// is whole seconds in UTC that an entry's times can be reckoned from, and an answer with
// an Age has none. A Date is a lower bound of the store's clock, and by no more than a
// second: so it is what was written, cut off to seconds, or it is none. What was found
// once is in testdata.
func FuzzStoreDate(f *testing.F) {
	for _, date := range []string{
		"Tue, 06 May 2031 07:08:09 GMT", "Tuesday, 06-May-31 07:08:09 GMT", "Tue May  6 07:08:09 2031", "", "yesterday", "0", "1893456000",
		"2031-05-06T07:08:09Z", "Tue, 06 May 2031 07:08:09 PST", "Tuesday, 06-May-31 07:08:09 UTC",
		"Mon, 01 Jan 0001 00:00:00 GMT",
		"Sun, 30 Feb 2031 07:08:09 GMT", "Tue, 06 May 2031 23:59:60 GMT",
	} {
		f.Add(date, "", false)
		f.Add(date, "0", true)
	}
	f.Fuzz(func(t *testing.T, date, age string, cached bool) {
		h := http.Header{"Date": {date}}
		if cached {
			h.Set("Age", age)
		}
		got := storeDate(h)
		switch {
		case got.IsZero():
			return
		case cached:
			t.Fatalf("Date %q with Age %q is %v: it is the past", date, age, got)
		case got.Location() != time.UTC || got.Nanosecond() != 0:
			t.Fatalf("Date %q is %v: not whole seconds in UTC", date, got)
		case got.Year() < 1970 || got.Add(time.Second).Year() > 9999:
			t.Fatalf("Date %q is %v: no entry can carry times that are reckoned from it", date, got)
		}
		said, err := http.ParseTime(date)
		if behind := said.Sub(got); err != nil || behind < 0 || behind >= time.Second {
			t.Fatalf("Date %q is %v, and says %v (%v)", date, got, said, err)
		}
		again := storeDate(http.Header{"Date": {got.Format(http.TimeFormat)}})
		if !again.Equal(got) {
			t.Fatalf("Date %q is %v, which written again is %v", date, got, again)
		}
	})
}
