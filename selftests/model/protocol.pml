/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The protocol of transactions and failover, for spin: prepare, commit, confirm, lease,
 * revert, revoke, roll back, failures during a failover, release, removal of the provider.
 *
 * What is modelled: two slices, each with an accelerator and a circuit that it may light,
 * move and remove; one spare; a guide for each accelerator alone and one that all can use.
 * One atomic sequence is one hold of fabric->lock in kmod/core; between two of them the
 * device works and everything else may happen. Names are those of the code: lease.c,
 * txn.c, exec.c, rollback.c, repair.c, failover.c, release.c, fabric.c.
 *
 * What is not: routes, lanes, power (the optics have tests of their own), time (a lease
 * may run out at any moment), several transactions of one slice at once.
 *
 *   -DOPS_0=n, _1=n   changes and steps of each tenant
 *   -DERRORS=n        operations of the device that fail
 *   -DFAULTS=n        accelerators that die, guides that are cut
 *   -DREMOVAL         the provider may be removed
 *   -DDEFECT=n        one seeded defect; check says which are looked for
 */
#ifndef OPS_0
#define OPS_0 2
#endif
#ifndef OPS_1
#define OPS_1 1
#endif
#ifndef ERRORS
#define ERRORS 1
#endif
#ifndef FAULTS
#define FAULTS 1
#endif
#ifndef DEFECT
#define DEFECT 0
#endif

#define SLICES	2
#define SPARE	2		/* the accelerator that is nobody's; 0 and 1 are the slices' */
#define CHIPS	3
#define SHARED	3		/* guides 0 to 2 are the accelerators' own */
#define GUIDES	4
#define NOBODY	7		/* no slice, no guide, no accelerator */

mtype = { NONE, RUNNING, PREPARED, UNCONFIRMED, COMMITTED, ROLLED_BACK, BROKEN, REVOKED, EXPIRED };
mtype = { OK, REPAIRING, DEGRADED };
mtype = { COMMIT, CONFIRM, REVERT };

/* ------------------------------------------------------------------ the hardware */

bool gone;			/* the provider was removed */
bool chip_dead[CHIPS];		/* it sends no light and takes none */
bool guide_cut[GUIDES];
byte laser[GUIDES];		/* slice whose laser shines into the guide, or NOBODY */
byte laser_chip[GUIDES];	/* the accelerator that this laser belongs to */
byte errors = ERRORS;		/* operations that may still fail */
byte faults = FAULTS;

#define ARRIVES(g)	(laser[g] != NOBODY && !guide_cut[g] && !chip_dead[laser_chip[g]])

/* ---------------------------------------------------------------------- the core */

byte holder[GUIDES];		/* ledger: slice that claims the guide, or NOBODY */
byte chip_holder[CHIPS];
bool chip_bad[CHIPS];		/* known to be dead, or quarantined */
bool guide_bad[GUIDES];

byte chip[SLICES];		/* accelerator behind the slice's rank */
byte light[SLICES];		/* guide of its circuit, or NOBODY */
bool dark[SLICES];		/* hardware says that light is missing */
mtype state[SLICES];
bool busy[SLICES];
bool repairing[SLICES];
bool kicked[SLICES];		/* repair_work is queued */
bool dying[SLICES];
bool released[SLICES];

mtype outcome[SLICES];		/* of the slice's transaction */
mtype queued_from[SLICES];	/* netlink has queued a step of it */
mtype queued_verb[SLICES];
bool queue_runs[SLICES];		/* the work that takes it */
byte old[SLICES], new[SLICES];	/* its guides */
bool keep_old[SLICES];
bool armed[SLICES];		/* the lease's timer runs */
bool over[SLICES];		/* the lease has run out */

#define OPEN(s)		(outcome[s] == PREPARED || outcome[s] == UNCONFIRMED)
#define WHOLE(s)	(!chip_bad[chip[s]] && !dark[s] && \
			 (light[s] == NOBODY || !guide_bad[light[s]]))

