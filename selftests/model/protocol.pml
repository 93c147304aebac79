/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The protocol of transactions and failover, for spin: prepare, commit, confirm, lease,
 * revert, revoke, roll back, failures during a failover, release, removal of the provider.
 *
 * The model has two slices. Each has an accelerator, and a circuit that it may light, move
 * and remove. It has one spare, a guide for each accelerator alone, and a guide that all
 * can use. One atomic sequence is one hold of fabric->lock in kmod/core. Between two
 * sequences the device works and everything else may happen. Names are those of lease.c,
 * txn.c, exec.c, rollback.c, repair.c, failover.c, release.c and fabric.c.
 *
 * The model omits:
 *
 *   - routes, lanes and power, which have tests in selftests/optics;
 *   - time: a lease may run out at any moment;
 *   - several transactions of one slice at once;
 *   - half circuits, which coordinator.pml models.
 *
 * One compilation serves all settings, because the model reads them from the environment:
 *
 *   OPS_0, OPS_1   changes and steps of each tenant
 *   ALONE          1: no second slice exists, and its accelerator is another spare
 *   LIT_1          1: the second slice has a circuit from the beginning
 *   STAY           1: no slice ends
 *   CUT            the only guide that fails (default: any part may fail)
 *   ERRORS         operations of the device that fail
 *   FAULTS         accelerators that die, guides that are cut
 *   HEALS          number of these that are repaired
 *   REMOVAL        1: the provider may be removed
 *   DEFECT         a seeded defect, by its number below; check names the claim that finds it
 *
 * With -DREPLAY and the claim in replay.never, the model follows the recording of the first
 * slice. TRACE has the events, by their numbers below.
 */

/* Rules of the code that a defect breaks. */
#define TWO_INSIDE		1	/* a change does not wait for the running one */
#define SEIZES_COMMITTED	2	/* failover seizes from a committed, unconfirmed change */
#define PREPARED_NOT_HELD	3	/* a prepared change claims nothing */
#define COMMIT_FREES_OLD	4	/* commit releases the old claims, not confirm */
#define ROLLBACK_UNPROVEN	5	/* new light counts as dark although nobody read it */
#define STEP_AFTER_REVOKED	6	/* a queued step continues a revoked transaction */
#define SPARE_NOT_REJUDGED	7	/* a spare that failed before it had a rank */
#define CHANGE_IN_REPAIR	8	/* a tenant's change starts during a repair of its slice */
#define REMOVAL_WAKES_NOBODY	9	/* a waiter for the device is not woken */
#define FAILURE_FORGOTTEN	10	/* a failure during a repair is ignored */
#define SEIZES_FROM_INSIDE	11	/* failover seizes a guide that a commit is using */
#define RELEASE_UNPROVEN	12	/* an accelerator is freed without reading it dark */
#define STEP_AFTER_END		13	/* a step can be queued after the end */
#define RECOVERY_MISSED		14	/* a part becomes free while a repair gives up */
#define FAILED_SPARE_IS_LAST	15	/* a spare that could not be lit ends the repair */
#define ROLLBACK_OFFERS_NOTHING	16	/* recovery does not see what a rollback frees */
#define EXPIRY_LEAVES_QUEUED	17	/* an expired lease relies on the queued step */
#define STEP_DURING_EXPIRY	18	/* a step is queued while an expiry reads light */
#define EXPIRY_WIPES_RESULT	19	/* an expiry clears the status of an ended transaction */

/* Events of a slice in a trace: kmod/core/base/trace.h. */
#define STAGE			1
#define COMMIT_BEGINS		2
#define LEASE_PREPARED		3
#define LEASE_UNCONFIRMED	4
#define END_NONE		5
#define END_COMMITTED		6
#define END_ROLLED_BACK		7
#define END_BROKEN		8
#define END_REVOKED		9
#define END_EXPIRED		10
#define STATE_REPAIRING		11
#define STATE_OK		12
#define STATE_DEGRADED		13
#define REPLACED		14
#define RELEASE			15

#define SETTING(name, otherwise)	((value = getenv(name)) ? atoi(value) : (otherwise))

#define SLICES	2
#define CHIPS	3		/* 0 and 1 are the slices', 2 is a spare */
#define SHARED	3		/* guides 0 to 2 are the accelerators' own */
#define GUIDES	4
#define NOBODY	7		/* no slice, no guide, no accelerator */

mtype = { NONE, RUNNING, PREPARED, UNCONFIRMED, COMMITTED, ROLLED_BACK, BROKEN, REVOKED, EXPIRED };
mtype = { OK, REPAIRING, DEGRADED };
mtype = { COMMIT, CONFIRM, REVERT };

/* ------------------------------------------------------------------ the hardware */

bool gone;			/* the provider was removed */
bool chip_dead[CHIPS];		/* it neither sends nor receives light */
bool guide_cut[GUIDES];
byte laser[GUIDES];		/* slice whose laser shines into the guide, or NOBODY */
byte laser_chip[GUIDES];	/* the accelerator that this laser belongs to */
byte errors;			/* operations that may still fail */
byte faults;			/* accelerators and guides that may still fail */
byte heals;			/* accelerators and guides that may be repaired */
bool removable;
bool stay;
bool errs;			/* operations may fail, so a repair may fail without a fault */
byte cut;
bool alone;
bool lit_1;
byte defect;

