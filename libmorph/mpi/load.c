// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shim: the phases that are loaded on a slice. Ranks of the program are those of the slice. The
 * first rank loads a phase for each call that created communicators. All phases are loaded again
 * when another one is added, and all ranks take part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"

/* -------------------------------------------------------------------- files */

bool shim_view_open(struct view *view)
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

void shim_view_close(struct view *view)
{
	morph_slice_phases_free(view->phasing);
	morph_slice_close(view->slice);
	morph_ctx_free(view->ctx);
	memset(view, 0, sizeof(*view));
}

void shim_view_join(struct view *view, uint32_t schedule)
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

bool shim_slice_has_room(struct view *view)
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
		    shim_now_ns() - begin > shim_least_patience(shim.patience_ns))
			break;
		shim_unlock();
		shim_make_progress();
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

void shim_families_free(void)
{
	while (control.families_count)
		drop_family();
	free(control.families);
}

void shim_add_counts(struct view *view)
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
	uint64_t most = hopeless ? SHIM_UNLOAD_NS : shim_least_patience(shim.patience_ns);
	uint64_t begin = shim_now_ns();
	int error;

	for (;;) {
		error = view->phasing ? morph_slice_phases_unload(view->phasing, 0) : 0;
		control.unloads = error == -ETIMEDOUT && shim_now_ns() - begin < most;
		shim_ask_to_leave();
		if (!control.unloads)
			break;
		shim_unlock();
		shim_make_progress();
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
	shim_add_counts(view);
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

uint32_t shim_load_add(MPI_Comm all, const int *leaders, const int *places, int root, bool hopeless)
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
		shim_add_counts(&control.main);
		shim_view_join(&control.main, message.schedule);
		control.schedule = message.schedule;
		control.loads = message.loads;
	}
	control.announced = NO_PHASE;
	control.wishes++;
	pthread_cond_signal(&control.wanted);
	shim_unlock();
	return message.phase;
}