#define CLAIMABLE(g)	(holder[g] == NOBODY && !guide_bad[g])

/* --------------------------------------------------------- operations of the device */

/* An operation that was submitted: it completes, or its waiter is told that the device is gone. */
inline completed()
{
#if DEFECT == 10
	!gone			/* nobody wakes those who wait for a device that is gone */
#else
	skip
#endif
}

/* fail: an operation that failed may have been done all the same. */
inline laser_on(s, g, ret)
{
	completed();
	if
	:: atomic { gone -> ret = 2 }
	:: atomic { !gone -> laser[g] = s; laser_chip[g] = chip_for; ret = 0 }
	:: atomic { !gone && errors > 0 -> errors--; ret = 1 }
	:: atomic { !gone && errors > 0 -> errors--; laser[g] = s; laser_chip[g] = chip_for; ret = 1 }
	fi
}

inline laser_off(g, ret)
{
	completed();
	if
	:: atomic { gone -> ret = 2 }
	:: atomic { !gone -> laser[g] = NOBODY; laser_chip[g] = NOBODY; ret = 0 }
	:: atomic { !gone && errors > 0 -> errors--; ret = 1 }
	fi
}

/* Read back: lit is what the receiver sees of the guide; a read that fails says nothing. */
inline read_back(g, lit, ret)
{
	completed();
	if
	:: atomic { gone -> ret = 2 }
	:: atomic { !gone -> lit = ARRIVES(g); ret = 0 }
	:: atomic { !gone && errors > 0 -> errors--; ret = 1 }
	fi
}

/* ------------------------------------------------------------------------- slices */

/* morph_slice_enter() of a tenant. Ends in atomic { } of the caller. */
#if DEFECT == 1
#define MAY_ENTER(s)	(true)
#else
#define MAY_ENTER(s)	(!busy[s])
#endif
#if DEFECT == 9
#define REFUSES(s)	(dying[s] || gone)
#else
#define REFUSES(s)	(dying[s] || gone || repairing[s])
#endif

inline enter(s)
{
	assert(!busy[s]);
	busy[s] = true
}

inline leave(s)
{
	busy[s] = false
}

/* morph_repair_kick() */
inline kick(s)
{
	if
	:: dying[s] || gone
	:: else ->
		if
		:: !repairing[s] -> repairing[s] = true; state[s] = REPAIRING
		:: else
		fi;
		kicked[s] = true
	fi
}

/* Hardware turned out bad: whoever uses it is repaired. morph_health_set(). */
inline guide_is_bad(g)
{
	guide_bad[g] = true;
	if :: holder[g] != NOBODY && light[holder[g]] == g -> dark[holder[g]] = true; kick(holder[g]) :: else fi
}

inline release_guide(g, s)
{
	if :: g != NOBODY && holder[g] == s -> holder[g] = NOBODY :: else fi
}

/* ------------------------------------------------------------------- transactions */

inline ends(s, how)
{
	outcome[s] = how;
#if DEFECT != 14
	queued_from[s] = NONE;
#endif
	armed[s] = false
}

/* morph_txn_unstage() of what is prepared. */
inline unstage(s)
{
	if :: new[s] != old[s] -> release_guide(new[s], s) :: else fi;
	new[s] = NOBODY;
	old[s] = NOBODY
}

/*
 * relight() and restore(): everything back as it was, proven. All of the new light off,
 * the old on where it had to yield, both read back. In, out: busy, no lock.
 */
