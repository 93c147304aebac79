/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One change in two fabrics, for spin: a coordinator that follows the protocol of
 * Documentation/device-abi.rst, "Several kernels, one change", is killed at any step or
 * dawdles, and perhaps comes back, knowing nothing. Whatever happens both participants end
 * confirmed or neither does, no later than the leases allow.
 *
 * Each participant sends light to the other. A lease that ends is acted upon before the
 * clock's next tick; LEASE is more than one. Hardware does not fail here.
 *
 *   DEFECT     from the environment: a rule that is broken, by its number below
 *   RESTARTS   how often the coordinator comes back
 */
#define SHORT_VERIFY	1	/* VERIFY takes a lease no longer than COMMIT's */
#define CONFIRMS_EARLY	2	/* CONFIRM before all are verified */
#define BLIND_WITNESS	3	/* a verified lease that ends confirms without looking */
#define TRUSTS_NOBODY	4	/* and reverts whatever it sees */
#define REVERTS_LATE	5	/* a new coordinator reverts without new leases */
#define GOES_BACK	6	/* a new coordinator reverts though one is committed */

#define SETTING(name, otherwise)	((value = getenv(name)) ? atoi(value) : (otherwise))

#define LEASE	2
#define LONG	(defect == SHORT_VERIFY -> LEASE : 2 * LEASE)

mtype = { ABSENT, PREPARED, UNCONFIRMED, COMMITTED, REVERTED };

byte defect;
byte restarts;
mtype state[2];
bool verified[2];
bool lit[2];			/* it sends light */
bool busy[2];			/* its lease has run out, it is looking */
byte lease[2];			/* ticks left */
bool over;			/* no coordinator comes any more */
byte alone;			/* ticks since */
bool haste;			/* a new coordinator goes back: no tick until it is done */

#define OPEN(p)		(state[p] == PREPARED || state[p] == UNCONFIRMED)
/* A lease that has run out is acted upon before anybody's step is. */
#define MAY_STEP(p)	(!busy[p] && !(OPEN(p) && lease[p] == 0))

/* step_locked() of lease.c. ok: it was taken, or had been; told: that it is COMMITTED by now. */
inline prepare(p)
{
	atomic {
		ok = (state[p] == ABSENT);
		if :: ok -> state[p] = PREPARED; lease[p] = LEASE :: else fi
	}
}

inline commit(p)
{
	atomic {
		MAY_STEP(p);
		ok = OPEN(p);
		told = (state[p] == COMMITTED);
		if
		:: state[p] == PREPARED -> state[p] = UNCONFIRMED; lit[p] = true; lease[p] = LEASE
		:: else		/* repeated, by its cookie */
		fi
	}
}

inline verify(p)
{
	atomic {
		MAY_STEP(p);
		ok = (state[p] == UNCONFIRMED && lit[1 - p]);
		told = (state[p] == COMMITTED);
		if :: ok -> verified[p] = true; lease[p] = LONG :: else fi
	}
}

inline confirm(p)
{
	atomic {
		MAY_STEP(p);
		if
		:: state[p] == UNCONFIRMED && (verified[p] || lit[1 - p]) -> state[p] = COMMITTED
		:: else
		fi
	}
}

inline revert(p)
{
	atomic {
		MAY_STEP(p);
		told = (state[p] == COMMITTED);
		if :: OPEN(p) -> state[p] = REVERTED; lit[p] = false :: else fi
	}
}

/* The lease has run out: lease_work_fn(). */
proctype participant(byte p)
{
	bool stays;

end:	do
	:: atomic { state[p] == PREPARED && lease[p] == 0 -> state[p] = REVERTED }
	:: atomic { state[p] == UNCONFIRMED && lease[p] == 0 -> busy[p] = true }
		atomic {
			stays = verified[p] && defect != TRUSTS_NOBODY &&
				(lit[1 - p] || defect == BLIND_WITNESS)
		}
		atomic {
			state[p] = (stays -> COMMITTED : REVERTED);
			lit[p] = stays;
			busy[p] = false;
			stays = false
		}
	od
}

proctype coordinator()
{
	bool ok, told;

	/* Any step may be the last one, and may come late. */
	prepare(0);
	if :: goto dead :: told -> goto finish :: !ok && !told -> goto back :: ok fi;
	prepare(1);
	if :: goto dead :: told -> goto finish :: !ok && !told -> goto back :: ok fi;
forth:
	commit(0);
	if :: goto dead :: told -> goto finish :: !ok && !told -> goto back :: ok fi;
	commit(1);
	if :: goto dead :: told -> goto finish :: !ok && !told -> goto back :: ok fi;
	if
	:: defect == CONFIRMS_EARLY
	:: else ->
		verify(0);
		if :: goto dead :: told -> goto finish :: !ok && !told -> goto back :: ok fi;
		verify(1);
		if :: goto dead :: told -> goto finish :: !ok && !told -> goto back :: ok fi
	fi;
finish:
	confirm(0);
	if :: goto dead :: skip fi;
	confirm(1);
	goto dead;
back:
	revert(0);
	if :: goto dead :: told -> goto finish :: !told fi;
	revert(1);
	goto dead;
again:
	/* QUERY by cookie, of each at its own time. */
	told = (state[0] == COMMITTED);
	told = told || state[1] == COMMITTED;
	if
	:: told && defect != GOES_BACK -> goto finish
	:: told && defect == GOES_BACK -> goto back
	:: !told && state[0] != ABSENT && state[1] != ABSENT -> goto forth
	:: !told && defect == REVERTS_LATE -> goto back
	:: !told && defect != REVERTS_LATE ->
		/* Back: first new leases, none of which shall end meanwhile. */
		verify(0);
		if :: goto dead :: told -> goto finish :: !told fi;
		verify(1);
		if :: goto dead :: told -> goto finish :: !told fi;
		haste = true;
		goto back
	fi;
dead:
	atomic {
		ok = false;
		told = false;
		haste = false;
		if
		:: restarts > 0 -> restarts--; goto again
		:: over = true
		fi
	}
}

/*
 * Leases run down together. Whoever has begun to go back hastens: it is done with that, or
 * has given up, within a tick.
 */
proctype clock()
{
	byte p;

	do
	:: atomic { !haste && MAY_STEP(0) && MAY_STEP(1) ->
		p = 0;
		do
		:: p < 2 && OPEN(p) -> lease[p]--; p++
		:: p < 2 && !OPEN(p) -> p++
		:: p == 2 -> break
		od;
		if :: over && (OPEN(0) || OPEN(1)) -> alone++ :: else fi }
	od
}

#define ENDED(p)	(!OPEN(p) && !busy[p])

proctype contracts()
{
	bool end_alike, end_in_time;

end:	if
	:: atomic { over && ENDED(0) && ENDED(1) && (state[0] == COMMITTED) != (state[1] == COMMITTED) ->
		assert(end_alike) }
	:: atomic { alone > 2 * LEASE -> assert(end_in_time) }
	fi
}

init
{
	atomic {
		c_code {
			const char *value;

			now.defect = SETTING("DEFECT", 0);
			now.restarts = SETTING("RESTARTS", 2);
		};
		state[0] = ABSENT;
		state[1] = ABSENT;
		run participant(0);
		run participant(1);
		run coordinator();
		run clock();
		run contracts()
	}
}