#define ARRIVES(g)	(laser[g] != NOBODY && !guide_cut[g] && !chip_dead[laser_chip[g]])

/* ---------------------------------------------------------------------- the core */

byte holder[GUIDES];		/* ledger: slice that claims the guide, or NOBODY */
byte chip_holder[CHIPS];
bool chip_bad[CHIPS];		/* known to be dead, or quarantined */
bool guide_bad[GUIDES];

byte chip[SLICES];		/* accelerator behind the slice's rank */
byte light[SLICES];		/* guide of its circuit, or NOBODY */
bool dark[SLICES];		/* hardware reports that light is missing */
mtype state[SLICES];
bool busy[SLICES];
bool rank_failed[SLICES];	/* its accelerator must be replaced */
bool repairing[SLICES];
bool kicked[SLICES];		/* repair_work is queued */
bool dying[SLICES];
bool released[SLICES];
bool degraded[SLICES];		/* its last repair left it degraded */
bool missed[SLICES];		/* something became free since its repair began */
bool lacks[SLICES];		/* its repair lacked a guide or a spare */
bool recovers;			/* recover_work is queued */
byte ops[SLICES];		/* changes and steps that its tenant may still take */

mtype outcome[SLICES];		/* of the slice's transaction */
bool listed[SLICES];		/* it was prepared and has not ended: slice->txns */
mtype queued_from[SLICES];	/* outcome before netlink queued a step */
mtype queued_verb[SLICES];
bool queue_runs[SLICES];		/* the work that executes the step is queued */
byte old[SLICES], new[SLICES];	/* its guides */
bool keep_old[SLICES];
bool armed[SLICES];		/* the lease's timer runs */
bool over[SLICES];		/* the lease has run out */
bool wiped[SLICES];		/* the transaction has ended, and its status is lost */

#define OPEN(s)		(outcome[s] == PREPARED || outcome[s] == UNCONFIRMED)
#define WHOLE(s)	(!rank_failed[s] && !dark[s] && \
			 (light[s] == NOBODY || !guide_bad[light[s]]))

#define CLAIMABLE(g)	(holder[g] == NOBODY && !guide_bad[g])

/* -------------------------------------------------------------- observed events */

#ifdef REPLAY
#define MOST_EVENTS	200
byte recorded[MOST_EVENTS];	/* recorded events of slice 0 */
byte length;
byte at;			/* next event of the recording */
bool strayed;			/* the model left the recording */

inline observe(who, what)
{
	if
	:: who == 0 && recorded[at] == what -> at++
	:: who == 0 && recorded[at] != what -> strayed = true
	:: who != 0
	fi
}

/* The trace limits the steps of its tenant. */
inline took_one(s)
{
	skip
}
#else
inline observe(who, what)
{
	skip
}

inline took_one(s)
{
	ops[s]--
}
#endif

/* --------------------------------------------------------- operations of the device */

/* A submitted operation completes, or its waiter learns that the device is gone. */
inline completed()
{
	defect != REMOVAL_WAKES_NOBODY || !gone
}

/* An operation that reports an error may have taken effect all the same. */
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

/* Read the receiver of the guide: lit is its answer. A failed read sets nothing. */
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
#define MAY_ENTER(s)	(!busy[s] || defect == TWO_INSIDE)
#define REFUSES(s)	(dying[s] || gone || (repairing[s] && defect != CHANGE_IN_REPAIR))

inline enter(s)
{
	assert(!busy[s]);
	busy[s] = true
}

/* A tenant changes no slice that is under repair. */
inline enter_tenant(s)
{
	enter(s);
	assert(!repairing[s])
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
		:: !repairing[s] -> repairing[s] = true; state[s] = REPAIRING;
			observe(s, STATE_REPAIRING)
		:: else
		fi;
		kicked[s] = true
	fi
}

/* morph_repair_recover() */
inline recover()
{
	if
	:: gone
	:: else ->
		missed[0] = true;
		missed[1] = true;
		recovers = recovers || degraded[0] || degraded[1]
	fi
}

/*
 * A change found a failed part: morph_health_set(). A slice with a published circuit is
 * repaired. A spare has no rank yet, so no slice is repaired for it.
 */
inline guide_is_bad(s, g)
{
	guide_bad[g] = true;
	if :: light[s] != NOBODY -> kick(s) :: else fi
}

inline chip_is_bad(s, c)
{
	if
	:: !rank_failed[s] && chip[s] == c -> chip_bad[c] = true; rank_failed[s] = true; kick(s)
	:: else -> chip_bad[c] = true
	fi
}

inline release_guide(g, s)
{
	if :: g != NOBODY && holder[g] == s -> holder[g] = NOBODY :: else fi
}

/* ------------------------------------------------------------------- transactions */

inline ends(s, how, seen)
{
	outcome[s] = how;
	if :: defect != STEP_AFTER_END -> queued_from[s] = NONE :: else fi;
	armed[s] = false;
	over[s] = false;
	wiped[s] = false;
	observe(s, seen);
	/* A degraded slice waits for the end of a prepared transaction. */
	if :: listed[s] -> listed[s] = false; recover() :: else fi
}

inline ends_broken_or(s, how, seen)
{
	if
	:: result == ROLLED_BACK -> ends(s, how, seen)
	:: else -> ends(s, BROKEN, END_BROKEN)
	fi
}