inline roll_back(s, was_on, dead)
{
	new_dark = (new[s] == NOBODY);
	if
	:: new[s] != NOBODY && new[s] != old[s] ->
		laser_off(new[s], ret);
		if :: ret == 1 -> laser_off(new[s], ret) :: else fi;
#if DEFECT == 6
		new_dark = true
#else
		lit = true;
		read_back(new[s], lit, ret);
		if :: ret == 1 -> read_back(new[s], lit, ret) :: else fi;
		/* Where light can not arrive, the laser's own monitor tells; here: the laser. */
		new_dark = (ret == 0 && !lit && laser[new[s]] == NOBODY)
#endif
	:: else -> new_dark = true
	fi;
	old_lit = true;
	if
	:: old[s] != NOBODY && !was_on && !dead ->
		laser_on(s, old[s], ret);
		if :: ret == 1 -> laser_on(s, old[s], ret) :: else fi;
		old_lit = false;
		read_back(old[s], old_lit, ret);
		if :: ret != 0 -> old_lit = false :: else fi
	:: else
	fi;
	atomic {
		if
		:: new[s] != NOBODY && new[s] != old[s] ->
			/* A laser that does not go off may not be used again, nor what it shines into. */
			if :: !new_dark && !gone -> guide_bad[new[s]] = true :: else fi;
			release_guide(new[s], s)
		:: else
		fi;
		light[s] = old[s];
		if :: old[s] != NOBODY && !dead -> holder[old[s]] = s; dark[s] = !old_lit :: else fi;
		result = (new_dark && old_lit -> ROLLED_BACK : BROKEN);
		assert(result != ROLLED_BACK || gone || new[s] == NOBODY || new[s] == old[s] ||
		      laser[new[s]] == NOBODY);
		if :: result == BROKEN -> kick(s) :: else fi;
		new[s] = NOBODY;
		old[s] = NOBODY
	}
}

/*
 * morph_exec_commit(): program, verify dark, light, verify lit, darken the old, publish.
 * break_first: the old yields before the new is lit. ret is 0, or result tells.
 * The caller publishes in the atomic sequence that follows.
 */
inline commit(s, dead)
{
	ok = true;
	was_on = true;
	if
	:: break_first && old[s] != NOBODY && !dead ->
		laser_off(old[s], ret);
		was_on = false;
		ok = (ret == 0)
	:: else
	fi;
	if
	:: ok && new[s] != NOBODY ->
		dark[s] = false;
		laser_on(s, new[s], ret);
		ok = (ret == 0);
		if
		:: ok ->
			lit = false;
			read_back(new[s], lit, ret);
			ok = (ret == 0 && lit);
			if
			:: ret == 0 && !lit ->
				/* blame(): whoever it is, it is not used again. */
				atomic {
					if
					:: chip_dead[chip_for] -> chip_bad[chip_for] = true
					:: else -> guide_bad[new[s]] = true
					fi
				}
			:: else
			fi
		:: else
		fi
	:: else
	fi;
	if
	:: ok && was_on && old[s] != NOBODY && old[s] != new[s] ->
		/* exec_darken_old(): what fails now is quarantined, not rolled back. */
		laser_off(old[s], ret);
		if :: ret == 1 -> laser_off(old[s], ret) :: else fi;
		if :: ret == 1 -> atomic { guide_bad[old[s]] = true } :: else fi
	:: else
	fi;
	if
	:: !ok -> roll_back(s, was_on, dead)
	:: else
	fi
}

/* publish(), and drop_old() unless a lease keeps it. In atomic. */
inline publish(s)
{
	light[s] = new[s];
	/* Hardware may have failed, or light gone out, since it was verified. */
	if
	:: new[s] == NOBODY -> dark[s] = false
	:: new[s] != NOBODY && (dark[s] || guide_bad[new[s]] || chip_bad[chip[s]]) -> kick(s)
	:: else
	fi
}

inline drop_old(s)
{
	if :: old[s] != new[s] -> release_guide(old[s], s) :: else fi;
	keep_old[s] = false;
	new[s] = NOBODY;
	old[s] = NOBODY
}

/* Find a guide for the slice's light, from the accelerator that it shall come from. */
inline pick(g)
{
	if
	:: CLAIMABLE(chip_for) -> g = chip_for
	:: CLAIMABLE(SHARED) -> g = SHARED
	:: !CLAIMABLE(chip_for) && !CLAIMABLE(SHARED) -> g = NOBODY
	fi
}

