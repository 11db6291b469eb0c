/*
 * The election of docs/SAFETY.md as a Promela model, for spin to search exhaustively.
 * `go run ./core/internal/model/cmd` runs it, and every mutant and trap in it.
 *
 * It is about the protocol of core: who may overwrite the entry and when, who leads
 * until when, and what an unanswered write means. Go code, SDKs and JSON are not in it.
 *
 * TIME. True time is discrete. A tick is T/40, but a term has 1 to 3 ticks and not 40, or there
 * would be too much to search: next to the term the margins are large, to each other they are right:
 *
 *     HALF = 1    T/40: a clock that is slow by 1/41 (2.4 %) lets a leader hold on for
 *                 T + HALF, one that is fast lets an observer wait HALF less
 *     MARGIN = 2  T/20, the rate margin in core/proof.go
 *     SKEW = 1    MaxClockSkew; the store margin is max(MARGIN, HALF + SKEW)
 *
 * Nothing has to happen at any moment: a process may be silent for any number of ticks
 * (it is stopped, descheduled, or waits), and so may a message. Therefore whoever may act
 * at some time may also act later, and only the EARLIEST time at which a proof can hold and
 * the LATEST until which a leader can believe have to be modelled. So every leader is
 * slow (T + HALF), every observer fast (T + MARGIN - HALF), every Date that a leader had is
 * as low and every Date that a candidate gets as high as servers SKEW apart can make it, and
 * every SentBy as early as it can be. Renewals, polls and time-outs come at any time.
 * No time is stored, only ages and remainders, which saturate; so runs have any length.
 *
 * CLOCKS. A host has a monotonic and a wall clock, and looks at both in each tick. In each
 * tick one of them, another one each time, may stand still or (wall) be set back or forward;
 * with CATCHUP the monotonic one may make up at once for what it has missed. A leader adds
 * up the larger steps (elapsed), an observer the smaller ones (sure). Looking in every tick
 * stands for core's look at least every TermLength/8. A process that is stopped for longer
 * does not look, which makes a difference only if one clock and then the other stops
 * meanwhile: that is outside (SAFETY.md), and here.
 * What a wall clock SHOWS matters to the proof clock alone: the switch CLOCK below.
 *
 * THE STORE holds one version. A write carries the version it builds on; the store applies
 * it if that is current. Requests and answers may be lost and late without bound (a write
 * lands long after its sender has given up, crashed, won, lost), and a write may arrive twice:
 * then "lost" may be the answer to one that was stored. A "lost" that brings the current
 * entry is settled like a read, and modelled as one. Reads are linearizable.
 *
 * NONCES are the numbers of the slots in w[]. A slot is free again when neither the store nor
 * a host nor the network knows its nonce any more, so there are always fresh ones, up to SLOTS
 * in use at once: who finds no free slot does not write. That and N are the bounds of the search;
 * a run may have any number of writes, reigns and ticks.
 *
 * FENCING TOKENS are kept relative to the stored one, which is TOP. ElectionNumber is not
 * kept: it counts the links of the chain, which is asserted to be one where a write is applied.
 *
 * LEFT OUT: deletion of the entry, MinHold and Held, content that is no entry (each only closes
 * the election, or is outside the promises); Checkpoint; broken; ManualRenew and Wake (any
 * time is a time to renew or read here); TryAcquire (a campaign that leaves). The fenced resource
 * itself: it compares tokens, so it refuses the past if tokens rise, which is asserted.
 *
 * WHERE IT ALLOWS MORE THAN core DOES (what holds here holds there): attempts without a read in
 * between, renewals at any time, a vacant entry over any ended reign of one's own, proofs at the
 * earliest. WHERE IT ALLOWS LESS: clocks are looked at in every tick, a clock proof's wall clocks
 * do not drift, observations and Dates are whole ticks, SLOTS.
 *
 * WHAT IS CLAIMED (CLAIM below): one leader at a time; no reign outlasts its term; tokens rise; versions
 * are a chain; nobody believes in a win or a renewal that was not stored; the vacant entry comes after the
 * work; nobody is told of a loss, or replaced, within its term; with LIVE, two terms after the last fault
 * somebody has led. The last is a search for bad states too, not a formula over infinite runs.
 *
 * SWITCHES, each -DNAME or -DNAME=value:
 *   N       candidates                        SLOTS   nonces in use at once
 *   TERM_A  term of the first candidate       TERM_B  term of the others
 *   DATES   0: the store never tells its time, 1: always, 2: any answer may lack it
 *   CLOCK   0: NoClockProof; 1: wall clocks agree within SKEW and only the monotonic clock fails;
 *           2: wall clocks show anything
 *   RECLAIM   Config.Reclaim is set everywhere    CATCHUP  see CLOCKS
 *   LIVE      search for runs without a leader after the faults have ended
 *   OUT_...   something that docs/SAFETY.md calls outside; two leaders must be found
 *   MUT_...   a fault in the protocol; a violation must be found
 *   LEADERS_ONLY do not stop at a reign that outlasts its term or is lost within it, but at the second leader
 *   KEEP_NUMBERS do not renumber nonces and hosts: for counterexamples that people read
 *   REACH_... a trap: an assertion that says that something never happens; it must fail
 */

