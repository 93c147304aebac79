// SPDX-License-Identifier: LGPL-2.1-or-later
/* Phases on a slice: enter, leave, announce. See <morph/slice_phases.h>. */
#include <time.h>

#include "slice_phases.h"
#include "steps.h"

#define LEAST_NAP_NS 20000
#define LONGEST_NAP_NS 1000000
#define TURN_NS 10000000 /* time that other ranks get before a waiting rank asks */
#define MENDING_NS 200000000 /* time until hardware that fails during a change is known as failed */

/* ------------------------------------------------------------------- making */

/* NULL: noted failure. */
static struct morph_slice_phases *phasing_new(struct morph_slice *slice,
					      const struct morph_slice_phases_opts *opts)
{
	struct morph_slice_phases_opts mine;
	struct morph_slice_phases *phasing;

	if (lm_opts_check(slice->ctx, opts, sizeof(mine), "morph_slice_phases_opts"))
		return NULL;
	lm_opts_copy(&mine, opts, sizeof(mine));
	phasing = calloc(1, sizeof(*phasing));
	if (!phasing) {
		lm_no_memory(slice->ctx, "use phases");
		return NULL;
	}
	phasing->slice = slice;
	phasing->announced = phasing->stays = MORPH_PHASE_NONE;
	if (!lm_locks_open(phasing, mine.locks))
		return phasing;
	morph_slice_phases_free(phasing);
	return NULL;
}

static int set_count(struct morph_slice_phases *phasing, uint32_t count)
{
	phasing->count = count;
	phasing->users = calloc(count, sizeof(*phasing->users));
	phasing->failed_ns = calloc(count, sizeof(*phasing->failed_ns));
	if (phasing->users && phasing->failed_ns)
		return 0;
	return lm_no_memory(phasing->slice->ctx, "use phases");
}

static int check_steps(struct morph_ctx *ctx, const struct morph_steps *steps)
{
	if (!steps->steps.count)
		return lm_fail(ctx, EINVAL, "load phases: no phase was added");
	for (uint32_t at = 0; at < steps->steps.count; at++)
		if (steps->steps.list[at].advance != MORPH_STEP_CALL ||
		    steps->steps.list[at].deadline_ns)
			return lm_fail(
				ctx, EINVAL,
				"step %u must begin by a call (MORPH_STEP_CALL) and have no deadline",
				at);
	return 0;
}

MORPH_API int morph_slice_phases_load(struct morph_slice *slice, const struct morph_steps *steps,
				      const struct morph_slice_phases_opts *opts,
				      struct morph_slice_phases **out)
{
	struct morph_steps looped = *steps;
	struct morph_slice_phases *phasing;
	int error;

	*out = NULL;
	error = check_steps(slice->ctx, steps);
	if (error)
		return error;
	phasing = phasing_new(slice, opts);
	if (!phasing)
		return -slice->ctx->error.code;
	error = set_count(phasing, steps->steps.count);
	looped.flags = MORPH_SCHEDULE_LOOP;
	if (!error)
		error = morph_slice_schedule_load(slice, &looped, &phasing->schedule);
	if (error)
		morph_slice_phases_free(phasing);
	else
		*out = phasing;
	return error;
}

MORPH_API int morph_slice_phases_join(struct morph_slice *slice, uint32_t schedule,
				      const struct morph_slice_phases_opts *opts,
				      struct morph_slice_phases **out)
{
	struct morph_schedule_info info;
	struct morph_slice_phases *phasing = phasing_new(slice, opts);
	int error;

	*out = NULL;
	if (!phasing)
		return -slice->ctx->error.code;
	phasing->schedule = schedule;
	error = lm_phasing_read(phasing, &info);
	if (!error)
		error = set_count(phasing, info.steps.count);
	if (error)
		morph_slice_phases_free(phasing);
	else
		*out = phasing;
	return error;
}

MORPH_API void morph_slice_phases_free(struct morph_slice_phases *phasing)
{
	if (!phasing)
		return;
	lm_locks_close(phasing);
	free(phasing->users);
	free(phasing->failed_ns);
	free(phasing);
}

uint32_t morph_slice_phases_table(const struct morph_slice_phases *phasing)
{
	return phasing->count;
}

MORPH_API void morph_slice_phases_info(const struct morph_slice_phases *phasing,
				       struct morph_slice_phases_info *out)
{
	*out = phasing->counts;
	out->schedule = phasing->schedule;
}

/* ------------------------------------------------------------------ waiting */