/* morph_txn_unstage() of a prepared transaction. */
inline unstage(s)
{
	if :: new[s] != old[s] -> release_guide(new[s], s) :: else fi;
	new[s] = NOBODY;
	old[s] = NOBODY
}

/*
 * relight() and restore(): restore the old state, and verify it. Turn the new light off,
 * turn the old light on if it had to yield, and read both back. The slice is busy at the
 * beginning and at the end, and the caller holds no lock.
 */
inline roll_back(s, was_on, dead)
{
	new_dark = (new[s] == NOBODY);
	if
	:: new[s] != NOBODY && new[s] != old[s] ->
		laser_off(new[s], ret);
		if :: ret == 1 -> laser_off(new[s], ret) :: else fi;
		if
		:: defect == ROLLBACK_UNPROVEN -> new_dark = true
		:: else ->
			lit = true;
			read_back(new[s], lit, ret);
			if :: ret == 1 -> read_back(new[s], lit, ret) :: else fi;
			/*
			 * If light cannot arrive, the driver reads the laser's monitor. The model
			 * reads the laser.
			 */
			new_dark = (ret == 0 && !lit && laser[new[s]] == NOBODY)
		fi
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
			/*
			 * Neither a laser that stays on nor the guide behind it may be used
			 * again.
			 */
			if :: !new_dark && !gone -> guide_is_bad(s, new[s]) :: else fi;
			release_guide(new[s], s)
		:: else
		fi;
		light[s] = old[s];
		if :: old[s] == NOBODY -> dark[s] = false :: else fi;
		if :: old[s] != NOBODY && !dead -> holder[old[s]] = s; dark[s] = !old_lit :: else fi;
		result = (new_dark && old_lit -> ROLLED_BACK : BROKEN);
		assert(result != ROLLED_BACK || gone || new[s] == NOBODY || new[s] == old[s] ||
		      laser[new[s]] == NOBODY);
		if :: result == BROKEN -> kick(s) :: else fi;
		new[s] = NOBODY;
		old[s] = NOBODY;
		/*
		 * Other slices may use the freed guide. A repair does not start the recovery,
		 * because it would start itself again.
		 */
		if :: !dead && defect != ROLLBACK_OFFERS_NOTHING -> recover() :: else fi
	}
}

/*
 * morph_exec_commit(): program, verify dark, light, verify lit, darken the old, publish.
 * break_first: the old light goes off before the new light goes on. If ok is false, result
 * has the outcome of the rollback. The caller publishes in the next atomic sequence.
 */
inline commit(s, dead)
{
	atomic { ok = true; was_on = true; observe(s, COMMIT_BEGINS) }
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
				/* blame(): the part that is to blame is not used again. */
				atomic {
					if
					:: chip_dead[chip_for] -> chip_is_bad(s, chip_for)
					:: else -> guide_is_bad(s, new[s])
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
		/* exec_darken_old(): a failure quarantines the guide and rolls nothing back. */
		laser_off(old[s], ret);
		if :: ret == 1 -> laser_off(old[s], ret) :: else fi;
		if :: ret == 1 -> atomic { guide_is_bad(s, old[s]) } :: else fi
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
	/* Since the light was verified, a part may have failed or the light gone out. */
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
	old[s] = NOBODY;
	recover()
}

/* Clear the variables of the last change, so that they multiply no states. */
inline forget()
{
	ret = 0;
	ok = false;
	was_on = false;
	lit = false;
	new_dark = false;
	old_lit = false;
	break_first = false;
	guide = NOBODY;
	chip_for = NOBODY;
	result = 0
}

/* Find a guide for the slice's light. chip_for is the accelerator that will send it. */
inline pick(g)
{
	if
	:: CLAIMABLE(chip_for) -> g = chip_for
	:: CLAIMABLE(SHARED) -> g = SHARED
	:: !CLAIMABLE(chip_for) && !CLAIMABLE(SHARED) -> g = NOBODY
	fi
}

/*
 * Do everything that needs no device: run_entered(). ret is 0 if the change must be committed.
 * Call it in an atomic sequence.
 */
inline stage(s)
{
	chip_for = chip[s];
	/*
	 * No guide is free, or the request is wrong. In the model a slice has at most one open
	 * transaction.
	 */
	if
	:: OPEN(s) || outcome[s] == RUNNING -> ret = 1
	:: !OPEN(s) && outcome[s] != RUNNING -> pick(guide); ret = (guide == NOBODY -> 1 : 0)
	:: !OPEN(s) && outcome[s] != RUNNING && light[s] != NOBODY -> guide = NOBODY
	:: ret = 1
	fi;
	if
	:: ret == 1 -> observe(s, END_NONE)
	:: else ->
		old[s] = light[s];
		new[s] = guide;
		if :: guide != NOBODY -> holder[guide] = s :: else fi;
		outcome[s] = NONE;
		keep_old[s] = false;
		observe(s, STAGE);
		if
		/* DRY_RUN, or a quota that refuses to prepare the change. */
		:: unstage(s); ends(s, NONE, END_NONE); ret = 1
		:: outcome[s] = PREPARED;
			listed[s] = true;
			armed[s] = true;
			observe(s, LEASE_PREPARED);
			if :: defect == PREPARED_NOT_HELD -> release_guide(new[s], s) :: else fi;
			ret = 1
		:: outcome[s] = RUNNING;
			if :: break_first = true :: break_first = false fi
		fi
	fi
}

/* A change by the tenant: run_one(). It adds, moves or removes, at once or prepared. */
inline change(s)
{
	atomic {
		if
		:: REFUSES(s) -> ret = 1; observe(s, END_NONE)
		:: !REFUSES(s) && MAY_ENTER(s) ->
			enter_tenant(s);
			ret = 0;
			stage(s);
			if :: ret == 1 -> leave(s) :: else fi
		fi
	}
	if
	:: ret == 0 ->
		commit(s, false);
		atomic {
			if
			:: ok -> publish(s); drop_old(s); ends(s, COMMITTED, END_COMMITTED)
			:: else -> ends_broken_or(s, ROLLED_BACK, END_ROLLED_BACK)
			fi;
			leave(s)
		}
	:: else
	fi;
	atomic { forget() }
}

/* Does the step fit the state of the transaction? step_check() */
#define FITS(s, verb)	((outcome[s] == PREPARED && verb != CONFIRM) || \
			 (outcome[s] == UNCONFIRMED && verb != COMMIT))