#ifndef N
#define N 2
#endif
#ifndef SLOTS
#define SLOTS 3
#endif
#ifndef TERM_A
#define TERM_A 2
#endif
#ifndef TERM_B
#define TERM_B 2
#endif
#ifndef SKEW
#define SKEW 1
#endif
#ifndef DATES
#define DATES 1
#endif
#ifndef CLOCK
#define CLOCK 0
#endif

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define LESS(a, b) ((a) > (b) -> (a) - (b) : 0)   /* a - b, not below 0 */

#if defined(LIVE)   /* clocks are right, and a fast observer is no help */
#define HALF 0
#elif defined(OUT_RATE)     /* clocks are fast and slow by 5 %, not 2.4 % */
#define HALF 2
#else
#define HALF 1
#endif
#ifdef MUT_NO_MARGIN
#define MARGIN 0
#define STORE_MARGIN 0
#else
#define MARGIN 2
#ifdef MUT_STORE_MARGIN  /* max(T/20, MaxClockSkew), as before ADR 0010 */
#define STORE_MARGIN MAX(MARGIN, SKEW)
#else
#define STORE_MARGIN MAX(MARGIN, 1 + SKEW)
#endif
#endif

#define TERM(i)  ((i) == 0 -> TERM_A : TERM_B)
#define HOLDS(i) (TERM(i) + HALF)                           /* a leader's term in true ticks, at most */

/* What the proofs ask for, in ticks at least. The term is the one of the version's writer. */
#ifdef MUT_OWN_TERM
#define OBSERVE(i, s) (TERM(i) + MARGIN - HALF)
#else
#define OBSERVE(i, s) (TERM(w[s].by - 1) + MARGIN - HALF)
#endif
#define OVER_BY_STORE(s) (TERM(w[s].by - 1) + STORE_MARGIN - SKEW)
#define OVER_BY_WALL(i, s) (TERM(w[s].by - 1) + SKEW + wall[w[s].by - 1] + 1 - wall[i])
#define OLD(s) MAX(OVER_BY_STORE(s), HOLDS(w[s].by - 1) + 2 * SKEW * (CLOCK == 1)) /* where ages saturate */

/* Lags of both clocks since the last Date: these mutants measure by one of them, or from end to end. */
#if defined(MUT_SENTBY_MONO) || defined(MUT_SENTBY_ENDS)
#define TRACK
#endif

/* Mutants under which it matters what is old. */
#if defined(MUT_NO_PRECONDITION) || defined(MUT_NO_READ_BACK) || defined(MUT_NONCE_NOT_COMPARED)
#define EXACT
#elif defined(MUT_OBSERVATION_GOES_ON) || defined(MUT_OBSERVATION_BY_LEADER) || defined(MUT_NEWEST_SENT)
#define EXACT
#endif

#define NOBODY SLOTS    /* in place of a slot: none known */
#define TOP 3           /* the fencing token that is stored */
#define LONG 7          /* a jump of a clock that is longer than any term */

/* A write, and the version that it makes if it is stored. */
#define FREE 0
#define NOTHING 1       /* nothing was ever stored: the version all begins with */
#define WIN 2
#define RENEW 3
#define VACATE 4
typedef Write {
	unsigned kind : 3;
	unsigned by : 2;     /* the host that sent it, + 1 */
	unsigned base : 3;   /* the version that it builds on, while it is on its way */
	unsigned age : 3;    /* ticks since it was sent */
	unsigned left : 3;   /* what its sender's clocks leave of the term it grants; while tried */
	unsigned tok : 3;    /* its fencing token, + TOP - the stored one */
	unsigned flying : 1; /* it may still arrive */
	unsigned tried : 1;  /* its sender does not know whether it was stored */
	unsigned ended : 1;  /* its sender knows: of a reign of mine that is over */
	unsigned stored : 1; /* for the assertions: it was applied */
	unsigned dated : 1;  /* it has a SentBy */
	unsigned low : 2     /* by how much its SentBy is too low: 0 unless mutated */
};
Write w[SLOTS];
byte cur;        /* the store: the current version */
byte high;       /* for the assertions: the highest token of any reign that began */

/* The hosts. */
#define SEEK 0     /* campaigns, or does nothing */
#define LEAD 1     /* the reign lasts: Check passes */
#define OVER 2     /* the reign is over for good, the context is cancelled, the work is still stopping */
#define STOPPED 3  /* the work has stopped, the vacant entry may be written */
typedef Host {
	unsigned phase : 2;
	unsigned wait : 3;     /* the write whose answer it waits for, or NOBODY */
	unsigned known : 3;    /* the version it has last seen, or NOBODY; in a reign: its own, confirmed */
	unsigned seen : 3;     /* for how long it has seen that, by the smaller steps */
	unsigned past : 1;     /* the Date of the last look proves the term over */
	unsigned left : 3;     /* of the reign, by the larger steps */
#if DATES == 2
	unsigned told : 1;     /* some answer had a Date */
	unsigned date : 1;     /* the last look had one */
#endif
#ifdef CATCHUP
	unsigned behind : 2;   /* what the monotonic clock has missed */
#endif
#ifdef TRACK
	unsigned mlag : 1;     /* since the last Date: whether the monotonic clock has missed anything, */
	unsigned wlag : 1;     /* and the wall clock */
#endif
#ifdef MUT_OBSERVED_FROM_REQUEST
	unsigned asked : 3;    /* how long ago a read was sent, + 1; 0: none was */
#endif
#ifdef REACH
	unsigned proof : 3;    /* of the last attempt */
#endif
	unsigned unused : 1
};
Host h[N];
#if CLOCK == 1
byte wall[N];    /* by how much a wall clock is ahead: 0 to SKEW */
#endif
#ifdef LIVE
byte calm;       /* 0: faults; else 1 + the ticks since they ended */
#define FAULTS (calm == 0)
#else
#define FAULTS true
#endif