/* A change by the tenant: run_one(). add, move or remove; at once or prepared. */
inline change(s)
{
	atomic {
		if
		:: REFUSES(s) -> ret = 1
		:: !REFUSES(s) && MAY_ENTER(s) -> enter(s); ret = 0
		fi
	}
	if
	:: ret == 0 ->
		atomic {
			chip_for = chip[s];
			/* One open transaction for a slice, here. */
			if
			:: OPEN(s) || outcome[s] == RUNNING -> ret = 1
			:: else ->
				if
				:: pick(guide)
				:: light[s] != NOBODY -> guide = NOBODY
				fi;
				ret = (guide == NOBODY && light[s] == NOBODY -> 1 : 0)
			fi;
			if
			:: ret == 1 ->
				if :: !OPEN(s) && outcome[s] != RUNNING -> ends(s, NONE) :: else fi
			:: else ->
				old[s] = light[s];
				new[s] = guide;
				if :: guide != NOBODY -> holder[guide] = s :: else fi;
				outcome[s] = NONE;
				keep_old[s] = false
			fi
		}
		if
		:: ret == 1
		:: ret == 0 -> atomic { unstage(s); ends(s, NONE) }	/* DRY_RUN, or a refusal after staging */
		:: ret == 0 ->
			atomic {
				outcome[s] = PREPARED;
				armed[s] = true;
				over[s] = false;
#if DEFECT == 4
				release_guide(new[s], s)	/* what is prepared is not held */
#endif
			}
		:: ret == 0 ->
			outcome[s] = RUNNING;
			if :: break_first = true :: break_first = false fi;
			commit(s, false);
			atomic {
				if
				:: ok -> publish(s); drop_old(s); ends(s, COMMITTED)
				:: else -> ends(s, result)
				fi
			}
		fi;
		atomic { leave(s) }
	:: else
	fi
}

/* Does a step fit what the transaction has come to? step_check() */
#define FITS(s, verb)	((outcome[s] == PREPARED && verb != CONFIRM) || \
			 (outcome[s] == UNCONFIRMED && verb != COMMIT))

/* From here to the end of the transaction, or of its step, it is under way for all others. */
inline set_out(s)
{
	was = outcome[s];
	chip_for = chip[s];
#if DEFECT == 14
	if :: was == PREPARED -> outcome[s] = RUNNING :: else fi
#else
	outcome[s] = RUNNING
#endif
}

/* The lease has run out: expire(). The slice has been entered, and the transaction set out. */
inline expire(s)
{
	if
	:: atomic { was == PREPARED -> unstage(s); ends(s, EXPIRED) }
	:: was == UNCONFIRMED ->
		roll_back(s, false, false);
		atomic {
			keep_old[s] = false;
			if :: result == ROLLED_BACK -> ends(s, EXPIRED) :: else -> ends(s, result) fi
		}
	fi
}

/* A step of what is prepared: step_locked(). What does not fit is refused. */
inline step(s, verb)
{
	atomic {
		if
		:: REFUSES(s) || !FITS(s, verb) -> ret = 1
		:: !REFUSES(s) && FITS(s, verb) && MAY_ENTER(s) ->
			enter(s);
			armed[s] = false;
			assert(verb != COMMIT || new[s] == NOBODY || holder[new[s]] == s);
			set_out(s);
			ret = 0
		fi
	}
	if
	:: ret == 0 && over[s] -> expire(s); atomic { leave(s) }
	:: ret == 0 && !over[s] && verb == COMMIT ->
		if :: break_first = true :: break_first = false fi;
		commit(s, false);
		atomic {
			if
			:: ok ->
				publish(s);
				keep_old[s] = true;
#if DEFECT == 5
				if :: old[s] != new[s] -> release_guide(old[s], s) :: else fi;
#endif
				outcome[s] = UNCONFIRMED;
				armed[s] = true;
				over[s] = false
			:: else -> ends(s, result)
			fi;
			leave(s)
		}
	:: ret == 0 && !over[s] && verb == CONFIRM ->
		/* The device parks what the old light needed. */
		atomic { drop_old(s); ends(s, COMMITTED); leave(s) }
	:: ret == 0 && !over[s] && verb == REVERT && was == PREPARED ->
		atomic { unstage(s); ends(s, ROLLED_BACK); leave(s) }
	:: ret == 0 && !over[s] && verb == REVERT && was == UNCONFIRMED ->
		roll_back(s, false, false);
		atomic { keep_old[s] = false; ends(s, result); leave(s) }
	:: ret == 1
	fi
}