/* Mark the transaction as running, until the step or the transaction ends. */
inline set_out(s)
{
	was = outcome[s];
	chip_for = chip[s];
	if :: defect == STEP_AFTER_END && was != PREPARED :: else -> outcome[s] = RUNNING fi
}

/* The lease has run out: expire(). The caller has entered the slice and called set_out(). */
inline expire(s)
{
	ok = true;
	if
	:: defect == STEP_DURING_EXPIRY && was == UNCONFIRMED ->
		/* light_witnesses() reads the light; then expire() compares the outcome again. */
		atomic { outcome[s] = UNCONFIRMED }
		atomic {
			ok = (outcome[s] == UNCONFIRMED);
			if :: ok -> outcome[s] = RUNNING :: else fi
		}
	:: else
	fi;
	if
	:: atomic { was == PREPARED -> unstage(s); ends(s, EXPIRED, END_EXPIRED) }
	:: was == UNCONFIRMED && ok ->
		roll_back(s, false, false);
		atomic { keep_old[s] = false; ends_broken_or(s, EXPIRED, END_EXPIRED) }
	:: !ok
	fi
}

/* A step of a prepared transaction: step_locked(). A step that does not fit is refused. */
inline step(s, verb)
{
	atomic {
		if
		:: REFUSES(s) || !FITS(s, verb) -> ret = 1
		:: !REFUSES(s) && FITS(s, verb) && MAY_ENTER(s) ->
			enter_tenant(s);
			assert(listed[s]);	/* no step after the end */
			armed[s] = false;
			assert(verb != COMMIT || new[s] == NOBODY || holder[new[s]] == s);
			set_out(s);
			ret = 0
		fi
	}
	if
	:: ret == 0 && over[s] -> expire(s); atomic { leave(s); forget() }
	:: ret == 0 && !over[s] && verb == COMMIT ->
		if :: break_first = true :: break_first = false fi;
		commit(s, false);
		atomic {
			if
			:: ok ->
				publish(s);
				keep_old[s] = true;
				if
				:: defect == COMMIT_FREES_OLD && old[s] != new[s] -> release_guide(old[s], s)
				:: else
				fi;
				outcome[s] = UNCONFIRMED;
				armed[s] = true;
				over[s] = false;
				observe(s, LEASE_UNCONFIRMED)
			:: else -> ends_broken_or(s, ROLLED_BACK, END_ROLLED_BACK)
			fi;
			leave(s);
			forget()
		}
	:: ret == 0 && !over[s] && verb == CONFIRM ->
		/* The device parks the elements of the old path. */
		atomic { drop_old(s); ends(s, COMMITTED, END_COMMITTED); leave(s); forget() }
	:: ret == 0 && !over[s] && verb == CONFIRM ->
		/*
		 * The light cannot be read, or is dark, and the lease continues. The same branch is
		 * VERIFY, which takes a new lease.
		 */
		atomic {
			outcome[s] = UNCONFIRMED;
			armed[s] = true;
			if :: observe(s, LEASE_UNCONFIRMED) :: skip fi;
			leave(s);
			forget()
		}
	:: ret == 0 && !over[s] && verb == REVERT && was == PREPARED ->
		atomic { unstage(s); ends(s, ROLLED_BACK, END_ROLLED_BACK); leave(s); forget() }
	:: ret == 0 && !over[s] && verb == REVERT && was == UNCONFIRMED ->
		roll_back(s, false, false);
		atomic {
			keep_old[s] = false;
			ends_broken_or(s, ROLLED_BACK, END_ROLLED_BACK);
			leave(s);
			forget()
		}
	:: ret == 1 -> ret = 0
	fi;
	was = 0
}

/*
 * Revoke the slice's own transaction, for its repair or its end: morph_txn_revoke_slice(). Call it
 * in an atomic sequence.
 */
inline revoke_own(s)
{
	over[s] = false;
	if
	:: queued_from[s] != NONE -> outcome[s] = queued_from[s]; queued_from[s] = NONE
	:: else
	fi;
	if
	:: outcome[s] == PREPARED -> unstage(s); ends(s, REVOKED, END_REVOKED)
	:: outcome[s] == UNCONFIRMED -> drop_old(s); ends(s, COMMITTED, END_COMMITTED)
	:: else
	fi
}

