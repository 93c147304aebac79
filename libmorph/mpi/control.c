// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shim: phases on a slice. Ranks of the program are those of the slice. The first rank loads a
 * phase for each call that created communicators. All phases are loaded again when another one is
 * added, and all ranks take part. A helper thread with its own files lights announced phases.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim.h"

#define NAP_NS 100000
#define TRUSTED 1000 /* operations in a row after which patience grows */
#define LEAST_TURN_NS 10000000
#define UNLOAD_NS 100000000 /* limit if no other thread could end the blocking uses */

/* Files and phases of a thread. */
struct view {
	struct morph_ctx *ctx;
	struct morph_slice *slice;
	struct morph_slice_phases *phasing;
};

/*
 * Communicators that are lit together. For each rank: its leader, or -1, and its place among the
 * ranks with the same leader.
 */
struct family {
	int *leaders, *places;
};

static struct {
	struct view main; /* under the lock */
	uint32_t schedule; /* 0: none is loaded */
	uint32_t loads; /* loads of the first rank that are known; each ends the schedule before */
	bool loading_now; /* the first rank is loading: a missing schedule appears soon */
	pthread_mutex_t loading; /* taken before the lock, which is released while uses end */
	struct family *families; /* families in the order of phases */
	uint32_t families_count;
	pthread_t helper;
	bool helps, ends;
	uint32_t announced;
	uint64_t wishes; /* number of announcements */
	pthread_cond_t wanted;
	struct morph_slice_phases_info counts; /* of changes, without the present phases */
	uint64_t provisioned;
	int64_t patience_ns; /* present value; it shrinks with each timeout */
	uint32_t in_time; /* operations in time since the last timeout */
	uint32_t asking; /* threads that wait for light */
	bool unloads; /* a thread waits until no rank has a phase */
	uint64_t change_ns; /* time of the fastest change; 0: none yet */
} control = { .announced = NO_PHASE,
	      .loading = PTHREAD_MUTEX_INITIALIZER,
	      .wanted = PTHREAD_COND_INITIALIZER };

/* Other ranks can be about to change light, and wait for nothing else. */
static uint64_t least_patience(int64_t patience_ns)
{
	return patience_ns > UNLOAD_NS ? (uint64_t)patience_ns : UNLOAD_NS;
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	nanosleep(&time, NULL);
}

/*
 * Between two attempts. MPI makes progress only in its calls, and other ranks can be in the phase
 * because of messages to this rank.
 */
static void go_on(void)
{
	int flag;

	shim_orphans(false);
	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	nap();
}

/* ------------------------------------------------------------------- turns */

/*
 * Request that ranks in a blocking phase leave it. Called with the lock, at each attempt, because
 * the phases can have changed.
 */
static void ask(void)
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
		go_on();
	while (shim_control_asked());
}

/* -------------------------------------------------------------------- files */

/* A number is an open file if that belongs to a slice, else the number of the slice. */
static bool view_open(struct view *view)
{
	const char *name = getenv("MORPH_SLICE");
	char *end;
	long fd;

	memset(view, 0, sizeof(*view));
	if (!name || morph_ctx_new(NULL, &view->ctx))
		return false;
	fd = strtol(name, &end, 10);
	if (*end || end == name || fd < 3 || morph_slice_from_fd(view->ctx, (int)fd, &view->slice))
		morph_slice_open(view->ctx, name, &view->slice);
	if (!view->slice)
		shim_say("cannot use slice %s: %s", name, morph_error_text(view->ctx));
	return view->slice;
}

static void view_close(struct view *view)
{
	morph_slice_phases_free(view->phasing);
	morph_slice_close(view->slice);
	morph_ctx_free(view->ctx);
	memset(view, 0, sizeof(*view));
}

/* A missing schedule was replaced by the first rank, which will report it to this rank. */
static void view_join(struct view *view, uint32_t schedule)
{
	MORPH_OPTS(morph_slice_phases_opts, opts, .locks = getenv("MORPH_LOCKS"));
	int error = 0;

	morph_slice_phases_free(view->phasing);
	view->phasing = NULL;
	if (schedule && view->slice)
		error = morph_slice_phases_join(view->slice, schedule, &opts, &view->phasing);
	if (error && error != -ENOENT)
		shim_say("cannot use phases: %s", morph_error_text(view->ctx));
}

static bool slice_has_room(struct view *view)
{
	struct morph_object *info;
	size_t ranks;

	if (morph_slice_read(view->slice, &info, NULL)) {
		shim_say("%s", morph_error_text(view->ctx));
		return false;
	}
	ranks = morph_object_values(info, "rank");
	morph_object_free(info);
	if (ranks < (size_t)shim.size)
		shim_say("the slice has %zu ranks, the program %d", ranks, shim.size);
	return ranks >= (size_t)shim.size;
}