/* A slice's own, for its repair or its end: morph_txn_revoke_slice(). In atomic. */
inline revoke_own(s)
{
	over[s] = false;
	if
	:: queued_from[s] != NONE -> outcome[s] = queued_from[s]; queued_from[s] = NONE
	:: else
	fi;
	if
	:: outcome[s] == PREPARED -> unstage(s); ends(s, REVOKED)
	:: outcome[s] == UNCONFIRMED -> drop_old(s); ends(s, COMMITTED)
	:: else
	fi
}

/* What another slice has only prepared gives way: morph_txn_revoke_holder(). In atomic. */
#if DEFECT == 2
#define SEIZABLE(o)	OPEN(o)
#elif DEFECT == 12
#define SEIZABLE(o)	(outcome[o] == PREPARED)
#else
#define SEIZABLE(o)	(!busy[o] && (outcome[o] == PREPARED || \
				      (outcome[o] == RUNNING && queued_from[o] == PREPARED)))
#endif

inline seize(o, g)
{
	armed[o] = false;
	over[o] = false;
	queued_from[o] = NONE;
	assert(!keep_old[o]);	/* never what is committed */
	unstage(o);
	release_guide(g, o);
	ends(o, REVOKED)
}

/* ------------------------------------------------------------------------ failover */

/* Hold a guide for the light of a repair. In atomic. */
inline stage_repair(s)
{
	pick(guide);
	other = 1 - s;
	if
	:: guide == NOBODY && !guide_bad[SHARED] && holder[SHARED] == other && SEIZABLE(other) &&
	   new[other] == SHARED ->
		seize(other, SHARED);
		pick(guide)
	:: else
	fi;
	if
	:: guide != NOBODY ->
		holder[guide] = s;
		new[s] = guide;
		old[s] = light[s];
		ok = true
	:: else -> ok = false
	fi
}

/* Replace the accelerator: morph_failover_run(). ok: it was, or there was no need. */
inline failover(s)
{
	ok = true;
	spare = NOBODY;
	atomic {
		if
		:: chip_bad[chip[s]] && chip_holder[SPARE] == NOBODY && !chip_bad[SPARE] ->
			spare = SPARE;
			chip_holder[SPARE] = s
		:: chip_bad[chip[s]] && (chip_holder[SPARE] != NOBODY || chip_bad[SPARE]) -> ok = false
		:: !chip_bad[chip[s]]
		fi;
		chip_for = spare;
		if
		:: spare != NOBODY && light[s] != NOBODY -> stage_repair(s)
		:: else
		fi
	}
	if
	:: spare != NOBODY && ok && light[s] != NOBODY ->
		break_first = false;
		commit(s, true)
	:: else
	fi;
	atomic {
		if
		:: spare != NOBODY && ok ->
			if :: chip_holder[chip[s]] == s && chip[s] != spare -> chip_holder[chip[s]] = NOBODY :: else fi;
			chip[s] = spare;
			chip_holder[spare] = s;
#if DEFECT != 8
			/* It may have failed since it was chosen, when it had no rank yet. */
			if :: chip_bad[spare] -> kick(s) :: else fi;
#endif
			if
			:: new[s] != NOBODY -> publish(s); drop_old(s)
			:: else
			fi
		:: spare != NOBODY && !ok -> chip_holder[spare] = NOBODY; new[s] = NOBODY; old[s] = NOBODY
		:: else
		fi
	}
}