byte j, k, x, y, v;  /* scratch; 0 between steps */

#define CLAIM(cond, text) if :: cond :: else -> printf(text); assert(false) fi
#define TRAP(cond, text) CLAIM(!(cond), text)

#if SLOTS == 3
#define SOME(p) (p(0) || p(1) || p(2))
#elif SLOTS == 4
#define SOME(p) (p(0) || p(1) || p(2) || p(3))
#elif SLOTS == 5
#define SOME(p) (p(0) || p(1) || p(2) || p(3) || p(4))
#elif SLOTS == 6
#define SOME(p) (p(0) || p(1) || p(2) || p(3) || p(4) || p(5))
#endif
#define TRIED_0(s) (w[s].tried && w[s].by == 1)
#define TRIED_1(s) (w[s].tried && w[s].by == 2)
#define TRIED_2(s) (w[s].tried && w[s].by == 3)
/* Host i has sent something whose fate it does not know. */
#define UNKNOWN(i) (i == 0 -> SOME(TRIED_0) : (i == 1 -> SOME(TRIED_1) : SOME(TRIED_2)))

#define VACANT(s) (w[s].kind == VACATE || w[s].kind == NOTHING)
#define MINE(i, s) (w[s].by == i + 1)

/* By how much a SentBy of host i is too low. */
#ifdef MUT_NO_SECOND           /* the Date was cut off by up to a second, and nothing makes up for it */
#define LOW(i) 1
#elif defined(MUT_SENTBY_MONO) /* elapsed since the Date by the monotonic clock */
#define LOW(i) h[i].mlag
#elif defined(MUT_SENTBY_ENDS) /* by the larger of both clocks from end to end, as before ADR 0003 */
#define LOW(i) MIN(h[i].mlag, h[i].wlag)
#else
#define LOW(i) 0
#endif

/* The five proofs, of host i about the version it knows, which is not NOBODY. */
#define by_vacant(i) VACANT(h[i].known)
#ifdef OUT_TWIN      /* all bear one LeaderID, and Reclaim is set */
#define by_reclaim(i) 1
#else
#ifdef RECLAIM
#define by_reclaim(i) MINE(i, h[i].known)
#else
#define by_reclaim(i) (MINE(i, h[i].known) && w[h[i].known].ended)
#endif
#endif
#define by_store(i) h[i].past
#ifdef MUT_NEVER_OBSERVES
#define by_observing(i) 0
#else
#define by_observing(i) (h[i].seen >= OBSERVE(i, h[i].known))
#endif
#if DATES == 0
#define judged(i) 0
#elif DATES == 1
#define judged(i) 1
#else
#define judged(i) (h[i].date && w[h[i].known].dated)
#endif
#ifdef MUT_CLOCK_OVERRULES
#define may_use_clock(i) 1
#else
#define may_use_clock(i) !judged(i)
#endif
#if CLOCK == 0
#define by_clock(i) 0
#elif CLOCK == 1     /* core also asks for a Date past TermExpiry, if it ever saw one: that is left out, which allows more */
#define by_clock(i) (may_use_clock(i) && w[h[i].known].age >= OVER_BY_WALL(i, h[i].known))
#else
#define by_clock(i) may_use_clock(i)
#endif
#define PROOF(i) (by_vacant(i) || by_reclaim(i) || by_store(i) || by_observing(i) || by_clock(i))

#ifdef REACH
#define note_proof(i) h[i].proof = (by_vacant(i) -> 1 : (by_reclaim(i) -> 2 : (by_store(i) -> 3 : (by_observing(i) -> 4 : 5))))
#else
#define note_proof(i) skip
#endif

/*
 * Puts the state into the one form that all states share which cannot be told apart. This is no
 * part of the protocol, it makes the search small, and is in C because it runs after every step.
 */
