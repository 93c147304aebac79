// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recipes that break something and check the outcome. Each returns false if it found no
 * victim.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo.h"

#define END_MS 15000 /* most time from a failure to its end */
#define FREE_NS 5000000000ULL /* after this the accelerators of a killed owner count as lost */
#define EXHAUST_TRIES 16u

/* -------------------------------------------------------------------- tools */

static void inject(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void inject(const char *format, ...)
{
	char text[96];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (sim_control(&demo.sim, "fault", "%s", text))
		violation("the simulator refused the fault \"%s\"", text);
}

typedef bool (*fits_fn)(const struct view *view);

static bool has_ring(const struct view *view)
{
	return view->ranks > 1;
}

static bool has_anything(const struct view *view)
{
	return view->ranks;
}

static bool has_plan(const struct view *view)
{
	return view->ranks > 1 && view->spare[0] != MORPH_ANY;
}

static bool has_fibre(const struct view *view)
{
	uint32_t i;

	for (i = 0; i < view->circuits; i++)
		if (view->beam[i].fibre != MORPH_ANY)
			return true;
	return false;
}

static bool has_tile_guide(const struct view *view)
{
	return view->circuits && view->beam[0].tile != MORPH_ANY;
}

/* Draw a running job with a healthy slice, and copy its view. */
static struct job *pick(fits_fn fits, struct view *view)
{
	struct job *found[JOBS_MAX], *job;
	uint32_t count = 0, i;

	for (i = 0; i < demo.jobs_count; i++) {
		job = &demo.jobs[i];
		if (job->stage != STAGE_RUNNING || job->hurt || job->held)
			continue;
		*view = view_of(job);
		if (view->state == MORPH_SLICE_OK && fits(view))
			found[count++] = job;
	}
	if (!count)
		return NULL;
	job = found[chance(count)];
	*view = view_of(job);
	return job;
}

static bool has_ended(const void *arg)
{
	const struct failure *failure = arg;

	return failure->recovered || failure->degraded;
}

static bool order_done(const void *arg)
{
	const struct job *job = arg;

	return job->done != -1;
}

static const char *part_name(uint32_t part)
{
	static const char *const names[] = {
		"nothing", "accelerator", "laser", "receiver", "element", "guide", "edge",
	};

	return part < sizeof(names) / sizeof(names[0]) ? names[part] : "unknown part";
}

/* Wait until the core has handled the failure, and record the outcome. */
static void conclude(struct failure *failure)
{
	if (!pump(has_ended, failure, END_MS)) {
		failure_end(failure, false, "NOT ACCOUNTED FOR: no event");
		failure->accounted = false;
		violation("%s of %s: neither recovered nor degraded", failure->kind,
			  failure->target);
		return;
	}
	if (failure->degraded) {
		sim_refresh(&demo.sim);
		failure_end(failure, false, "degraded: %s %u named, %u spares free",
			    part_name(failure->part), failure->index, demo.sim.info.spares);
	} else if (failure->replaced) {
		failure_end(failure, true, "accelerator %u replaced by %u",
			    failure->old_accelerator, failure->new_accelerator);
	} else if (failure->moved) {
		failure_end(failure, true, "%u circuits rerouted", failure->moved);
	} else {
		failure_end(failure, true, "the test found the light in order");
	}
}

/* ------------------------------------------------------------------ pictures */

static bool draw(const char *name, const char *title)
{
	const char *morphctl = getenv("MORPHCTL");
	char command[700];
	int status;

	snprintf(command, sizeof(command), "%s topo --svg --title '%s' > %s/%s.svg",
		 morphctl ? morphctl : "morphctl", title, demo.results, name);
	status = system(command);
	if (status)
		violation("no picture: \"%s\" ended with status %#x", command, status);
	return !status;
}

/* ------------------------------------------------------------- accelerators */

static bool accelerator_dead(const char *name)
{
	bool pictures = !demo.pictures_before;
	struct failure *failure;
	struct view view;
	struct job *job;
	uint32_t dead;

	job = pick(has_ring, &view);
	if (!job || (pictures && view.ranks < 4))
		return false;
	job->held = true;
	if (pictures) {
		gate();
		demo.pictures_before = draw("fabric-before", "before the failover");
	}
	view = view_of(job);
	dead = view.accelerator[chance(view.ranks)];
	failure = failure_begin(name, job);
	snprintf(failure->target, sizeof(failure->target), "accelerator %u", dead);
	inject("accelerator_dead %u", dead);
	conclude(failure);
	if (failure->replaced && failure->old_accelerator != dead)
		violation("accelerator %u died, %u was replaced", dead, failure->old_accelerator);
	if (pictures) {
		demo.pictures_after = draw("fabric-after", "after the failover");
		ungate();
	}
	return true;
}

static bool idle_dead(const char *name)
{
	uint32_t total = demo.sim.info.accelerators, first = chance(total), spare = 0, i;
	struct failure *failure;

	for (i = 0; i < total; i++) {
		spare = (first + i) % total;
		if (read_accelerator(&demo.sim, spare).use == MORPH_USE_SPARE)
			break;
	}
	if (i == total)
		return false;
	failure = failure_begin(name, NULL);
	snprintf(failure->target, sizeof(failure->target), "spare %u", spare);
	inject("accelerator_dead %u", spare);
	if (wait_health(&demo.sim, spare, MORPH_HEALTH_FAILED)) {
		failure->took_ns = boottime_ns() - failure->injected_ns;
		failure_end(failure, true, "marked failed before a slice needed it");
	} else {
		failure_end(failure, false, "NOT ACCOUNTED FOR: it still counts as healthy");
		violation("spare %u died, and the driver still lists it as healthy", spare);
	}
	return true;
}

static bool settle(const char *name)
{
	struct failure *failure;
	struct view view;
	struct job *job;
	uint32_t dead;

	job = pick(has_ring, &view);
	if (!job)
		return false;
	job->held = true;
	gate();
	view = view_of(job);
	dead = view.beam[0].rx / demo.planes;
	failure = failure_begin(name, job);
	snprintf(failure->target, sizeof(failure->target), "accelerator %u", dead);
	/* Kill the accelerator with the request that turns the elements, before light settles. */
	inject("accelerator_dead %u after=1", dead);
	order(job, ORDER_MOVE);
	if (!pump(order_done, job, END_MS))
		violation("job %u: a change did not return", failure->job);
	if (job->done && job->outcome == MORPH_OUTCOME_NONE) {
		failure_drop(failure);
		ungate();
		mend();
		return false;
	}
	conclude(failure);
	ungate();
	snprintf(failure->end + strlen(failure->end), sizeof(failure->end) - strlen(failure->end),
		 "; the change: %s", outcome_name(job->outcome));
	return true;
}

static bool prepare(const char *name)
{
	struct failure *failure;
	struct view view;
	struct job *job;
	uint32_t dead;

	job = pick(has_ring, &view);
	if (!job)
		return false;
	job->held = true;
	gate();
	order(job, ORDER_PREPARE);
	if (!pump(order_done, job, END_MS) || job->outcome != MORPH_OUTCOME_PREPARED) {
		job->held = false;
		ungate();
		return false;
	}
	view = view_of(job);
	dead = view.beam[0].tx / demo.planes;
	failure = failure_begin(name, job);
	snprintf(failure->target, sizeof(failure->target), "accelerator %u", dead);
	inject("accelerator_dead %u", dead);
	conclude(failure);
	order(job, ORDER_COMMIT);
	pump(order_done, job, END_MS);
	if (!failure->revoked || job->done != ECANCELED)
		violation("job %u: prepared, then a failure: %u REVOKED events, commit returned %s",
			  failure->job, failure->revoked, strerror(job->done));
	ungate();
	return true;
}

/* The spare of the protection dies at the same time, or while the failover settles. */
static bool kill_spare(const char *name, const char *when)
{
	struct failure *failure;
	uint32_t dead, spare;
	struct view view;
	struct job *job;

	job = pick(has_plan, &view);
	if (!job)
		return false;
	job->held = true;
	gate();
	order(job, ORDER_LOOK);
	pump(order_done, job, END_MS);
	view = view_of(job);
	dead = view.accelerator[0];
	spare = view.spare[0];
	if (spare == MORPH_ANY || read_accelerator(&demo.sim, spare).use != MORPH_USE_SPARE) {
		job->held = false;
		ungate();
		return false;
	}
	failure = failure_begin(name, job);
	snprintf(failure->target, sizeof(failure->target), "accelerator %u, spare %u", dead, spare);
	inject("accelerator_dead %u%s", spare, when);
	inject("accelerator_dead %u", dead);
	conclude(failure);
	if (failure->survived && failure->new_accelerator == spare)
		violation("accelerator %u was replaced by %u, which is dead", dead, spare);
	ungate();
	return true;
}

static bool spare_with(const char *name)
{
	return kill_spare(name, "");
}

static bool spare_in_settle(const char *name)
{
	return kill_spare(name, " after=1");
}

/* ------------------------------------------------------------------- light */

static bool laser_dead(const char *name)
{
	struct failure *failure;
	const struct beam *beam;
	struct view view;
	struct job *job;

	job = pick(has_ring, &view);
	if (!job)
		return false;
	beam = &view.beam[chance(view.circuits)];
	failure = failure_begin(name, job);
	snprintf(failure->target, sizeof(failure->target), "laser %u.%u", beam->tx / demo.planes,
		 beam->tx % demo.planes);
	inject("laser_dead %u.%u.%llx", beam->tx / demo.planes, beam->tx % demo.planes,
	       (unsigned long long)beam->lanes);
	conclude(failure);
	return true;
}

static bool fibre_cut(const char *name)
{
	struct failure *failure;
	struct view view;
	struct job *job;
	uint32_t i;

	job = pick(has_fibre, &view);
	if (!job)
		return false;
	for (i = 0; view.beam[i].fibre == MORPH_ANY; i++)
		;
	failure = failure_begin(name, job);
	snprintf(failure->target, sizeof(failure->target), "fibre %u", view.beam[i].fibre);
	inject("fibre_cut %u", view.beam[i].fibre);
	conclude(failure);
	return true;
}

static bool guide_lossy(const char *name)
{
	struct failure *failure;
	struct view view;
	struct job *job;

	job = pick(has_tile_guide, &view);
	if (!job)
		return false;
	failure = failure_begin(name, job);
	snprintf(failure->target, sizeof(failure->target), "guide %u", view.beam[0].tile);
	inject("guide_lossy %u mdb=25000", view.beam[0].tile);
	conclude(failure);
	return true;
}

/* ------------------------------------------------------------------- owners */

static bool any_held(const struct view *view)
{
	uint32_t i, use;

	for (i = 0; i < view->ranks; i++) {
		use = read_accelerator(&demo.sim, view->accelerator[i]).use;
		if (use == MORPH_USE_HELD || use == MORPH_USE_DRAINING)
			return true;
	}
	return false;
}

static void kill_and_measure(struct failure *failure, struct job *job, const struct view *view)
{
	struct lit lit;
	bool dark;

	failure->injected_ns = boottime_ns();
	kill(job->pid, SIGKILL);
	job->stage = STAGE_KILLED;
	while (any_held(view) && boottime_ns() - failure->injected_ns < FREE_NS)
		usleep(300);
	failure->took_ns = boottime_ns() - failure->injected_ns;
	dark = light_read(&lit) && light_dark(&lit, view->accelerator, view->ranks);
	failure->freed = true;
	if (dark && failure->took_ns < FREE_NS) {
		failure_end(failure, true, "free and dark after %.1f ms", failure->took_ns / 1e6);
		return;
	}
	failure_end(failure, false, "NOT %s after %.1f ms", dark ? "free" : "dark",
		    failure->took_ns / 1e6);
	violation("job %u was killed: its accelerators were not %s after %.1f ms", failure->job,
		  dark ? "free" : "dark", failure->took_ns / 1e6);
}

static bool kill_owner(const char *name, bool changing)
{
	struct failure *failure;
	struct view view;
	struct job *job;

	job = pick(changing ? has_ring : has_anything, &view);
	if (!job)
		return false;
	job->held = true;
	gate();
	view = view_of(job);
	failure = failure_begin(name, job);
	snprintf(failure->target, sizeof(failure->target), "job %u, %u accelerators", failure->job,
		 view.ranks);
	if (changing) {
		order(job, ORDER_MOVE);
		usleep(chance(4000));
	}
	kill_and_measure(failure, job, &view);
	ungate();
	return true;
}

static bool owner_killed(const char *name)
{
	return kill_owner(name, false);
}

static bool owner_killed_changing(const char *name)
{
	return kill_owner(name, true);
}

/* --------------------------------------------------------------- exhaustion */

/* Kill one more accelerator, and repair none. Returns true if no spare was left. */
static bool exhaust_one(const char *name)
{
	struct failure *failure;
	struct view view;
	struct job *job;
	uint32_t dead;

	job = pick(has_anything, &view);
	if (!job)
		return false;
	sim_refresh(&demo.sim);
	failure =
		failure_begin(demo.sim.info.spares ? name : "accelerator dead, no spare left", job);
	dead = view.accelerator[chance(view.ranks)];
	snprintf(failure->target, sizeof(failure->target), "accelerator %u", dead);
	inject("accelerator_dead %u", dead);
	conclude(failure);
	if (!failure->degraded)
		return false;
	if (failure->part != MORPH_PART_ACCELERATOR || failure->index != dead)
		violation("accelerator %u died, the slice names %s %u", dead,
			  part_name(failure->part), failure->index);
	sim_refresh(&demo.sim);
	return !demo.sim.info.spares;
}

static bool exhaust(const char *name)
{
	struct view view;
	uint32_t tries;
	bool past = false;

	if (!pick(has_ring, &view))
		return false;
	gate();
	for (tries = 0; tries < EXHAUST_TRIES && !past; tries++)
		past = exhaust_one(name);
	if (!past)
		violation("%u accelerators died, and spares were left", tries);
	ungate();
	return true;
}

/* ------------------------------------------------------------------- repairs */

static bool all_healthy(const void *unused)
{
	uint32_t i;

	(void)unused;
	for (i = 0; i < demo.jobs_count; i++)
		if (demo.jobs[i].hurt && demo.jobs[i].stage == STAGE_RUNNING)
			return false;
	for (i = 0; i < demo.sim.info.accelerators; i++)
		if (read_accelerator(&demo.sim, i).health != MORPH_HEALTH_OK)
			return false;
	return true;
}

static void test_guides(void)
{
	const char *morphctl = getenv("MORPHCTL");
	struct morph_guide_info guides[256];
	uint32_t first, found = 0;
	char command[2000];
	size_t used;
	int count, i;

	used = snprintf(command, sizeof(command), "%s guide test",
			morphctl ? morphctl : "morphctl");
	for (first = 0; first < demo.sim.info.guides; first += count) {
		count = fabric_read(demo.sim.fd, MORPH_FABRIC_READ_GUIDES, first,
				    (struct morph_array)ARRAY(guides, 256));
		if (count <= 0)
			return;
		for (i = 0; i < count; i++)
			if (guides[i].health != MORPH_HEALTH_OK && used + 12 < sizeof(command)) {
				used += snprintf(command + used, sizeof(command) - used, " %u",
						 guides[i].guide);
				found++;
			}
	}
	snprintf(command + used, sizeof(command) - used, " > /dev/null 2>&1");
	if (found && !system(command))
		demo.mended_guides += found;
}

/* End every fault, as a technician would, and check that all slices are whole again. */
void mend(void)
{
	uint32_t i;

	if (sim_control(&demo.sim, "clear", "all"))
		violation("the simulator does not clear its faults");
	pump_for(100); /* for late notes of tenants */
	if (!pump(all_healthy, NULL, 5000)) {
		test_guides();
		pump(all_healthy, NULL, END_MS);
	}
	for (i = 0; i < demo.jobs_count; i++)
		if (demo.jobs[i].hurt && demo.jobs[i].stage == STAGE_RUNNING)
			violation("job %u: no fault is left, but its slice is not whole", i);
	for (i = 0; i < demo.sim.info.accelerators; i++)
		if (read_accelerator(&demo.sim, i).health != MORPH_HEALTH_OK)
			violation("accelerator %u was repaired, but is not in use again", i);
	demo.now = NULL;
}

const struct recipe recipes[] = {
	{ "accelerator dead", 6, accelerator_dead },
	{ "laser dead", 3, laser_dead },
	{ "fibre cut", 2, fibre_cut },
	{ "guide lossy", 2, guide_lossy },
	{ "accelerator dead inside settle", 3, settle },
	{ "accelerator dead inside prepare", 2, prepare },
	{ "accelerator and its spare dead", 2, spare_with },
	{ "spare dead inside failover", 2, spare_in_settle },
	{ "spare dead while idle", 1, idle_dead },
	{ "accelerator dead, fewer spares left", 1, exhaust },
	{ "owner killed", 4, owner_killed },
	{ "owner killed inside a change", 2, owner_killed_changing },
};
const uint32_t recipes_count = sizeof(recipes) / sizeof(recipes[0]);