/* ------------------------------------------------------------------ loading */

static int add_circuit(struct morph_steps *steps, uint32_t *known, int src, int dst)
{
	uint32_t *circuit = &known[src * shim.size + dst];
	int number;

	if (!*circuit) {
		number = morph_steps_circuit(steps, (uint32_t)src, (uint32_t)dst, NULL);
		if (number < 0)
			return number;
		*circuit = (uint32_t)number + 1;
	}
	return (int)*circuit - 1;
}

/* The next member of a rank's ring; *count: number of members. */
static int next_of(const struct family *family, int rank, int *count)
{
	int first = rank, next = -1;

	*count = 0;
	for (int other = 0; other < shim.size; other++) {
		if (family->leaders[other] != family->leaders[rank])
			continue;
		++*count;
		if (!family->places[other])
			first = other;
		if (family->places[other] == family->places[rank] + 1)
			next = other;
	}
	return next < 0 ? first : next;
}

static bool add_phase(struct morph_steps *steps, uint32_t *known, const struct family *family,
		      bool both_ways)
{
	uint32_t *held = calloc(2 * (size_t)shim.size, sizeof(*held));
	size_t count = 0;
	bool added = held;

	for (int rank = 0; added && rank < shim.size; rank++) {
		int members, next, circuit;

		if (family->leaders[rank] < 0)
			continue;
		next = next_of(family, rank, &members);
		circuit = add_circuit(steps, known, rank, next);
		added = circuit >= 0;
		held[count++] = (uint32_t)circuit;
		if (!both_ways || members < 3 || !added)
			continue;
		circuit = add_circuit(steps, known, next, rank);
		added = circuit >= 0;
		held[count++] = (uint32_t)circuit;
	}
	added = added && morph_steps_add(steps, held, count, NULL) >= 0;
	free(held);
	return added;
}

static bool load(bool both_ways)
{
	MORPH_OPTS(morph_slice_phases_opts, opts, .locks = getenv("MORPH_LOCKS"));
	struct view *view = &control.main;
	struct morph_steps *steps = morph_steps_new(view->ctx);
	uint32_t *known = calloc((size_t)shim.size * (size_t)shim.size, sizeof(*known));
	uint64_t begin = shim_now_ns();
	struct morph_slice_phases_info info;
	bool made = steps && known;
	int error = -ENOMEM;

	for (uint32_t at = 0; made && at < control.families_count; at++)
		made = add_phase(steps, known, &control.families[at], both_ways);
	/* A repair or a signal blocks it for a moment. */
	while (made) {
		error = morph_slice_phases_load(view->slice, steps, &opts, &view->phasing);
		if ((error != -EAGAIN && error != -EINTR) ||
		    shim_now_ns() - begin > least_patience(shim.patience_ns))
			break;
		shim_unlock();
		go_on();
		shim_lock();
	}
	if (!error) {
		morph_slice_phases_info(view->phasing, &info);
		control.schedule = info.schedule;
	}
	morph_steps_free(steps);
	free(known);
	return control.schedule;
}

/* If circuits in both directions do not fit, those in one direction can fit. */
static bool load_any(void)
{
	bool loaded;

	control.loading_now = true;
	loaded = control.families_count && (load(true) || load(false));
	control.loading_now = false;
	return loaded;
}

static bool keep_family(const int *leaders, const int *places)
{
	size_t bytes = (size_t)shim.size * sizeof(int);
	struct family *more =
		realloc(control.families, (control.families_count + 1) * sizeof(*control.families));
	struct family family = { malloc(bytes), malloc(bytes) };

	if (more)
		control.families = more;
	if (!more || !family.leaders || !family.places) {
		free(family.leaders);
		free(family.places);
		return false;
	}
	memcpy(family.leaders, leaders, bytes);
	memcpy(family.places, places, bytes);
	control.families[control.families_count++] = family;
	return true;
}

static void drop_family(void)
{
	struct family *family = &control.families[--control.families_count];

	free(family->leaders);
	free(family->places);
}

/* Counts of entering are not one for each call. */
static void add_counts(struct view *view)
{
	struct morph_slice_phases_info counts;

	if (!view->phasing)
		return;
	morph_slice_phases_info(view->phasing, &counts);
	control.counts.changes += counts.changes;
	control.counts.jumps += counts.jumps;
	control.counts.repairs += counts.repairs;
}