/* A repair may revoke what another slice has only prepared: morph_txn_revoke_holder(). */
#define STAGED(o)	(outcome[o] == PREPARED || (outcome[o] == RUNNING && queued_from[o] == PREPARED))
#define SEIZABLE(o) \
	((!busy[o] && STAGED(o)) || \
	 (defect == SEIZES_COMMITTED && outcome[o] == UNCONFIRMED) || \
	 (defect == SEIZES_FROM_INSIDE && outcome[o] == RUNNING && !keep_old[o]))

#define YIELDS(o) \
	(!guide_bad[SHARED] && holder[SHARED] == (o) && new[o] == SHARED && SEIZABLE(o))

inline seize(o, g)
{
	armed[o] = false;
	over[o] = false;
	queued_from[o] = NONE;
	assert(!keep_old[o]);	/* never a committed transaction */
	assert(!busy[o]);	/* nor one whose slice is busy */
	unstage(o);
	release_guide(g, o);
	ends(o, REVOKED, END_REVOKED)
}

/* ------------------------------------------------------------------------ failover */

/* Claim a guide for the light of a repair. Call it in an atomic sequence. */
inline stage_repair(s)
{
	pick(guide);
	other = 1 - s;
	if
	:: guide == NOBODY && YIELDS(other) ->
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
	:: else -> ok = false; lacks[s] = true
	fi
}

/* An accelerator that is free and healthy may be the spare. */
#define FIT(c)	(chip_holder[c] == NOBODY && !chip_bad[c])
/* failover_stage() tries spares until it can stage the circuit. */
#define HAS_GUIDE(s, c) \
	(light[s] == NOBODY || CLAIMABLE(c) || CLAIMABLE(SHARED) || YIELDS(1 - s))

/*
 * Replace the accelerator: morph_failover_run(). failed is set if a spare exists and its light
 * fails.
 */
inline failover(s)
{
	atomic {
		ok = true;
		spare = NOBODY;
		if
		:: FIT(0) && HAS_GUIDE(s, 0) -> spare = 0
		:: FIT(1) && HAS_GUIDE(s, 1) -> spare = 1
		:: FIT(2) && HAS_GUIDE(s, 2) -> spare = 2
		:: else -> ok = false; lacks[s] = true
		fi;
		chip_for = spare;
		if
		:: ok ->
			chip_holder[spare] = s;
			if :: light[s] != NOBODY -> stage_repair(s) :: else fi
		:: else
		fi;
		if :: ok -> observe(s, STAGE) :: else fi
	}
	if
	:: ok -> break_first = false; commit(s, true); failed = !ok
	:: else
	fi;
	atomic {
		if
		:: spare != NOBODY && ok ->
			chip_holder[chip[s]] = NOBODY;
			chip[s] = spare;
			observe(s, REPLACED);
			/* The spare may have failed after its choice, before it had the rank. */
			rank_failed[s] = (chip_bad[spare] && defect != SPARE_NOT_REJUDGED);
			if :: rank_failed[s] -> kick(s) :: else fi;
			publish(s);
			drop_old(s)
		:: spare != NOBODY && !ok -> chip_holder[spare] = NOBODY; new[s] = NOBODY; old[s] = NOBODY
		:: else
		fi;
		spare = NOBODY
	}
}

/* Reroute the circuit around the failed part: reroute(). */
inline reroute(s)
{
	atomic {
		chip_for = chip[s];
		stage_repair(s);
		if :: ok -> observe(s, STAGE) :: else fi
	}
	if
	:: ok -> break_first = false; commit(s, true);
		atomic {
			if
			:: ok -> publish(s); drop_old(s)
			:: else -> failed = true
			fi
		}
	:: else
	fi
}

/* Read a dark circuit's receiver: examine(). */
inline examine(s)
{
	if
	:: dark[s] && light[s] != NOBODY && !rank_failed[s] && !guide_bad[light[s]] ->
		lit = false;
		read_back(light[s], lit, ret);
		atomic {
			if
			:: ret == 0 && lit -> dark[s] = false
			:: else ->
				if
				:: chip_dead[chip[s]] -> chip_is_bad(s, chip[s])
				:: else -> guide_is_bad(s, light[s])
				fi
			fi
		}
	:: else
	fi
}

/* The end of a repair: repair_end() and its caller. Call it in an atomic sequence. */
inline repair_ends(s)
{
	if
	/* Another failure occurred: repair again. */
	:: kicked[s] && defect != FAILURE_FORGOTTEN
	:: !kicked[s] && (dying[s] || gone) -> repairing[s] = false
	:: !kicked[s] && !dying[s] && !gone && WHOLE(s) ->
		repairing[s] = false; degraded[s] = false; state[s] = OK; observe(s, STATE_OK)
	:: !kicked[s] && !dying[s] && !gone && !WHOLE(s) ->
		repairing[s] = false; degraded[s] = true; state[s] = DEGRADED; observe(s, STATE_DEGRADED);
		if :: light[s] != NOBODY -> dark[s] = true :: else fi
	:: kicked[s] && defect == FAILURE_FORGOTTEN ->
		kicked[s] = false; repairing[s] = false; state[s] = OK
	fi;
	/* A part became free while the repair gave up, before the slice was degraded. */
	if
	:: state[s] == DEGRADED && missed[s] && !gone && defect != RECOVERY_MISSED -> recovers = true
	:: else
	fi;
	missed[s] = false
}