/* Lead the circuit round what failed: reroute(). */
inline reroute(s)
{
	atomic {
		chip_for = chip[s];
		stage_repair(s)
	}
	if
	:: ok -> break_first = false; commit(s, true);
		atomic { if :: ok -> publish(s); drop_old(s) :: else fi }
	:: else
	fi
}

/* Read a dark circuit's receiver: examine(). */
inline examine(s)
{
	if
	:: dark[s] && light[s] != NOBODY && !chip_bad[chip[s]] && !guide_bad[light[s]] ->
		lit = false;
		read_back(light[s], lit, ret);
		atomic {
			if
			:: ret == 0 && lit -> dark[s] = false
			:: else ->
				if
				:: chip_dead[chip[s]] -> chip_bad[chip[s]] = true
				:: else -> guide_bad[light[s]] = true
				fi
			fi
		}
	:: else
	fi
}

proctype repair(byte s)
{
	byte ret, guide, spare, chip_for, other;
	bool ok, was_on, lit, new_dark, old_lit, break_first, again;
	mtype result;

end:	do
	:: atomic { kicked[s] && !busy[s] -> kicked[s] = false; enter(s); again = repairing[s] && !dying[s] }
		if
		:: again ->
			atomic { revoke_own(s) }
			if
			:: !gone && !WHOLE(s) ->
				examine(s);
				if :: !gone && chip_bad[chip[s]] -> failover(s) :: else fi;
				if
				:: !gone && !chip_bad[chip[s]] && light[s] != NOBODY &&
				   (dark[s] || guide_bad[light[s]]) -> reroute(s)
				:: else
				fi
			:: else
			fi;
			atomic {
				if
				:: kicked[s]		/* a failure that came meanwhile: go on there */
#if DEFECT == 11
					-> kicked[s] = false; repairing[s] = false; state[s] = OK
#endif
				:: !kicked[s] && !dying[s] && !gone && WHOLE(s) ->
					repairing[s] = false; state[s] = OK
				:: !kicked[s] && !dying[s] && !gone && !WHOLE(s) ->
					repairing[s] = false; state[s] = DEGRADED;
					if :: light[s] != NOBODY -> dark[s] = true :: else fi
				:: !kicked[s] && (dying[s] || gone) -> repairing[s] = false
				fi;
				leave(s)
			}
		:: else -> atomic { leave(s) }
		fi
	od
}

/* ----------------------------------------------------------- who sets all in motion */

inline queue_step(s, verb)
{
	queue_runs[s] = true;
	queued_from[s] = outcome[s];
	queued_verb[s] = verb;
	outcome[s] = RUNNING
}

proctype tenant(byte s)
{
	byte ret, guide, chip_for;
	bool ok, was_on, lit, new_dark, old_lit, break_first;
	mtype result, was, verb;
	byte ops = (s == 0 -> OPS_0 : OPS_1);

	do
	:: !dying[s] && ops > 0 -> ops--; change(s)
	:: OPEN(s) && ops > 0 -> ops--;
		if :: verb = COMMIT :: verb = CONFIRM :: verb = REVERT fi;
		step(s, verb)
	/* By netlink: looked at now, done by a worker. morph_txn_step_queue() */
	:: atomic { FITS(s, COMMIT) && !queue_runs[s] && ops > 0 -> ops--; queue_step(s, COMMIT) }
	:: atomic { FITS(s, CONFIRM) && !queue_runs[s] && ops > 0 -> ops--; queue_step(s, CONFIRM) }
	:: atomic { FITS(s, REVERT) && !queue_runs[s] && ops > 0 -> ops--; queue_step(s, REVERT) }
	/* The last file is closed, or the owner was killed. */
	:: atomic { !dying[s] -> dying[s] = true }; break
	/* A named slice stays. */
	:: break
	od;
end:	skip
}

