// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shim: ranks enter and leave the phases of a slice. A helper thread with its own files lights
 * announced phases.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "control.h"

#define NAP_NS 100000
#define TRUSTED 1000 /* operations in a row after which patience grows */
#define LEAST_TURN_NS 10000000

struct control control = { .announced = NO_PHASE,
			   .loading = PTHREAD_MUTEX_INITIALIZER,
			   .wanted = PTHREAD_COND_INITIALIZER };

uint64_t shim_least_patience(int64_t patience_ns)
{
	return patience_ns > SHIM_UNLOAD_NS ? (uint64_t)patience_ns : SHIM_UNLOAD_NS;
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	nanosleep(&time, NULL);
}

void shim_make_progress(void)
{
	int flag;

	shim_orphans(false);
	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	nap();
}

/* ------------------------------------------------------------------- turns */

void shim_ask_to_leave(void)
{
	enum morph_slice_phases_ask what = control.asking ? MORPH_ASK_LIGHT : MORPH_ASK_NOTHING;

	if (control.main.phasing)
		morph_slice_phases_ask(control.main.phasing,
				       control.unloads ? MORPH_ASK_UNLOAD : what);
}

/*
 * How long other ranks have light before this rank asks. If changes take long, shorter turns would
 * only cause changes. Called with the lock.
 */
static uint64_t turn_ns(void)
{
	return control.change_ns > LEAST_TURN_NS / 4 ? 4 * control.change_ns : LEAST_TURN_NS;
}

/*
 * The measured time includes other work of the machine, least in the fastest change. Called with
 * the lock.
 */
static void count_change(uint64_t took_ns)
{
	if (!control.change_ns || took_ns < control.change_ns)
		control.change_ns = took_ns;
}

/*
 * Whether it is time to yield. The asking rank proceeds when no rank blocks it, so all must stay
 * out at the same time, for as long as running operations take. This time is unknown. So ranks
 * yield for an eighth of each 16 ms, 128 ms and 1024 ms of the common clock. A longer operation
 * makes the yield useless, and costs the other ranks a third of their time.
 */