proctype repair(byte s)
{
	byte ret, guide = NOBODY, spare = NOBODY, chip_for = NOBODY, other;
	bool ok, was_on, lit, new_dark, old_lit, break_first, failed;
	mtype result;

end:	do
	:: atomic { kicked[s] && !busy[s] -> kicked[s] = false; enter(s); failed = repairing[s] && !dying[s] }
		if
		:: failed ->
			atomic { revoke_own(s); missed[s] = false; lacks[s] = false }
			do
			:: gone || dying[s] || WHOLE(s) || !failed -> break
			:: !gone && !dying[s] && !WHOLE(s) && failed ->
				failed = false;
				examine(s);
				if :: !gone && rank_failed[s] -> failover(s) :: else fi;
				atomic {
					/* Try again only if a part failed. */
					if :: defect == FAILED_SPARE_IS_LAST -> failed = false :: else fi
				}
				if
				:: !gone && !rank_failed[s] && light[s] != NOBODY &&
				   (dark[s] || guide_bad[light[s]]) -> reroute(s)
				:: else
				fi
			od;
			atomic { repair_ends(s); leave(s); forget(); failed = false; other = 0 }
		:: else -> atomic { leave(s) }
		fi
	od
}

/* A part became free or healthy: morph_repair_recover_work(). */
proctype recovery()
{
end:	do
	:: atomic { recovers -> recovers = false;
		/* Do not revoke a prepared transaction: its end starts the recovery again. */
		if :: state[0] == DEGRADED && !listed[0] && !released[0] -> kick(0) :: else fi;
		if :: state[1] == DEGRADED && !listed[1] && !released[1] -> kick(1) :: else fi }
	od
}

/* --------------------------------------------------------------- active processes */

inline queue_step(s, verb)
{
	queue_runs[s] = true;
	queued_from[s] = outcome[s];
	queued_verb[s] = verb;
	outcome[s] = RUNNING
}

proctype tenant(byte s)
{
	byte ret, guide = NOBODY, chip_for = NOBODY;
	bool ok, was_on, lit, new_dark, old_lit, break_first;
	mtype result, was, verb;

	do
	:: !dying[s] && ops[s] > 0 -> took_one(s); change(s)
	:: OPEN(s) && ops[s] > 0 -> took_one(s);
		if :: verb = COMMIT :: verb = CONFIRM :: verb = REVERT fi;
		step(s, verb)
	/* By netlink: checked now, executed by a worker. morph_txn_step_queue() */
	:: atomic { FITS(s, COMMIT) && !queue_runs[s] && ops[s] > 0 -> took_one(s); queue_step(s, COMMIT) }
	:: atomic { FITS(s, CONFIRM) && !queue_runs[s] && ops[s] > 0 -> took_one(s); queue_step(s, CONFIRM) }
	:: atomic { FITS(s, REVERT) && !queue_runs[s] && ops[s] > 0 -> took_one(s); queue_step(s, REVERT) }
	/* The last file is closed, or the owner was killed. */
	:: atomic { !dying[s] && !stay -> dying[s] = true }; break
	/* A named slice stays. */
	:: break
	od;
	ops[s] = 0;
end:	skip
}

/* A queued step: step_work(). */
proctype queue(byte s)
{
	byte ret, guide = NOBODY, chip_for = NOBODY;
	bool ok, was_on, lit, new_dark, old_lit, break_first;
	mtype result, was;

end:	do
	:: atomic { queue_runs[s] ->
		if
		:: queued_from[s] != NONE -> outcome[s] = queued_from[s]; queued_from[s] = NONE; ret = 0
		/* The transaction was revoked or has ended. */
		:: queued_from[s] == NONE && defect != STEP_AFTER_REVOKED -> ret = 1
		:: queued_from[s] == NONE && defect == STEP_AFTER_REVOKED -> outcome[s] = PREPARED; ret = 0
		fi }
		if
		:: ret == 0 -> step(s, queued_verb[s])
		/* The slice has another controller meanwhile: permits(). */
		:: ret == 0
		:: ret == 1 -> ret = 0
		fi;
		atomic { queue_runs[s] = false; queued_verb[s] = COMMIT }
	od
}

/* The timer, and lease_work_fn(). */
proctype lease(byte s)
{
	byte ret, guide = NOBODY, chip_for = NOBODY;
	bool ok, was_on, lit, new_dark, old_lit, break_first, mine;
	mtype result, was;

end:	do
	:: atomic { armed[s] -> armed[s] = false; over[s] = true }
		atomic { !busy[s] -> enter(s);
			if
			:: over[s] && queued_from[s] != NONE && defect != EXPIRY_LEAVES_QUEUED ->
				outcome[s] = queued_from[s];
				queued_from[s] = NONE
			:: else
			fi;
			mine = OPEN(s) && over[s];
			if
			:: mine -> set_out(s)
			:: !mine && defect == EXPIRY_WIPES_RESULT && outcome[s] != RUNNING -> wiped[s] = true
			:: else
			fi }
		if :: mine -> expire(s) :: else fi;
		atomic { leave(s); forget(); was = 0; mine = false }
	od
}