/* A queued step: step_work(). */
proctype queue(byte s)
{
	byte ret, guide, chip_for;
	bool ok, was_on, lit, new_dark, old_lit, break_first;
	mtype result, was;

end:	do
	:: atomic { queue_runs[s] ->
		if
		:: queued_from[s] != NONE -> outcome[s] = queued_from[s]; queued_from[s] = NONE; ret = 0
#if DEFECT == 7
		:: queued_from[s] == NONE -> outcome[s] = PREPARED; ret = 0
#else
		:: queued_from[s] == NONE -> ret = 1	/* revoked, or ended, meanwhile */
#endif
		fi }
		if :: ret == 0 -> step(s, queued_verb[s]) :: else fi;
		queue_runs[s] = false
	od
}

/* The timer, and lease_work_fn(). */
proctype lease(byte s)
{
	byte ret, chip_for;
	bool ok, lit, new_dark, old_lit, mine;
	mtype result, was;

end:	do
	:: atomic { armed[s] -> armed[s] = false; over[s] = true }
		atomic { !busy[s] -> enter(s);
			mine = OPEN(s) && over[s];
			if :: mine -> set_out(s) :: else fi }
		if :: mine -> expire(s) :: else fi;
		atomic { leave(s) }
	od
}

/* morph_slice_release_work() */
proctype release(byte s)
{
	byte ret, g;
	bool lit, is_dark = true;

end:	if
	:: dying[s]
	fi;
	atomic { !busy[s] -> enter(s); kicked[s] = false; repairing[s] = false; revoke_own(s) }
	if
	:: light[s] != NOBODY && !gone ->
		laser_off(light[s], ret);
		if :: ret == 1 -> laser_off(light[s], ret) :: else fi;
		lit = true;
		read_back(light[s], lit, ret);
		is_dark = (ret == 0 && !lit && laser[light[s]] == NOBODY)
	:: else
	fi;
	atomic {
#if DEFECT != 13
		if :: !is_dark && !gone -> chip_bad[chip[s]] = true; guide_bad[light[s]] = true :: else fi;
#endif
		release_guide(light[s], s);
		light[s] = NOBODY;
		chip_holder[chip[s]] = NOBODY;
		released[s] = true;
		leave(s);
		/* Freed: whoever waits for such a thing tries once more. */
		g = 1 - s;
		if :: state[g] == DEGRADED && !released[g] -> kick(g) :: else fi
	}
}

/* Hardware fails by itself; signals tell the core some time later. */
proctype nature()
{
	byte i;

end:	do
	:: atomic { faults > 0 -> faults--;
		select(i : 0 .. CHIPS - 1);
		chip_dead[i] = true }
		/* The heartbeat is lost. */
		atomic { chip_bad[i] = true;
			if :: chip_holder[i] != NOBODY && chip[chip_holder[i]] == i ->
				if :: light[chip_holder[i]] != NOBODY -> dark[chip_holder[i]] = true :: else fi;
				kick(chip_holder[i])
			   :: else
			fi }
	:: atomic { faults > 0 -> faults--;
		select(i : 0 .. GUIDES - 1);
		guide_cut[i] = true }
		/* A receiver that was lit sends an alarm, for as long as it is dark. */
		atomic { if
			:: holder[i] != NOBODY && (light[holder[i]] == i || new[holder[i]] == i) ->
				dark[holder[i]] = true;
				/* One that is lit for the first time is judged when it is published. */
				if :: light[holder[i]] != NOBODY -> kick(holder[i]) :: else fi
			:: else
			fi }
	od
}

#ifdef REMOVAL
proctype removal()
{
end:	if
	:: atomic { !gone -> gone = true }
	fi
}
#endif