/* How long a rank has waited, and how long it will. */
struct patience {
	int64_t timeout_ns;
	uint64_t begin_ns;
	uint64_t nap_ns;
	uint32_t phase; /* phase to light; or MORPH_PHASE_NONE */
	bool repair; /* already counted */
	enum morph_slice_phases_ask wants,
		asked; /* what it requests later; what was requested before */
	bool asks;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct patience patience_of(uint32_t phase, int64_t timeout_ns,
				   enum morph_slice_phases_ask wants)
{
	return (struct patience){
		.timeout_ns = timeout_ns,
		.begin_ns = now_ns(),
		.nap_ns = LEAST_NAP_NS,
		.phase = phase,
		.wants = wants,
	};
}

static bool has_waited(const struct patience *patience, int64_t time_ns)
{
	return now_ns() - patience->begin_ns >= (uint64_t)time_ns;
}

static bool is_late(const struct patience *patience)
{
	return patience->timeout_ns >= 0 && has_waited(patience, patience->timeout_ns);
}

/* Sleep a little, longer each time. */
static void rest(struct patience *patience)
{
	struct timespec nap = { .tv_nsec = (long)patience->nap_ns };

	nanosleep(&nap, NULL);
	patience->nap_ns = patience->nap_ns * 2 < LONGEST_NAP_NS ? patience->nap_ns * 2 :
								   LONGEST_NAP_NS;
}

/*
 * A change of light often detects failed hardware first, and the driver knows it as failed a moment
 * later. Then a repair reroutes the circuits, and the schedule can start again. The change has
 * begun, so even a call without patience waits for this. No call waits for hardware that failed
 * longer ago.
 */
static bool may_mend(struct morph_slice_phases *phasing, const struct patience *patience)
{
	uint64_t *failed_ns = &phasing->failed_ns[patience->phase];

	if (!*failed_ns)
		*failed_ns = now_ns();
	return now_ns() - *failed_ns < MENDING_NS;
}

/* After an attempt: 0 to try again, or the failure. */
static int be_patient(struct morph_slice_phases *phasing, struct patience *patience, int error,
		      const char *what)
{
	if (error == -EIO && patience->phase < phasing->count && may_mend(phasing, patience)) {
		rest(patience);
		return 0;
	}
	if (error != -EAGAIN)
		return error;
	if (phasing->repairing && patience->phase < phasing->count)
		phasing->failed_ns[patience->phase] = 0;
	if (phasing->repairing && !patience->repair) {
		phasing->counts.repairs++;
		patience->repair = true;
	}
	if (is_late(patience))
		return lm_fail(phasing->slice->ctx, ETIMEDOUT, "%s: %s", what,
			       phasing->repairing ? "the slice is still being repaired" :
						    "ranks are in another phase");
	if (patience->wants > phasing->asks && has_waited(patience, TURN_NS)) {
		patience->asked = phasing->asks;
		patience->asks = !morph_slice_phases_ask(phasing, patience->wants);
	}
	rest(patience);
	return 0;
}

/* The rank waits no more, whatever the result. */
static void be_done(struct morph_slice_phases *phasing, const struct patience *patience)
{
	if (patience->asks)
		morph_slice_phases_ask(phasing, patience->asked);
}

/* ------------------------------------------------------------------- asking */

/* A request to unload comes in addition. */
MORPH_API int morph_slice_phases_ask(struct morph_slice_phases *phasing,
				     enum morph_slice_phases_ask what)
{
	int error;