/* Programs that split a communicator repeatedly get the same phases. */
static uint32_t find_family(const int *leaders, const int *places)
{
	size_t bytes = (size_t)shim.size * sizeof(int);

	for (uint32_t at = 0; control.schedule && at < control.families_count; at++)
		if (!memcmp(control.families[at].leaders, leaders, bytes) &&
		    !memcmp(control.families[at].places, places, bytes))
			return at;
	return NO_PHASE;
}

/*
 * Other threads need the lock to end the blocking uses, so it is released between attempts.
 * @hopeless: only the waiting threads could end some of these uses. A schedule that another process
 * has unloaded counts as unloaded.
 */
static bool unload(struct view *view, bool hopeless)
{
	uint64_t most = hopeless ? UNLOAD_NS : least_patience(shim.patience_ns);
	uint64_t begin = shim_now_ns();
	int error;

	for (;;) {
		error = view->phasing ? morph_slice_phases_unload(view->phasing, 0) : 0;
		control.unloads = error == -ETIMEDOUT && shim_now_ns() - begin < most;
		ask();
		if (!control.unloads)
			break;
		shim_unlock();
		go_on();
		shim_lock();
	}
	if (error == -ENOENT)
		error = 0;
	if (error)
		shim_say("skips a new phase, because the old ones cannot be unloaded: %s",
			 morph_error_text(view->ctx));
	return !error;
}

/*
 * The first rank adds a phase, with the lock. Returns its number, or NO_PHASE if nothing has
 * changed.
 */
static uint32_t load_more(const int *leaders, const int *places, bool hopeless)
{
	struct view *view = &control.main;
	uint32_t known = find_family(leaders, places);

	if (known != NO_PHASE || !keep_family(leaders, places))
		return known;
	if (!unload(view, hopeless)) {
		drop_family();
		return NO_PHASE;
	}
	add_counts(view);
	morph_slice_phases_free(view->phasing);
	view->phasing = NULL;
	control.schedule = 0;
	control.loads++;
	if (load_any())
		return control.families_count - 1;
	shim_say("cannot load a phase: %s", morph_error_text(view->ctx));
	drop_family();
	load_any();
	return NO_PHASE;
}

uint32_t shim_control_add(MPI_Comm all, const int *leaders, const int *places, int root,
			  bool hopeless)
{
	struct message {
		uint32_t phase, schedule, loads;
	} message = { .phase = NO_PHASE };

	if (!shim.rank) {
		pthread_mutex_lock(&control.loading);
		shim_lock();
		message.phase = load_more(leaders, places, hopeless || !shim.threads);
		message.schedule = control.schedule;
		message.loads = control.loads;
		shim_unlock();
		pthread_mutex_unlock(&control.loading);
	}
	PMPI_Bcast(&message, sizeof(message) / sizeof(uint32_t), MPI_UINT32_T, root, all);
	shim_lock();
	/* Threads can receive two loads in another order. */
	if (message.loads > control.loads) {
		add_counts(&control.main);
		view_join(&control.main, message.schedule);
		control.schedule = message.schedule;
		control.loads = message.loads;
	}
	control.announced = NO_PHASE;
	control.wishes++;
	pthread_cond_signal(&control.wanted);
	shim_unlock();
	return message.phase;
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
		ask();
		if (error != -EAGAIN)
			control.counts.wait_ns += waited;
		shim_unlock();
		if (error != -EAGAIN)
			return !error;
		go_on();
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
	add_counts(&control.main);
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
	if (!view_open(&view))
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
			view_join(&view, control.schedule);
		schedule = control.schedule;
		shim_unlock();
		again = view.phasing && !morph_slice_phases_announce(view.phasing, phase) &&
			phase != NO_PHASE && try_ahead(&view);
		if (again)
			nap();
		shim_lock();
	}
	shim_unlock();
	view_close(&view);
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
	if (mine && (!view_open(&control.main) || !slice_has_room(&control.main)))
		mine = 0;
	PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (all < mine)
		shim_say("another rank has no slice, or another mode");
	shim.mode = (enum shim_mode)all;
	if (shim.mode == SHIM_OBSERVE)
		view_close(&control.main);
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
	view_join(&control.main, shim.rank ? 0 : control.schedule);
	PMPI_Barrier(MPI_COMM_WORLD);
	if (!shim.rank && control.main.phasing &&
	    morph_slice_phases_unload(control.main.phasing,
				      (int64_t)least_patience(shim.patience_ns)))
		shim_say("phases stay loaded: %s", morph_error_text(control.main.ctx));
	while (control.families_count)
		drop_family();
	free(control.families);
	view_close(&control.main);
}
