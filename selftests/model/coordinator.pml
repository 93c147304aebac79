/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One change in two fabrics, for spin. The coordinator follows the protocol of
 * Documentation/device-abi.rst, "Several kernels, one change". It may die or hesitate at
 * any step, and may restart without knowledge of the past. In every case, both participants
 * confirm or neither does, before the leases have run out.
 *
 * Each participant sends light to the other. A participant handles the end of a lease
 * before the clock's next tick; LEASE is more than one tick. Hardware does not fail.
 *
 * Settings from the environment:
 *
 *   DEFECT     a rule that is broken, by its number below
 *   RESTARTS   number of restarts of the coordinator
 */
#define SHORT_VERIFY	1	/* VERIFY takes a lease no longer than COMMIT's */
#define CONFIRMS_EARLY	2	/* CONFIRM before all are verified */
#define BLIND_WITNESS	3	/* at the end of a verified lease, confirm without reading */
#define TRUSTS_NOBODY	4	/* at the end of a verified lease, always revert */
#define REVERTS_LATE	5	/* a new coordinator reverts without new leases */
#define GOES_BACK	6	/* a new coordinator reverts although one is committed */

#define SETTING(name, otherwise)	((value = getenv(name)) ? atoi(value) : (otherwise))

#define LEASE	2
#define LONG	(defect == SHORT_VERIFY -> LEASE : 2 * LEASE)

mtype = { ABSENT, PREPARED, UNCONFIRMED, COMMITTED, REVERTED };

byte defect;
byte restarts;
mtype state[2];
bool verified[2];
bool lit[2];			/* it sends light */
bool busy[2];			/* its lease has run out, and it reads its receiver */
byte lease[2];			/* ticks left */
bool over;			/* no coordinator will start again */
byte alone;			/* ticks since then */
bool haste;			/* a new coordinator reverts: no tick until it has finished */

#define OPEN(p)		(state[p] == PREPARED || state[p] == UNCONFIRMED)
/* A participant handles the end of its lease before any step. */
#define MAY_STEP(p)	(!busy[p] && !(OPEN(p) && lease[p] == 0))

/* step_locked() of lease.c. ok: the step is done; committed: the participant is COMMITTED. */
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
		committed = (state[p] == COMMITTED);
		if
		:: state[p] == PREPARED -> state[p] = UNCONFIRMED; lit[p] = true; lease[p] = LEASE
		:: else		/* a repeated step, known by its cookie */
		fi
	}
}

inline verify(p)
{
	atomic {
		MAY_STEP(p);
		ok = (state[p] == UNCONFIRMED && lit[1 - p]);
		committed = (state[p] == COMMITTED);
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
		committed = (state[p] == COMMITTED);
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
	bool ok, committed;

	/* The coordinator may die after any step, and any step may be late. */
	prepare(0);
	if :: goto dead :: committed -> goto finish :: !ok && !committed -> goto back :: ok fi;
	prepare(1);
	if :: goto dead :: committed -> goto finish :: !ok && !committed -> goto back :: ok fi;
forth:
	commit(0);
	if :: goto dead :: committed -> goto finish :: !ok && !committed -> goto back :: ok fi;
	commit(1);
	if :: goto dead :: committed -> goto finish :: !ok && !committed -> goto back :: ok fi;
	if
	:: defect == CONFIRMS_EARLY
	:: else ->
		verify(0);
		if :: goto dead :: committed -> goto finish :: !ok && !committed -> goto back :: ok fi;
		verify(1);
		if :: goto dead :: committed -> goto finish :: !ok && !committed -> goto back :: ok fi
	fi;
finish:
	confirm(0);
	if :: goto dead :: skip fi;
	confirm(1);
	goto dead;
back:
	revert(0);
	if :: goto dead :: committed -> goto finish :: !committed fi;
	revert(1);
	goto dead;
again:
	/* QUERY each participant by cookie, one after the other. */
	committed = (state[0] == COMMITTED);
	committed = committed || state[1] == COMMITTED;
	if
	:: committed && defect != GOES_BACK -> goto finish
	:: committed && defect == GOES_BACK -> goto back
	:: !committed && state[0] != ABSENT && state[1] != ABSENT -> goto forth
	:: !committed && defect == REVERTS_LATE -> goto back
	:: !committed && defect != REVERTS_LATE ->
		/* Take new leases before reverting, so that none ends meanwhile. */
		verify(0);
		if :: goto dead :: committed -> goto finish :: !committed fi;
		verify(1);
		if :: goto dead :: committed -> goto finish :: !committed fi;
		haste = true;
		goto back
	fi;
dead:
	atomic {
		ok = false;
		committed = false;
		haste = false;
		if
		:: restarts > 0 -> restarts--; goto again
		:: over = true
		fi
	}
}

/*
 * All leases run down together. A coordinator that reverts finishes or gives up within one
 * tick.
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