	for (; phasing->asks > what; phasing->asks--)
		lm_lock_drop(phasing, LM_LOCK_ASK, phasing->asks);
	for (; phasing->asks < what; phasing->asks++) {
		error = lm_lock_share(phasing, LM_LOCK_ASK, phasing->asks + 1);
		if (error)
			return error;
	}
	return 0;
}

MORPH_API bool morph_slice_phases_asked(struct morph_slice_phases *phasing)
{
	return lm_lock_is_shared(phasing, LM_LOCK_ASK, MORPH_ASK_LIGHT);
}

/* ----------------------------------------------------------------- entering */

static int check_phase(const struct morph_slice_phases *phasing, uint32_t phase)
{
	if (phase < phasing->count)
		return 0;
	return lm_fail(phasing->slice->ctx, ENOENT, "no phase %u: there are %u phases", phase,
		       phasing->count);
}

/* The rank returns to this phase only. */
static void stay(struct morph_slice_phases *phasing, uint32_t phase)
{
	if (phasing->stays == phase)
		return;
	if (phasing->stays != MORPH_PHASE_NONE)
		lm_lock_drop(phasing, LM_LOCK_STAY, phasing->stays);
	phasing->stays = phase;
	/* Without this lock other ranks change light sooner, which costs time. */
	if (phase != MORPH_PHASE_NONE && lm_lock_share(phasing, LM_LOCK_STAY, phase))
		phasing->stays = MORPH_PHASE_NONE;
}

/* @found: the phase was already lit. */
static int try_enter(struct morph_slice_phases *phasing, uint32_t phase, bool *found)
{
	struct morph_schedule_info info;
	int error = lm_lock_share(phasing, LM_LOCK_USE, phase);

	*found = false;
	if (error)
		return error;
	error = lm_phasing_look(phasing, &info);
	*found = !error && lm_phasing_is_lit(&info, phase);
	if (*found)
		error = lm_phasing_check(phasing, &info);
	if (*found && !error)
		return 0;
	lm_lock_drop(phasing, LM_LOCK_USE, phase);
	return error ? error : lm_phasing_light(phasing, phase, false);
}

MORPH_API int morph_slice_phases_enter(struct morph_slice_phases *phasing, uint32_t phase,
				       int64_t timeout_ns)
{
	struct patience patience = patience_of(phase, timeout_ns, MORPH_ASK_LIGHT);
	bool found = false, at_once = true;
	int error = check_phase(phasing, phase);

	if (error)
		return error;
	while (!phasing->users[phase]) {
		error = try_enter(phasing, phase, &found);
		if (!error)
			break;
		error = be_patient(phasing, &patience, error, "enter a phase");
		if (error)
			break;
		at_once = false;
	}
	be_done(phasing, &patience);
	if (error) {
		phasing->counts.late += error == -ETIMEDOUT;
		return error;
	}
	found |= phasing->users[phase];
	phasing->users[phase]++;
	if (found)
		phasing->failed_ns[phase] = 0;
	phasing->announced = MORPH_PHASE_NONE;
	stay(phasing, phase);
	phasing->counts.entered++;
	phasing->counts.lit += found && at_once;
	phasing->counts.wait_ns += now_ns() - patience.begin_ns;
	return 0;
}

MORPH_API int morph_slice_phases_leave(struct morph_slice_phases *phasing, uint32_t phase)
{
	int error = check_phase(phasing, phase);

	if (!error && !phasing->users[phase])
		error = lm_fail(phasing->slice->ctx, ENOENT,
				"leave phase %u: this process has not entered it", phase);
	if (!error && !--phasing->users[phase])
		lm_lock_drop(phasing, LM_LOCK_USE, phase);
	return error;
}

/* --------------------------------------------------------------- announcing */

MORPH_API int morph_slice_phases_announce(struct morph_slice_phases *phasing, uint32_t phase)
{
	int error = phase == MORPH_PHASE_NONE ? 0 : check_phase(phasing, phase);

	if (error)
		return error;
	phasing->announced = phase;
	if (phasing->stays != phase)
		stay(phasing, MORPH_PHASE_NONE);
	return 0;
}

MORPH_API int morph_slice_phases_provision(struct morph_slice_phases *phasing, int64_t timeout_ns)
{
	uint32_t phase = phasing->announced;
	struct patience patience = patience_of(phase, timeout_ns, MORPH_ASK_NOTHING);
	int error;

	if (phase == MORPH_PHASE_NONE)
		return lm_fail(phasing->slice->ctx, ENODATA, "no phase was announced");
	for (;;) {
		error = lm_phasing_light(phasing, phase, true);
		if (!error) {
			phasing->stays = phase;
			return 0;
		}
		error = be_patient(phasing, &patience, error, "provision a phase");
		if (error)
			return error;
	}
}

/* ---------------------------------------------------------------- unloading */

static int try_unload(struct morph_slice_phases *phasing)
{
	int error = lm_lock_alone(phasing, LM_LOCK_CHANGE, 0);

	/* This rank does not return. */
	stay(phasing, MORPH_PHASE_NONE);
	if (!error)
		error = lm_lock_uses(phasing);
	if (!error)
		error = morph_slice_schedule_unload(phasing->slice, phasing->schedule);
	lm_lock_drop_alone(phasing);
	return error == -EINTR ? -EAGAIN : error;
}

MORPH_API int morph_slice_phases_unload(struct morph_slice_phases *phasing, int64_t timeout_ns)
{
	struct patience patience = patience_of(MORPH_PHASE_NONE, timeout_ns, MORPH_ASK_UNLOAD);
	int error;

	for (;;) {
		error = try_unload(phasing);
		if (!error)
			break;
		error = be_patient(phasing, &patience, error, "unload phases");
		if (error)
			break;
	}
	be_done(phasing, &patience);
	return error;
}