/* --------------------------------------------------------------------- the contracts */

#define UNUSED_OR_BAD(g)  (laser[g] == NOBODY || guide_bad[g] || chip_bad[laser_chip[g]])

/* At every moment. */
proctype always()
{
end:	if
	/* What is lit and verified is claimed by its slice; nothing seizes it. */
	:: atomic { !gone && light[0] != NOBODY && holder[light[0]] != 0 && !released[0] -> assert(false) }
	:: atomic { !gone && light[1] != NOBODY && holder[light[1]] != 1 && !released[1] -> assert(false) }
	/* The old configuration stays reserved until it is confirmed. */
	:: atomic { outcome[0] == UNCONFIRMED && old[0] != NOBODY && holder[old[0]] != 0 -> assert(false) }
	:: atomic { outcome[1] == UNCONFIRMED && old[1] != NOBODY && holder[old[1]] != 1 -> assert(false) }
	/* An accelerator that is free and fit is dark. */
	:: atomic { !gone && released[0] && !UNUSED_OR_BAD(0) -> assert(false) }
	:: atomic { !gone && released[1] && !UNUSED_OR_BAD(1) -> assert(false) }
	/* One rank, one accelerator. */
	:: atomic { !released[0] && !released[1] && chip[0] == chip[1] -> assert(false) }
	fi
}

#define REST(s)		(!busy[s] && !repairing[s] && !kicked[s])
#define ENDED(s)	(!OPEN(s) && outcome[s] != RUNNING && queued_from[s] == NONE)
#define AS_TOLD(s)	(gone || released[s] || state[s] != OK || light[s] == NOBODY || ARRIVES(light[s]))
#define IN_LEDGER(g)	(gone || laser[g] == NOBODY || guide_bad[g] || chip_bad[laser_chip[g]] || \
			 (holder[g] == laser[g] && light[laser[g]] == g))
#define NEEDLESSLY_DEGRADED(s) \
	(!gone && ERRORS == 0 && state[s] == DEGRADED && !released[s] && !dying[s] && chip_bad[chip[s]] && \
	 chip_holder[SPARE] == NOBODY && !chip_bad[SPARE] && holder[SPARE] == NOBODY && !guide_bad[SPARE])

/* Once nothing moves any more. */
proctype at_rest()
{
	timeout;
	assert(REST(0) && REST(1));
	/* Every transaction ended: no lease leaves one behind. */
	assert(ENDED(0) && ENDED(1));
	assert(!dying[0] || released[0]);
	assert(!dying[1] || released[1]);
	/* A slice that says OK is lit. */
	assert(AS_TOLD(0) && AS_TOLD(1));
	/* The ledger is what hardware does. */
	assert(IN_LEDGER(0) && IN_LEDGER(1) && IN_LEDGER(2) && IN_LEDGER(3));
	assert(!NEEDLESSLY_DEGRADED(0) && !NEEDLESSLY_DEGRADED(1))
}

init
{
	byte i;

	atomic {
		for (i : 0 .. GUIDES - 1) {
			laser[i] = NOBODY;
			laser_chip[i] = NOBODY;
			holder[i] = NOBODY
		}
		chip_holder[SPARE] = NOBODY;
		for (i : 0 .. SLICES - 1) {
			chip[i] = i;
			chip_holder[i] = i;
			light[i] = NOBODY;
			old[i] = NOBODY;
			new[i] = NOBODY;
			state[i] = OK;
			outcome[i] = NONE;
			queued_from[i] = NONE;
			queued_verb[i] = COMMIT
		}
		run tenant(0);
		run queue(0);
		run lease(0);
		run repair(0);
		run release(0);
		run tenant(1);
		run queue(1);
		run lease(1);
		run repair(1);
		run release(1);
		run always();
		run at_rest();
		run nature();
#ifdef REMOVAL
		run removal()
#else
		skip
#endif
	}
}
