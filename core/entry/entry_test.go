package entry_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

type token struct{}

func (token) CommitTS() time.Time { return time.Time{} }

// full has every field set; least has what Validate asks for and no more.
func full() *entry.RaceEntry {
	return &entry.RaceEntry{
		LeaderID:         `worker-7 "blue"`,
		HostPort:         []string{"192.0.2.7:7000", "[2001:db8::7]:7000"},
		TermExpiry:       time.Date(2031, 5, 6, 7, 8, 9, 123_456_789, time.UTC),
		TermLength:       15*time.Second + 1,
		SentBy:           time.Date(2031, 5, 6, 7, 7, 54, 0, time.UTC),
		ElectionNumber:   41,
		FencingToken:     1_935_904_089,
		Nonce:            "QZ3T5XW6",
		ConnectionParams: []byte{0, 1, 255},
		Checkpoint:       []byte("slot 7"),
		Held:             true,
	}
}

func least() *entry.RaceEntry {
	return &entry.RaceEntry{TermExpiry: time.Unix(0, 0).UTC(), TermLength: 1, Nonce: "n"}
}

func TestVacantAndAbsent(t *testing.T) {
	for _, tc := range []struct {
		e              entry.RaceEntry
		vacant, absent bool
	}{
		{*full(), false, false},
		{*least(), true, false},
		{entry.RaceEntry{ElectionNumber: entry.NoElections}, true, true},
	} {
		if tc.e.Vacant() != tc.vacant || tc.e.Absent() != tc.absent {
			t.Errorf("%+v: vacant %v, absent %v", tc.e, tc.e.Vacant(), tc.e.Absent())
		}
	}
}

// A clone has every field, and shares no memory that anybody could change.
func TestClone(t *testing.T) {
	e := full()
	e.Token = token{}
	v := reflect.ValueOf(*e)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("full() leaves %s out", v.Type().Field(i).Name)
		}
	}
	c := e.Clone()
	if !reflect.DeepEqual(c, *e) {
		t.Errorf("clone %+v, want %+v", c, *e)
	}
	c.HostPort[0], c.ConnectionParams[0], c.Checkpoint[0] = "changed", 'X', 'X'
	if want := full(); e.HostPort[0] != want.HostPort[0] || !bytes.Equal(e.ConnectionParams, want.ConnectionParams) || !bytes.Equal(e.Checkpoint, want.Checkpoint) {
		t.Errorf("a change to the clone changed the original: %+v", e)
	}
}