/* morph_slice_release_work() */
proctype release(byte s)
{
	byte ret;
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
		if
		:: !is_dark && !gone && defect != RELEASE_UNPROVEN ->
			chip_bad[chip[s]] = true; guide_bad[light[s]] = true
		:: else
		fi;
		release_guide(light[s], s);
		light[s] = NOBODY;
		chip_holder[chip[s]] = NOBODY;
		released[s] = true;
		degraded[s] = false;
		leave(s);
		observe(s, RELEASE);
		recover();
		ret = 0; lit = false; is_dark = true
	}
}

/* The test of a repaired accelerator without a holder turns its lasers off. */
inline darkens(c, g)
{
	if
	:: laser[g] != NOBODY && laser_chip[g] == c ->
		laser[g] = NOBODY;
		laser_chip[g] = NOBODY
	:: else
	fi
}

/* Hardware fails, and a signal reaches the core some time later. */
proctype nature()
{
	byte i;

end:	do
	:: atomic { faults > 0 && cut == NOBODY -> faults--;
		select(i : 0 .. CHIPS - 1);
		chip_dead[i] = true }
		/* The heartbeat is lost. */
		atomic { chip_bad[i] = true;
			if :: chip_holder[i] != NOBODY && chip[chip_holder[i]] == i ->
				if :: light[chip_holder[i]] != NOBODY -> dark[chip_holder[i]] = true :: else fi;
				rank_failed[chip_holder[i]] = true;
				kick(chip_holder[i])
			   :: else
			fi;
			i = 0 }
	:: atomic { faults > 0 -> faults--;
		if :: cut == NOBODY -> select(i : 0 .. GUIDES - 1) :: else -> i = cut fi;
		guide_cut[i] = true }
		/* A receiver that was lit sends an alarm while it is dark. */
		atomic { if
			:: holder[i] != NOBODY && (light[holder[i]] == i || new[holder[i]] == i) ->
				dark[holder[i]] = true;
				/* A new circuit is judged when it is published. */
				if :: light[holder[i]] != NOBODY -> kick(holder[i]) :: else fi
			:: else
			fi;
			i = 0 }
	/* A part is repaired, and passes a test. */
	:: atomic { heals > 0 -> heals--;
		select(i : 0 .. CHIPS - 1);
		if :: chip_dead[i] && chip_bad[i] :: else -> i = NOBODY fi;
		if
		:: i != NOBODY ->
			chip_dead[i] = false;
			chip_bad[i] = false;
			if
			:: chip_holder[i] == NOBODY ->
				darkens(i, 0);
				darkens(i, 1);
				darkens(i, 2);
				darkens(i, SHARED)
			:: else
			fi;
			if
			:: chip_holder[i] != NOBODY && chip[chip_holder[i]] == i && rank_failed[chip_holder[i]] ->
				rank_failed[chip_holder[i]] = false;
				kick(chip_holder[i])
			:: else
			fi;
			recover()
		:: else
		fi;
		i = 0 }
	:: atomic { heals > 0 -> heals--;
		select(i : 0 .. GUIDES - 1);
		guide_cut[i] = false;
		if
		:: guide_bad[i] && (laser[i] == NOBODY || (holder[i] == laser[i] && light[holder[i]] == i)) ->
			guide_bad[i] = false;
			recover()
		:: else
		fi;
		if
		:: holder[i] != NOBODY && light[holder[i]] == i && dark[holder[i]] -> kick(holder[i])
		:: else
		fi;
		i = 0 }
	od
}

#ifdef REPLAY
/* Another slice may seize what this slice has prepared, or claim what it needs next. */
proctype rival()
{
end:	do
	:: atomic { SEIZABLE(0) -> seize(0, SHARED) }
	:: atomic { CLAIMABLE(SHARED) -> holder[SHARED] = 1 }
	:: atomic { holder[SHARED] == 1 -> holder[SHARED] = NOBODY; recover() }
	/* The slice's policy may leave no spare for it. */
	:: atomic { FIT(1) && FIT(2) -> chip_holder[1] = 1; chip_holder[2] = 1 }
	:: atomic { chip_holder[1] == 1 && chip_holder[2] == 1 ->
		chip_holder[1] = NOBODY; chip_holder[2] = NOBODY; recover() }
	od
}
#endif

proctype removal()
{
end:	if
	:: atomic { !gone -> gone = true }
	fi
}

/* --------------------------------------------------------------------- the contracts */

#define DARK_IN(c, g)	(laser[g] == NOBODY || laser_chip[g] != c || guide_bad[g])
#define DARK(c)		(DARK_IN(c, 0) && DARK_IN(c, 1) && DARK_IN(c, 2) && DARK_IN(c, SHARED))

/*
 * Claims at every moment. Each claim is a variable that is false, so that spin prints its name when
 * the assertion fails.
 */