static bool is_time_of_others(void)
{
	struct timespec now;
	uint64_t ms;

	clock_gettime(CLOCK_REALTIME, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	return ms % 16 < 2 || ms % 128 < 16 || ms % 1024 < 128;
}

bool shim_control_asked(void)
{
	bool asked;

	if (shim.mode == SHIM_OBSERVE || !is_time_of_others())
		return false;
	shim_lock();
	asked = control.main.phasing && morph_slice_phases_asked(control.main.phasing);
	shim_unlock();
	return asked;
}

void shim_control_give_way(void)
{
	do
		shim_make_progress();
	while (shim_control_asked());
}

/* ----------------------------------------------------------- entering, leaving */

/* One attempt, with the lock. -EAGAIN: try again. */
static int try_enter(uint32_t phase)
{
	struct view *view = &control.main;
	int error = view->phasing ? morph_slice_phases_enter(view->phasing, phase, 0) : -ENOENT;

	/* Another thread takes part in the load of a new schedule if this one is gone. */
	if (error == -ETIMEDOUT ||
	    (error == -ENOENT && (control.schedule || control.loading_now) && shim.threads))
		return -EAGAIN;
	if (error && control.schedule)
		shim_say("continues without light: %s", morph_error_text(view->ctx));
	return error;
}

/* The number of changes by this rank; with the lock. */
static uint64_t changes(void)
{
	struct morph_slice_phases_info counts = { 0 };

	if (control.main.phasing)
		morph_slice_phases_info(control.main.phasing, &counts);
	return counts.changes;
}

/*
 * An operation that waited in vain mostly does so in each iteration, however long it waits. But
 * other ranks are asked first, and get time to yield. Called with the lock.
 */
static void trust(bool in_time)
{
	int64_t most = shim.patience_ns, least = 2 * (int64_t)turn_ns();

	if (!in_time) {
		control.patience_ns /= 4;
		control.in_time = 0;
	} else if (++control.in_time >= TRUSTED) {
		control.patience_ns *= 2;
		control.in_time = 0;
	}
	if (control.patience_ns < least)
		control.patience_ns = least;
	if (control.patience_ns > most)
		control.patience_ns = most;
}

/* Half of the time is for the ranks that are asked. Called with the lock. */
static uint64_t asks_after_ns(void)
{
	uint64_t half_ns = (uint64_t)control.patience_ns / 2;

	return half_ns < turn_ns() ? half_ns : turn_ns();
}

bool shim_control_enter(uint32_t phase)
{
	uint64_t begin = shim_now_ns(), tried_ns, waited, before;
	bool at_once = true, asks = false, changed;
	int error;

	for (;; at_once = false) {
		shim_lock();
		before = changes();
		tried_ns = shim_now_ns();
		error = try_enter(phase);
		waited = shim_now_ns() - begin;
		changed = changes() != before;
		if (changed)
			count_change(begin + waited - tried_ns);
		if (!error) {
			control.counts.entered++;
			control.counts.lit += at_once && !changed;
			trust(true);
		} else if (error == -EAGAIN && waited > (uint64_t)control.patience_ns) {
			control.counts.late++;
			trust(false);
			shim_say("continues without light of phase %u, after %llu ms: %s", phase,
				 (unsigned long long)(waited / 1000000),
				 morph_error_text(control.main.ctx));
			error = -ETIMEDOUT;
		}
		control.asking -= asks;
		asks = error == -EAGAIN && waited >= asks_after_ns();
		control.asking += asks;
		shim_ask_to_leave();
		if (error != -EAGAIN)
			control.counts.wait_ns += waited;
		shim_unlock();
		if (error != -EAGAIN)
			return !error;
		shim_make_progress();
	}
}

void shim_control_pass(uint32_t phase)
{
	shim_lock();
	control.counts.late++;
	shim_unlock();
	shim_say(
		"continues without light of phase %u: a participating rank has operations in another phase",
		phase);
}

void shim_control_leave(uint32_t phase)
{
	shim_lock();
	if (control.main.phasing)
		morph_slice_phases_leave(control.main.phasing, phase);
	shim_unlock();
}

void shim_control_announce(uint32_t phase)
{
	if (shim.mode != SHIM_PROVISION)
		return;
	shim_lock();
	if (control.main.phasing && !morph_slice_phases_announce(control.main.phasing, phase)) {
		control.announced = phase;
		control.wishes++;
		pthread_cond_signal(&control.wanted);
	}
	shim_unlock();
}

bool shim_control_counts(struct morph_slice_phases_info *counts)
{
	if (shim.mode == SHIM_OBSERVE)
		return false;
	shim_add_counts(&control.main);
	*counts = control.counts;
	counts->provisioned = control.provisioned;
	return true;
}

/* ------------------------------------------------------------------- ahead */

/* One attempt. Returns whether to try again. */
static bool try_ahead(struct view *view)
{
	struct morph_slice_phases_info before, after;
	int error;

	morph_slice_phases_info(view->phasing, &before);
	error = morph_slice_phases_provision(view->phasing, 0);
	morph_slice_phases_info(view->phasing, &after);
	__atomic_add_fetch(&control.provisioned, after.provisioned - before.provisioned,
			   __ATOMIC_RELAXED);
	return error == -ETIMEDOUT;
}

/* The helper thread: lights the last announced phase. */
static void *help(void *unused)
{
	uint32_t schedule = 0, phase = NO_PHASE;
	uint64_t wishes = 0;
	bool again = false;
	struct view view;

	(void)unused;
	if (!shim_view_open(&view))
		return NULL;
	shim_lock();
	while (!control.ends) {
		if (!again && control.wishes == wishes && control.schedule == schedule) {
			pthread_cond_wait(&control.wanted, &shim.lock);
			continue;
		}
		phase = control.announced;
		wishes = control.wishes;
		if (schedule != control.schedule)
			shim_view_join(&view, control.schedule);
		schedule = control.schedule;
		shim_unlock();
		again = view.phasing && !morph_slice_phases_announce(view.phasing, phase) &&
			phase != NO_PHASE && try_ahead(&view);
		if (again)
			nap();
		shim_lock();
	}
	shim_unlock();
	shim_view_close(&view);
	return NULL;
}

/* Signals belong to threads of the program. */
static bool start_helper(void)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&control.helper, NULL, help, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !error;
}

/* ---------------------------------------------------------- beginning and end */

void shim_control_begin(void)
{
	int mine, all;

	control.patience_ns = shim.patience_ns;
	/* All ranks have a slice and want to use it, or none has. */
	mine = shim.mode == SHIM_OBSERVE ? 0 : (int)shim.mode;
	if (mine && (!shim_view_open(&control.main) || !shim_slice_has_room(&control.main)))
		mine = 0;
	PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (all < mine)
		shim_say("another rank has no slice, or another mode");
	shim.mode = (enum shim_mode)all;
	if (shim.mode == SHIM_OBSERVE)
		shim_view_close(&control.main);
	if (shim.mode == SHIM_PROVISION)
		control.helps = start_helper();
}

/* All ranks have reached the end. The rank that loaded the schedule unloads it. */
void shim_control_end(void)
{
	if (control.helps) {
		shim_lock();
		control.ends = true;
		pthread_cond_signal(&control.wanted);
		shim_unlock();
		pthread_join(control.helper, NULL);
	}
	if (shim.mode == SHIM_OBSERVE)
		return;
	/*
	 * Running operations continue without light. Nothing waits for them, because they can end
	 * in PMPI_Finalize() only.
	 */
	shim_view_join(&control.main, shim.rank ? 0 : control.schedule);
	PMPI_Barrier(MPI_COMM_WORLD);
	if (!shim.rank && control.main.phasing &&
	    morph_slice_phases_unload(control.main.phasing,
				      (int64_t)shim_least_patience(shim.patience_ns)))
		shim_say("phases stay loaded: %s", morph_error_text(control.main.ctx));
	shim_families_free();
	shim_view_close(&control.main);
}