c_code {
static int c_vacant(int s) { return now.w[s].kind == VACATE || now.w[s].kind == NOTHING; }

static int c_unknown(int i)
{
	for (int s = 0; s < SLOTS; s++)
		if (now.w[s].tried && now.w[s].by == i + 1)
			return 1;
	return 0;
}

/* What is of no consequence any more is forgotten. */
static void c_forget(void)
{
#ifndef MUT_NO_PRECONDITION
	for (int s = 0; s < SLOTS; s++)
		if (now.w[s].flying && now.w[s].base != now.cur)
			now.w[s].flying = 0; /* it can only be refused */
#endif
#ifndef EXACT
	for (int s = 0; s < SLOTS; s++) {
		int i = now.w[s].by - 1;
		if (now.w[s].tried && !now.w[s].flying && now.cur != s && !(now.h[i].wait == s && now.w[s].stored)) {
			now.w[s].tried = 0;  /* nobody will ever be told of it */
			if (now.h[i].wait == s)
				now.h[i].wait = NOBODY;
		}
	}
	for (int i = 0; i < N; i++)
		if (now.h[i].phase == SEEK && now.h[i].known != now.cur && !c_unknown(i))
			now.h[i].known = NOBODY; /* who knows an old version only cannot do any more */
#endif
	for (int s = 0; s < SLOTS; s++) {
		int used = now.cur == s || now.w[s].flying, dated = used;
		for (int i = 0; i < N; i++) {
			used = used || now.h[i].known == s || now.h[i].wait == s;
			dated = dated || now.h[i].known == s && now.h[i].phase == LEAD;
		}
		used = used || now.w[s].tried;
		if (!used)
			now.w[s].kind = now.w[s].by = now.w[s].ended = 0;
		if (!dated && !now.w[s].tried)
			now.w[s].tok = 0;
		if (!dated || c_vacant(s))
			now.w[s].age = now.w[s].low = now.w[s].dated = 0;
#ifdef MUT_NONCES_PER_PROCESS
		if (!used)
#else
		if (!now.w[s].tried || c_vacant(s))
#endif
			now.w[s].left = 0;
		if (!now.w[s].tried)
			now.w[s].stored = 0;
		if (!now.w[s].flying)
			now.w[s].base = 0;
	}
	for (int i = 0; i < N; i++) {
		int s = now.h[i].known;
		if (now.h[i].phase != SEEK || s == NOBODY || c_vacant(s) || now.w[s].by == i + 1 && now.w[s].ended) {
			now.h[i].seen = now.h[i].past = 0; /* it needs no observation */
#if DATES == 2
			now.h[i].date = 0;
#endif
		}
		if (now.h[i].phase != LEAD)
			now.h[i].left = 0;
	}
	now.j = now.k = now.x = now.y = now.v = 0;
}

/* Which number a nonce or a host has is of no consequence either: of all numberings the one whose
   state is the smallest, byte for byte, stands for all. */
typedef struct { struct Write w[SLOTS]; struct Host h[N]; unsigned char cur; } Form;

static void c_renumber(Form *f, const int host[N])
{
	unsigned long long key[SLOTS];
	int order[SLOTS], to[SLOTS + 1];
	for (int s = 0; s < SLOTS; s++) {
		struct Write *o = &now.w[s];
		unsigned long long refs = now.cur == s;
		for (int i = 0; i < N; i++)
			refs = refs << 2 | (now.h[host[i]].known == s) << 1 | now.h[host[i]].wait == s;
		int by = 0;
		for (int i = 0; i < N; i++)
			if (o->by == host[i] + 1)
				by = i + 1;
		key[s] = ((((((((((refs << 3 | o->kind) << 3 | by) << 3 | o->age) << 3 | o->left) << 3 | o->tok) << 1 | o->flying) << 1 | o->tried)
			<< 1 | o->ended) << 1 | o->stored) << 1 | o->dated) << 2 | o->low;
		int at = s;
		while (at > 0 && key[order[at - 1]] < key[s]) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = s;
	}
	memset(f, 0, sizeof *f);
	to[NOBODY] = NOBODY;
	for (int s = 0; s < SLOTS; s++)
		to[order[s]] = s;
	for (int s = 0; s < SLOTS; s++) {
		f->w[s] = now.w[order[s]];
		f->w[s].base = f->w[s].flying ? to[f->w[s].base] : 0;
		for (int i = 0; i < N; i++)
			if (now.w[order[s]].by == host[i] + 1)
				f->w[s].by = i + 1;
	}
	for (int i = 0; i < N; i++) {
		f->h[i] = now.h[host[i]];
		f->h[i].known = to[f->h[i].known];
		f->h[i].wait = to[f->h[i].wait];
	}
	f->cur = to[now.cur];
}

static void c_tidy(void)
{
	c_forget();
#ifndef KEEP_NUMBERS
	Form best, other;
	int same[] = {0, 1, 2};
	c_renumber(&best, same);
#if TERM_A == TERM_B && CLOCK != 1
	static const int hosts[][3] = {{1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	for (int n = 0; n < (N == 2 ? 1 : 5); n++) {
		c_renumber(&other, hosts[n]);
		if (memcmp(&other, &best, sizeof best) < 0)
			best = other;
	}
#endif
	memcpy(now.w, best.w, sizeof best.w);
	memcpy(now.h, best.h, sizeof best.h);
	now.cur = best.cur;
#endif
}
}

inline tidy() {
	c_code { c_tidy(); }
}

/* Sends a write of that kind on top of what host i knows, if a nonce is free. */
inline send(i, what) {
	x = SLOTS;
	for (j : 0 .. SLOTS - 1) {
		if
		:: x == SLOTS && w[j].kind == FREE -> x = j
		:: else
		fi
	}
	if
	:: x == SLOTS
	:: else ->
		printf("host %d sends it: nonce %d, on top of %d\n", i, x, h[i].known);
		w[x].kind = what;
		w[x].by = i + 1;
		w[x].base = h[i].known;
		w[x].age = 0;
		w[x].left = HOLDS(i);
		w[x].tok = w[h[i].known].tok + (what == WIN);
		w[x].flying = 1;
		w[x].tried = 1;
		w[x].ended = (what == VACATE);
		w[x].stored = 0;
#if DATES == 0
		w[x].dated = 0;
#elif DATES == 1
		w[x].dated = 1;
#else
		w[x].dated = h[i].told;
#endif
		w[x].low = LOW(i);
		h[i].wait = x
	fi
}

/* Forgets the unanswered writes of host i: whatever becomes of them, they are of an ended reign. */
inline forget(i, but) {
	for (j : 0 .. SLOTS - 1) {
		if
		:: w[j].tried && MINE(i, j) && j != but -> w[j].tried = 0; w[j].ended = 1
		:: else
		fi
	}
}

/* Ends the reign of host i, for good. */
inline end(i) {
	h[i].phase = OVER;
	w[h[i].known].ended = 1;
	for (j : 0 .. SLOTS - 1) {
		if
		:: w[j].tried && MINE(i, j) -> w[j].ended = 1
		:: else
		fi
	}
}

/* Host i leads from now on, by version s. This is the only way into LEAD. */
inline begin(i, s) {
	CLAIM(w[s].tok > high, "violated: a fencing token that does not rise\n");
	high = w[s].tok;
	h[i].phase = LEAD;
	h[i].left = w[s].left;
	printf("host %d leads\n", i);
	for (k : 0 .. N - 1) {
		CLAIM(k == i || h[k].phase != LEAD, "violated: two leaders\n")
	}
#ifdef REACH_VACANT
	TRAP(h[i].proof == 1, "reached: a win by vacant\n");
#endif
#ifdef REACH_RECLAIMED
	TRAP(h[i].proof == 2, "reached: a win by reclaimed\n");
#endif
#ifdef REACH_STORE_TIME
	TRAP(h[i].proof == 3, "reached: a win by store-time\n");
#endif
#ifdef REACH_OBSERVED
	TRAP(h[i].proof == 4, "reached: a win by observed\n");
#endif
#ifdef REACH_CLOCK
	TRAP(h[i].proof == 5, "reached: a win by clock\n");
#endif
}

/* The write s of host i is known to be stored. */
inline confirm(i, s) {
	CLAIM(w[s].stored, "violated: believed before it was confirmed\n");
	h[i].known = s;
	if
	:: h[i].phase == SEEK ->
		forget(i, s);
		if
		:: w[s].left > 0 -> begin(i, s)
		:: else -> w[s].ended = 1; printf("host %d has won a term that is over\n", i)
		fi
	:: else ->
#ifdef MUT_NEWEST_SENT
		x = 0;
		for (j : 0 .. SLOTS - 1) {
			x = (w[j].tried && MINE(i, j) -> MAX(x, w[j].left) : x)
		}
		w[s].left = x;
#endif
		for (j : 0 .. SLOTS - 1) {  /* the others built on what is no more */
			w[j].tried = w[j].tried && !MINE(i, j) || j == s
		}
		if
		:: w[s].kind == VACATE ->
			h[i].phase = SEEK;
			printf("host %d has resigned\n", i);
#ifdef REACH_RESIGNED
			TRAP(true, "reached: a resignation\n")
#endif
		:: else ->
			if
			:: h[i].phase == LEAD ->
				h[i].left = MAX(h[i].left, w[s].left);
				printf("host %d has renewed\n", i)
			:: else ->
				w[s].ended = 1;
				printf("host %d has renewed too late\n", i);
#ifdef MUT_LATE_CONFIRMATION
				if
				:: w[s].left > 0 -> begin(i, s)
				:: else
				fi
#endif
			fi
		fi
	fi;
	w[s].tried = 0
}

/* Another version than any of its own is known to be stored. */
inline replaced(i) {
	if
	:: h[i].phase == LEAD ->
		printf("host %d is told that it was replaced\n", i);
#ifdef REACH_LOSS
		TRAP(true, "reached: a proved loss within the term\n");
#elif !defined(LEADERS_ONLY)
		CLAIM(false, "violated: a reign that was told lost within its term\n");
#endif
	:: h[i].phase > LEAD ->
		printf("host %d finds that it was replaced\n", i);
#ifdef REACH_LATE_LOSS
		TRAP(true, "reached: a proved loss after the term\n");
#endif
	:: else
	fi;
	h[i].phase = SEEK;
	forget(i, NOBODY)
}

/* What the store shows is compared with what host i has sent: the nonce decides. */
inline settle(i, s) {
	if
	:: w[s].tried && MINE(i, s) ->
#ifdef REACH_ADOPTED_WIN
		TRAP(h[i].phase == SEEK && w[s].left > 0, "reached: a win whose answer was lost\n");
#endif
#ifdef REACH_ADOPTED_RENEWAL
		TRAP(h[i].phase == LEAD, "reached: a renewal whose answer was lost\n");
#endif
#ifdef REACH_EXPIRED_WIN
		TRAP(w[s].kind == WIN && w[s].left == 0, "reached: a win that was confirmed too late\n");
#endif
		confirm(i, s)
	:: else ->
		if
#ifdef MUT_NONCES_PER_PROCESS
		:: h[i].phase == SEEK && MINE(i, s) && w[s].ended && w[s].left > 0 && !VACANT(s) ->
			h[i].known = s;
			begin(i, s)
#endif
		:: s == h[i].known -> skip      /* not yet: it may still arrive */
		:: else ->
			replaced(i);
#if defined(MUT_OBSERVATION_GOES_ON)
			h[i].seen = (h[i].known == NOBODY -> 0 : h[i].seen);
#elif defined(MUT_OBSERVATION_BY_LEADER)
			h[i].seen = (h[i].known == NOBODY || w[h[i].known].by != w[s].by -> 0 : h[i].seen);
#elif defined(MUT_OBSERVED_FROM_REQUEST)
			h[i].seen = h[i].asked - 1;
#else
			h[i].seen = 0;
#endif
			h[i].known = s
		fi
	fi
}

/* Host i looks at the store. The answer to a read and a "lost" that brings the current entry are
   the same. An answer that is late lets it do nothing that it could not do if it had come at once and
   the host had been silent, so it comes at once. */
inline look(i, with_date) {
	printf("host %d looks and sees nonce %d\n", i, cur);
	settle(i, cur);
	h[i].past = with_date && w[cur].dated && !VACANT(cur) && w[cur].age + w[cur].low >= OVER_BY_STORE(cur);
#if DATES == 2
	h[i].date = with_date;
	h[i].told = h[i].told || with_date;
#endif
#ifdef TRACK
	h[i].mlag = 0;
	h[i].wlag = 0;
#endif
#ifdef MUT_OBSERVED_FROM_REQUEST
	h[i].asked = 0
#endif
}

/* How the two clocks of a host move in a tick: both are right, one stands still (or is set back, or
   stops a little and goes on: whatever it then misses), both do. */
#define RIGHT 0
#define MONO_STOPS 1
#define WALL_STOPS 2
#define BOTH_STOP 3
#define MONO_STEP(how) (how == MONO_STOPS || how == BOTH_STOP -> 0 : 1)
#define WALL_STEP(how) (how == WALL_STOPS || how == BOTH_STOP -> 0 : 1)

/* The larger and the smaller of two steps. */
#if defined(MUT_MONO_ONLY)
#define ELAPSED(mono, walls) (mono)
#elif defined(MUT_WALL_ONLY)
#define ELAPSED(mono, walls) (walls)
#else
#define ELAPSED(mono, walls) MAX(mono, walls)
#endif
#if defined(MUT_OBSERVED_BY_LARGER)
#define SURE(mono, walls) MAX(mono, walls)
#elif defined(MUT_OBSERVED_BY_MONO)
#define SURE(mono, walls) (mono)
#elif defined(MUT_OBSERVED_BY_WALL)
#define SURE(mono, walls) (walls)
#else
#define SURE(mono, walls) MIN(mono, walls)
#endif

/* Host i looks at its clocks, and sees these steps. true_time is how much has passed. */
inline looks_at_clocks(i, mono, walls, true_time) {
	x = mono;
	y = walls;
	if
	:: x != true_time || y != true_time -> printf("clocks of host %d: monotonic +%d, wall +%d\n", i, x, y)
	:: else
	fi;
#ifdef TRACK
	h[i].mlag = MIN(1, LESS(h[i].mlag + true_time, x));
	h[i].wlag = MIN(1, LESS(h[i].wlag + true_time, y));
#endif
#ifdef CATCHUP
	h[i].behind = MIN(3, LESS(h[i].behind + true_time, x));
#endif
	v = SURE(x, y);
	x = ELAPSED(x, y);
	for (j : 0 .. SLOTS - 1) {
		if
		:: MINE(i, j) ->
			w[j].left = LESS(w[j].left, x)
		:: else
		fi
	}
	h[i].left = LESS(h[i].left, x);
	if
	:: h[i].phase == LEAD && h[i].left == 0 ->
		printf("host %d: its term is over\n", i);
		end(i);
#ifdef REACH_EXPIRED
		TRAP(x == 1, "reached: a term that ends\n");
#endif
#ifdef REACH_JUMP
		TRAP(x > 1, "reached: a reign that a jump of a clock ends\n");
#endif
	:: else
	fi;
	if
	:: h[i].known != NOBODY -> h[i].seen = MIN(h[i].seen + v, OBSERVE(i, h[i].known))
	:: else
	fi;
#ifdef MUT_OBSERVED_FROM_REQUEST
	h[i].asked = (h[i].asked > 0 -> MIN(h[i].asked + v, 5) : 0);
#endif
}

#if defined(MUT_RESIGN_BEFORE_END)
#define MAY_VACATE(i) (h[i].phase >= LEAD)   /* and the end comes when that is confirmed */
#else
#define MAY_VACATE(i) (h[i].phase >= OVER)
#endif

#define FREE_TO_ACT(i) (h[i].wait == NOBODY)
#ifdef MUT_OBSERVED_FROM_REQUEST
#define MAY_LOOK(i) (h[i].asked > 0)
#else
#define MAY_LOOK(i) (FREE_TO_ACT(i) && h[i].phase != OVER)
#endif

proctype Candidate(byte i) {
	do
	/* Looks: while it campaigns, or to learn what became of a write. */
#ifdef MUT_OBSERVED_FROM_REQUEST
	:: d_step { FREE_TO_ACT(i) && h[i].phase != OVER && h[i].asked == 0 ->
		printf("host %d sends a read\n", i);
		h[i].asked = 1 }
#endif
#if DATES != 1
	:: d_step { MAY_LOOK(i) -> look(i, 0); tidy() }
#endif
#if DATES != 0
	:: d_step { MAY_LOOK(i) -> look(i, 1); tidy() }
#endif

	/* The answer "stored". It may be late. */
	:: d_step { h[i].wait != NOBODY && w[h[i].wait].stored ->
		v = h[i].wait;
		printf("host %d is told that nonce %d is stored\n", i, v);
		h[i].wait = NOBODY;
#ifdef MUT_DEADLINE_FROM_ANSWER
		w[v].left = HOLDS(i);
#endif
		confirm(i, v);
		h[i].past = 0;
		h[i].seen = 0;
		tidy() }

#ifdef MUT_NONCE_NOT_COMPARED
	/* The answer "lost" to a write that arrived twice is believed. */
	:: d_step { h[i].wait != NOBODY && w[h[i].wait].stored ->
		printf("host %d is told that nonce %d is lost\n", i, h[i].wait);
		h[i].wait = NOBODY;
		replaced(i);
		tidy() }
#endif

	/* No answer came, or it was lost, or it does not say whether the write is stored. */
	:: d_step { FAULTS && h[i].wait != NOBODY ->
		v = h[i].wait;
		printf("host %d does not know what became of nonce %d\n", i, v);
		h[i].wait = NOBODY;
#ifdef MUT_NO_READ_BACK
		confirm(i, v);
#endif
		tidy() }

	/* Takes the election, with a proof. Core looks again after each unanswered attempt. */
	:: d_step { h[i].phase == SEEK && FREE_TO_ACT(i) && h[i].known != NOBODY && PROOF(i) ->
		note_proof(i);
		printf("host %d takes the election (vacant %d, reclaimed %d, store-time %d, observed %d)\n", i,
			by_vacant(i), by_reclaim(i), by_store(i), by_observing(i));
		for (j : 0 .. SLOTS - 1) {   /* found stored, these would be no wins any more */
			if
			:: w[j].tried && MINE(i, j) && w[j].left == 0 -> w[j].tried = 0; w[j].ended = 1
			:: else
			fi
		}
		send(i, WIN);
		tidy() }

	/* Renews. One write is waited for, but older ones may still be on their way. */
	:: d_step { h[i].phase == LEAD && FREE_TO_ACT(i) ->
		printf("host %d renews\n", i);
		send(i, RENEW);
		tidy() }

	/* Resigns: first the end, then the work, then the store. A term that is over may be left the
	   same way, or nothing is written. Nor has a vacant entry to be confirmed. */
	:: d_step { FAULTS && h[i].phase == LEAD ->
		printf("host %d ends its reign\n", i);
		end(i);
		tidy() }
	:: d_step { FREE_TO_ACT(i) && MAY_VACATE(i) ->
		printf("host %d: the work has stopped, the vacant entry is written\n", i);
#if !defined(MUT_RESIGN_BEFORE_END) && !defined(MUT_RESIGN_BEFORE_WORK_STOPPED)
		h[i].phase = STOPPED;
#endif
		send(i, VACATE);
		tidy() }
	:: d_step { FREE_TO_ACT(i) && h[i].phase >= OVER ->
		printf("host %d: the work has stopped, it campaigns again\n", i);
		forget(i, NOBODY);
		h[i].phase = SEEK;
		tidy() }

	/* Leaves a campaign with a win unknown. If that turns out to be its own, it is vacated. */
	:: d_step { FAULTS && h[i].phase == SEEK && FREE_TO_ACT(i) && UNKNOWN(i) ->
		printf("host %d leaves its campaign\n", i);
		forget(i, NOBODY);
		tidy() }
	:: d_step { h[i].phase == SEEK && FREE_TO_ACT(i) && h[i].known != NOBODY && !UNKNOWN(i) &&
			MINE(i, h[i].known) && w[h[i].known].ended && !VACANT(h[i].known) ->
		printf("host %d vacates what it has won unseen\n", i);
		h[i].phase = STOPPED;
		send(i, VACATE);
		tidy() }

	/* Its wall clock is set forward; its monotonic clock makes up for what it has missed. */
#if CLOCK != 1
	:: d_step { FAULTS ->
		looks_at_clocks(i, 0, LONG, 0);
		tidy() }
#endif
#ifdef CATCHUP
	:: d_step { h[i].behind > 0 ->
		looks_at_clocks(i, h[i].behind, 0, 0);
		tidy() }
#endif

	/* Crashes, and starts again knowing nothing. What it has sent may still land. */
	:: d_step { FAULTS ->
		printf("host %d crashes\n", i);
#ifdef REACH_CRASH
		TRAP(h[i].phase == LEAD, "reached: a crash of a leader\n");
#endif
		for (j : 0 .. SLOTS - 1) {
			if
			:: MINE(i, j) -> w[j].tried = 0; w[j].ended = 0; w[j].left = 0
			:: else
			fi
		}
		h[i].phase = SEEK;
		h[i].wait = NOBODY;
		h[i].known = NOBODY;
#if DATES == 2
		h[i].told = 0;
#endif
		tidy() }
	od
}

#ifdef MUT_NO_PRECONDITION
#define MATCHES(s) true
#else
#define MATCHES(s) (w[s].base == cur)
#endif

/* The store and the network: what becomes of write s. */
proctype Network(byte s) {
	do
	/* It arrives, and what it builds on is current. */
	:: d_step { w[s].flying && MATCHES(s) ->
		printf("the store applies nonce %d\n", s);
		CLAIM(w[s].base == cur, "violated: a version that does not name the one before it\n");
		if
#ifndef MUT_RESIGN_BEFORE_END
		:: w[s].kind == VACATE ->
			CLAIM(h[w[s].by - 1].phase != LEAD && h[w[s].by - 1].phase != OVER, "violated: vacant before the work has stopped\n")
#endif
		:: else
		fi;
#ifdef REACH_LATE_WRITE
		TRAP(h[w[s].by - 1].wait != s, "reached: a write that lands when nobody waits for it\n");
#endif
#ifdef REACH_WRITE_OF_THE_DEAD
		TRAP(!w[s].tried, "reached: a write that lands when its sender has forgotten it\n");
#endif
		w[s].flying = 0;
		w[s].stored = 1;
		cur = s;
		if
		:: w[s].tok > TOP ->
			high = LESS(high, 1);
			for (j : 0 .. SLOTS - 1) {
				w[j].tok = LESS(w[j].tok, 1)
			}
		:: else
		fi;
		tidy() }

	/* It is lost. */
	:: d_step { FAULTS && w[s].flying ->
		printf("nonce %d is lost on the way\n", s);
		w[s].flying = 0;
		tidy() }
	od
}

/* A tick of true time, with one step of every clock. One d_step for each combination, because
   spin would store the states between choices too. */
inline ages() {
	for (j : 0 .. SLOTS - 1) {
		if
		:: w[j].kind >= WIN -> w[j].age = MIN(w[j].age + 1, OLD(j))
		:: else
		fi
	}
#ifndef LEADERS_ONLY
	for (k : 0 .. N - 1) {
		CLAIM(h[k].phase != LEAD || w[h[k].known].age < HOLDS(k), "violated: a reign that outlasts its term\n")
	};
#endif
	tidy()
}
#ifdef LIVE
/*
 * Liveness, as a claim that a search for bad states can refute: from any state that faults may lead to,
 * two terms after the last of them somebody has led. Then time does not pass while anybody has something
 * to do: an answer to take, a version to look at, a proof to use. (Who has a reign behind it campaigns.)
 */
#define BUSY(i) (h[i].wait != NOBODY || h[i].phase > LEAD || h[i].phase == SEEK && (h[i].known != cur || PROOF(i)))
#define FLYING(s) w[s].flying
#define LED (h[0].phase == LEAD || h[1].phase == LEAD)
#endif

#define STEPS(i, how) looks_at_clocks(i, MONO_STEP(how), WALL_STEP(how), 1)
#if N == 2
#define TICK(a, b) :: d_step { FAULTS -> printf("tick\n"); STEPS(0, a); STEPS(1, b); ages() }
#else
#define TICK(a, b) :: d_step { printf("tick\n"); STEPS(0, a); STEPS(1, b); STEPS(2, RIGHT); ages() } \
	:: d_step { printf("tick\n"); STEPS(0, a); STEPS(1, b); STEPS(2, MONO_STOPS); ages() }
#endif

proctype Time() {
	do
#ifdef LIVE
	:: d_step { FAULTS -> printf("the faults end\n"); calm = 1 }
	:: d_step { !FAULTS && LED -> skip }   /* and the election has succeeded */
	:: d_step { !FAULTS && !LED && !BUSY(0) && !BUSY(1) && !SOME(FLYING) ->
		printf("tick\n");
		CLAIM(calm <= 2 * MAX(TERM_A, TERM_B), "violated: two terms without faults and without a leader\n");
		calm++;
		STEPS(0, RIGHT);
		STEPS(1, RIGHT);
		ages() }
#endif
	TICK(RIGHT, RIGHT)
	TICK(RIGHT, MONO_STOPS)
	TICK(MONO_STOPS, RIGHT)
	TICK(MONO_STOPS, MONO_STOPS)
#if CLOCK != 1 && N == 2   /* to the sums it is the same which of the clocks stops: left to the runs of two */
	TICK(RIGHT, WALL_STOPS)
	TICK(WALL_STOPS, RIGHT)
	TICK(MONO_STOPS, WALL_STOPS)
	TICK(WALL_STOPS, MONO_STOPS)
	TICK(WALL_STOPS, WALL_STOPS)
#endif
#ifdef OUT_BOTH_FROZEN
	TICK(BOTH_STOP, RIGHT)
	TICK(RIGHT, BOTH_STOP)
#endif
	od
}

#ifdef OUT_BREAK
/* elect break --now, under a leader: a vacant entry by an operator's word. */
proctype Operator() {
	d_step { w[cur].kind == WIN && w[SLOTS - 1].kind == FREE ->
		printf("an operator breaks the reign\n");
		w[SLOTS - 1].kind = VACATE;
		w[SLOTS - 1].tok = TOP;
		cur = SLOTS - 1;
		tidy() }
}
#endif

init {
	atomic {
		w[0].kind = NOTHING;
		w[0].tok = TOP;
		high = TOP - 1;
		for (k : 0 .. N - 1) {
			h[k].known = NOBODY;
			h[k].wait = NOBODY;
#if CLOCK == 1
			select (x : 0 .. SKEW);
			wall[k] = x
#endif
		}
		run Time();
		for (k : 0 .. N - 1) {
			run Candidate(k)
		}
		for (k : 0 .. SLOTS - 1) {
			run Network(k)
		}
#ifdef OUT_BREAK
		run Operator();
#endif
		k = 0
	}
}
