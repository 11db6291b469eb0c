package sim

import "time"

// Profile says what may happen in a run, and how often. A seed draws the rest.
// Rates per term are for every host and as of its own term.
type Profile struct {
	Name  string
	About string
	// Outside: the profile breaks an assumption of docs/SAFETY.md, and so
	// violations of Kind have to be seen within that many seeds.
	Outside bool
	Kind    string
	Within  int

	Hosts, Terms [2]int // least and most

	Rate     float64       // how fast or slow a host's clocks may be
	Offset   time.Duration // how far off a wall clock may be
	Agree    bool          // wall clocks agree within everybody's MaxClockSkew
	Clock    float64       // clock faults per term
	Pairs    float64       // faults of a host that follow another one as soon as they may
	Pauses   float64       // pauses of the process per term
	Cuts     float64       // cut connections per term
	Outages  float64       // times in which nobody reaches the store, per term
	Net      float64       // highest probability of each fault of a request
	Deaf     float64       // requests that ignore their context
	Untimely float64       // runs in which the store tells no time
	Patchy   float64       // runs in which some answers tell no time
	Short    float64       // hosts whose processes live for a moment
	Crash    float64       // lives that end without a word
	Stubborn float64       // leaders that never give up by themselves, and hosts that do not crash

	ClockProof bool // clock proofs may be used
	Delete     bool // the entry is deleted while nobody leads
	Corrupt    bool // the entry becomes unreadable, and an operator repairs it

	// Outside.
	BothFrozen, Twin, DeleteUnderLeader bool
}

// Profiles are all of them, by what they are about.
func Profiles() []Profile { return append(insideProfiles(), outsideProfiles()...) }

func insideProfiles() []Profile {
	return []Profile{
		{
			Name: "wild", About: "a little of everything",
			Hosts: [2]int{2, 6}, Terms: [2]int{10, 25}, Rate: 0.024, Offset: 24 * time.Hour,
			Clock: 0.15, Pairs: 0.2, Pauses: 0.06, Cuts: 0.06, Outages: 0.02, Net: 0.15, Deaf: 0.05,
			Untimely: 0.35, Patchy: 0.2, Short: 0.3, Crash: 0.5,
		}, {
			Name: "storm", About: "a network that loses, keeps, repeats and delays, and is gone at times",
			Hosts: [2]int{3, 8}, Terms: [2]int{10, 20}, Rate: 0.01, Offset: time.Hour,
			Clock: 0.03, Pauses: 0.05, Cuts: 0.15, Outages: 0.06, Net: 0.35, Deaf: 0.15,
			Untimely: 0.4, Patchy: 0.2, Short: 0.2, Crash: 0.4,
		}, {
			Name: "clocks", About: "hosts whose clocks are as wrong as they may be, on a good network",
			Hosts: [2]int{2, 4}, Terms: [2]int{15, 25}, Rate: 0.024, Offset: 24 * time.Hour,
			Clock: 0.5, Pairs: 0.6, Pauses: 0.1, Cuts: 0.25, Net: 0.02, Deaf: 0.02,
			Untimely: 0.5, Patchy: 0.2, Short: 0.2, Crash: 0.2, Stubborn: 0.6,
		}, {
			Name: "walls", About: "clock proofs, between wall clocks that agree within MaxClockSkew",
			Hosts: [2]int{2, 6}, Terms: [2]int{10, 25}, Rate: 0.0005, Agree: true, ClockProof: true,
			Clock: 0.1, Pauses: 0.08, Cuts: 0.1, Outages: 0.02, Net: 0.1, Deaf: 0.05,
			Untimely: 0.7, Patchy: 0.2, Short: 0.5, Crash: 0.5, Stubborn: 0.3,
		}, {
			Name: "vandal", About: "entries are deleted while nobody leads, and corrupted at any time",
			Hosts: [2]int{2, 6}, Terms: [2]int{12, 25}, Rate: 0.024, Offset: 24 * time.Hour,
			Clock: 0.08, Pauses: 0.04, Cuts: 0.05, Net: 0.08, Deaf: 0.03,
			Patchy: 0.2, Short: 0.3, Crash: 0.5, Delete: true, Corrupt: true,
		}, {
			Name: "fleeting", About: "processes that live for a moment, some of which remember",
			Hosts: [2]int{3, 8}, Terms: [2]int{10, 20}, Rate: 0.024, Offset: 24 * time.Hour,
			Clock: 0.05, Pauses: 0.1, Cuts: 0.05, Outages: 0.02, Net: 0.1, Deaf: 0.08,
			Untimely: 0.2, Patchy: 0.2, Short: 0.9, Crash: 0.6,
		},
	}
}

// outsideProfiles break one assumption each. What they do besides is as calm as
// can be, so that what is seen comes from that one.
func outsideProfiles() []Profile {
	calm := Profile{
		Outside: true, Kind: twoLeaders, Within: 200,
		Hosts: [2]int{2, 4}, Terms: [2]int{10, 20}, Rate: 0.001,
		Cuts: 0.25, Net: 0.02, Untimely: 1, Crash: 0.1, Stubborn: 0.8,
	}
	with := func(name, about string, change func(*Profile)) Profile {
		p := calm
		p.Name, p.About = name, about
		change(&p)
		return p
	}
	return []Profile{
		with("out-rate", "clocks that are 5 % fast or slow", func(p *Profile) { p.Rate = 0.05 }),
		with("out-frozen", "both clocks of a host freeze at once", func(p *Profile) { p.BothFrozen, p.Clock = true, 0.2 }),
		with("out-twin", "two that live at the same time have one LeaderID, and Reclaim", func(p *Profile) { p.Twin = true }),
		with("out-deletion", "the entry is deleted under its leader, and a fresh process comes by", func(p *Profile) {
			p.DeleteUnderLeader, p.Short, p.Hosts = true, 0.5, [2]int{3, 5}
		}),
		with("out-walls", "clock proofs between wall clocks that are minutes apart", func(p *Profile) {
			p.ClockProof, p.Offset = true, 10*time.Minute
		}),
	}
}

func profileNamed(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}