proctype always()
{
	bool lit_is_claimed, old_is_reserved, free_is_dark, rank_has_its_own;

end:	if
	/* A slice claims the guide of its verified light, and nothing seizes it. */
	:: atomic { !gone && light[0] != NOBODY && holder[light[0]] != 0 && !released[0] -> assert(lit_is_claimed) }
	:: atomic { !gone && light[1] != NOBODY && holder[light[1]] != 1 && !released[1] -> assert(lit_is_claimed) }
	/* The old configuration stays reserved until it is confirmed. */
	:: atomic { outcome[0] == UNCONFIRMED && old[0] != NOBODY && holder[old[0]] != 0 -> assert(old_is_reserved) }
	:: atomic { outcome[1] == UNCONFIRMED && old[1] != NOBODY && holder[old[1]] != 1 -> assert(old_is_reserved) }
	/* An accelerator that is free and fit is dark. */
	:: atomic { !gone && FIT(0) && !DARK(0) -> assert(free_is_dark) }
	:: atomic { !gone && FIT(1) && !DARK(1) -> assert(free_is_dark) }
	:: atomic { !gone && FIT(2) && !DARK(2) -> assert(free_is_dark) }
	/* One rank, one accelerator. */
	:: atomic { !released[0] && !released[1] && chip[0] == chip[1] -> assert(rank_has_its_own) }
	fi
}

#define REST(s)		(!busy[s] && !repairing[s] && !kicked[s])
#define ENDED(s)	(!OPEN(s) && outcome[s] != RUNNING && queued_from[s] == NONE && !listed[s])
#define AS_REPORTED(s)	(gone || released[s] || state[s] != OK || \
			 (!chip_bad[chip[s]] && (light[s] == NOBODY || ARRIVES(light[s]))))
#define IN_LEDGER(g)	(gone || laser[g] == NOBODY || guide_bad[g] || chip_bad[laser_chip[g]] || \
			 (holder[g] == laser[g] && light[laser[g]] == g))
/* A repair must not give up while an accelerator and a guide for its light are free. */
#define HAS_LIGHT_PATH(c)	((CLAIMABLE(c) && !guide_cut[c]) || (CLAIMABLE(SHARED) && !guide_cut[SHARED]))
#define WOULD_DO(s, c)	(FIT(c) && !chip_dead[c] && (light[s] == NOBODY || HAS_LIGHT_PATH(c)))
#define HELP(s)		(rank_failed[s] -> WOULD_DO(s, 0) || WOULD_DO(s, 1) || WOULD_DO(s, 2) : \
					      light[s] != NOBODY && HAS_LIGHT_PATH(chip[s]))
#define NEEDLESSLY_DEGRADED(s) \
	(!gone && state[s] == DEGRADED && (lacks[s] || !errs) && !released[s] && !dying[s] && HELP(s))

/* Claims after all processes have stopped. */
proctype at_rest()
{
	bool rests, every_one_ended, results_are_kept, dead_are_gone, lit_as_reported, ledger_is_hardware, nothing_is_wanting;

	timeout;
	atomic {
		rests = REST(0) && REST(1);
		assert(rests);
		/* No transaction outlives its lease. */
		every_one_ended = ENDED(0) && ENDED(1);
		assert(every_one_ended);
		results_are_kept = !wiped[0] && !wiped[1];
		assert(results_are_kept);
		dead_are_gone = (!dying[0] || released[0]) && (!dying[1] || released[1]);
		assert(dead_are_gone);
		/* A slice in state OK has a healthy accelerator and is lit. */
		lit_as_reported = AS_REPORTED(0) && AS_REPORTED(1);
		assert(lit_as_reported);
		ledger_is_hardware = IN_LEDGER(0) && IN_LEDGER(1) && IN_LEDGER(2) && IN_LEDGER(3);
		assert(ledger_is_hardware);
		/* No slice is degraded while the parts that it needs are free. */
		nothing_is_wanting = !NEEDLESSLY_DEGRADED(0) && !NEEDLESSLY_DEGRADED(1);
		assert(nothing_is_wanting)
	}
}

init
{
	byte i;

	atomic {
		c_code {
			const char *value;

			now.ops[0] = SETTING("OPS_0", 2);
			now.ops[1] = SETTING("OPS_1", 1);
			now.alone = SETTING("ALONE", 0);
			now.stay = SETTING("STAY", 0);
			now.cut = SETTING("CUT", 7);
			now.errors = SETTING("ERRORS", 0);
			now.errs = now.errors > 0;
			now.faults = SETTING("FAULTS", 0);
			now.heals = SETTING("HEALS", 0);
			now.removable = SETTING("REMOVAL", 0);
			now.lit_1 = SETTING("LIT_1", 0);
			now.defect = SETTING("DEFECT", 0);
		};
		for (i : 0 .. GUIDES - 1) {
			laser[i] = NOBODY;
			laser_chip[i] = NOBODY;
			holder[i] = NOBODY
		}
		chip_holder[2] = NOBODY;
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
		if
		:: lit_1 -> light[1] = 1; laser[1] = 1; laser_chip[1] = 1; holder[1] = 1; lit_1 = false
		:: else
		fi;
		run tenant(0);
		run queue(0);
		run lease(0);
		run repair(0);
		run release(0);
		run recovery();
		run nature();
#ifdef REPLAY
		c_code {
			char *word = getenv("TRACE");

			for (now.length = 0; *word && now.length < MOST_EVENTS - 1; now.length++)
				now.recorded[now.length] = strtol(word, &word, 10);
		};
		chip_holder[1] = NOBODY;
		run rival()
#else
		if
		:: alone -> chip_holder[1] = NOBODY; released[1] = true
		:: else ->
			run tenant(1);
			run queue(1);
			run lease(1);
			run repair(1);
			run release(1)
		fi;
		run always();
		run at_rest()
#endif
		;
		if :: removable -> run removal() :: else fi
	}
}
