// SPDX-License-Identifier: GPL-2.0-only
/* One trial: inject, wait until the core is idle, check, repair, check again. */
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "campaign.h"

#define NAMED_MAX 16

const char *const outcome_names[OUTCOMES] = { "untouched", "survived", "degraded", "LOST" };

unsigned int violations, untestable;
static const struct trial *current;

void violation(const char *format, ...)
{
	char text[400], fault[96];
	va_list args;
	unsigned int i;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	violations++;
	printf("# WRONG: %s\n", text);
	for (i = 0; current && i < current->count; i++) {
		fault_text(&current->faults[i], fault, sizeof(fault));
		printf("#   with %s\n", fault);
	}
	if (current && current->first && current->first != current->number)
		printf("#   again: SEED=%llu ONLY=s%u-%u %s\n", (unsigned long long)seed,
		       current->first, current->number, program_invocation_short_name);
	else if (current)
		printf("#   again: SEED=%llu ONLY=%s%u %s\n", (unsigned long long)seed,
		       current->together ? "c" : "s", current->number,
		       program_invocation_short_name);
	fflush(stdout);
}

void violations_are_about(const struct trial *trial)
{
	current = trial;
}

/* --------------------------------------------------------------- events */

/* The events of a slice's owner since the last check. */
struct reports {
	unsigned int events, degraded;
	uint64_t bandwidth_mbps;
	uint64_t moved, replaced; /* circuits and ranks, as masks */
	struct part named[NAMED_MAX];
	unsigned int named_count;
};

static void note_event(struct reports *reports, const struct morph_event *event)
{
	struct part part = { event->part, event->index, 0 };
	unsigned int i;

	reports->events++;
	if (event->type == MORPH_EVENT_DEGRADED) {
		reports->degraded++;
		reports->bandwidth_mbps = event->bandwidth_mbps;
	}
	if (event->type == MORPH_EVENT_CIRCUIT_MOVED)
		reports->moved |= 1ull << event->circuit % 64;
	if (event->type == MORPH_EVENT_REPLACED) {
		reports->replaced |= 1ull << event->rank % 64;
		part.part = MORPH_PART_ACCELERATOR;
		part.index = event->old_accelerator;
	}
	for (i = 0; i < reports->named_count; i++)
		if (reports->named[i].part == part.part && reports->named[i].index == part.index)
			return;
	if (part.part && reports->named_count < NAMED_MAX)
		reports->named[reports->named_count++] = part;
}

static struct reports read_events(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct morph_event event;
	struct reports reports = {};

	while (poll(&pollfd, 1, 0) == 1 && pollfd.revents & POLLIN &&
	       read(fd, &event, sizeof(event)) == sizeof(event))
		note_event(&reports, &event);
	return reports;
}

static bool is_named(const struct reports *reports, uint32_t part, uint32_t index)
{
	unsigned int i;

	for (i = 0; i < reports->named_count; i++)
		if (reports->named[i].part == part && reports->named[i].index == index)
			return true;
	return false;
}

/* -------------------------------------------------------------------- checks */

static struct slice before[SLICES];

/* Did any lane of a slice's light go dark, however briefly? */
static bool went_dark(const struct slice *slice)
{
	unsigned int i;

	for (i = 0; i < slice->circuits_count; i++)
		if (rack.dark[slice->circuits[i].rx] & slice->circuits[i].info.lanes)
			return true;
	return false;
}

static bool same_way(const struct circuit *a, const struct circuit *b)
{
	return a->info.circuit == b->info.circuit && a->rx == b->rx && a->tx == b->tx &&
	       a->info.lanes == b->info.lanes && a->guides_count == b->guides_count &&
	       !memcmp(a->guides, b->guides, a->guides_count * sizeof(*a->guides));
}

static bool same_light(const struct slice *one, const struct slice *other)
{
	unsigned int i;

	if (one->info.generation != other->info.generation ||
	    one->circuits_count != other->circuits_count)
		return false;
	for (i = 0; i < one->circuits_count; i++)
		if (!same_way(&one->circuits[i], &other->circuits[i]) ||
		    one->circuits[i].info.state != other->circuits[i].info.state)
			return false;
	return true;
}

/* The slice must have the same circuits between the same ranks, with the same number of lanes. */
static bool all_there(const struct slice *now, const struct slice *then)
{
	unsigned int i;

	if (now->circuits_count != then->circuits_count)
		return false;
	for (i = 0; i < now->circuits_count; i++) {
		const struct morph_circuit_info *a = &now->circuits[i].info;
		const struct morph_circuit_info *b = &then->circuits[i].info;

		if (a->circuit != b->circuit || a->src_rank != b->src_rank ||
		    a->dst_rank != b->dst_rank ||
		    __builtin_popcountll(a->lanes) != __builtin_popcountll(b->lanes))
			return false;
	}
	return true;
}

static bool is_locked(const struct circuit *circuit)
{
	uint64_t lanes = circuit->info.lanes;

	return (rack.light.locked[circuit->rx] & lanes) == lanes;
}

/* An accelerator that is back after a failure must pass a test before its next use. */
static bool is_trusted(const struct slice *slice, const struct circuit *circuit)
{
	return slice->ranks[circuit->info.src_rank].health == MORPH_HEALTH_OK &&
	       slice->ranks[circuit->info.dst_rank].health == MORPH_HEALTH_OK;
}

/* Sum the bandwidth of the circuits that are lit in the simulator. */
static uint64_t real_bandwidth(const struct slice *slice)
{
	uint64_t lanes = 0;
	unsigned int i;

	for (i = 0; i < slice->circuits_count; i++)
		if (is_locked(&slice->circuits[i]) && is_trusted(slice, &slice->circuits[i]))
			lanes += __builtin_popcountll(slice->circuits[i].info.lanes);
	return lanes * rack.sim.info.lane_mbps;
}

/* A slice that used no failed part must not be affected. */
static void check_bystander(unsigned int s, const struct reports *reports)
{
	const struct slice *slice = &rack.slices[s];

	if (went_dark(&before[s]))
		violation("the light of slice %s flickered, but no failed part belongs to it",
			  slice->name);
	if (reports->events)
		violation("slice %s got an event about %s %u, which it does not use", slice->name,
			  part_name(reports->named[0].part), reports->named[0].index);
	if (slice->info.state != MORPH_SLICE_OK || !same_light(slice, &before[s]))
		violation("slice %s has changed, but no failed part belongs to it", slice->name);
}

/*
 * The owner of each circuit with a new path has an event about that circuit or about a replaced
 * end.
 */
static void check_moved(const struct slice *now, const struct slice *then,
			const struct reports *reports)
{
	unsigned int i;

	for (i = 0; i < now->circuits_count; i++) {
		const struct morph_circuit_info *info = &now->circuits[i].info;
		uint64_t ends = 1ull << info->src_rank | 1ull << info->dst_rank;

		if (same_way(&now->circuits[i], &then->circuits[i]) || reports->replaced & ends ||
		    reports->moved >> info->circuit % 64 & 1)
			continue;
		violation("circuit %u of slice %s has another path, but its owner got no event",
			  info->circuit, now->name);
	}
}

static enum outcome check_whole(const struct slice *slice, const struct reports *reports, bool dark)
{
	unsigned int i;

	for (i = 0; i < slice->circuits_count; i++) {
		const struct circuit *circuit = &slice->circuits[i];

		if (circuit->info.state == MORPH_CIRCUIT_LIT && is_locked(circuit))
			continue;
		violation(
			"slice %s is OK, but circuit %u (state %u) has lanes %#llx, of which receiver %u sees %#llx",
			slice->name, circuit->info.circuit, circuit->info.state,
			(unsigned long long)circuit->info.lanes, circuit->rx,
			(unsigned long long)rack.light.locked[circuit->rx]);
		return LOST;
	}
	if (dark && !reports->events) {
		violation("the light of slice %s went dark and returned without an event",
			  slice->name);
		return LOST;
	}
	return SURVIVED;
}

static enum outcome check_degraded(const struct slice *slice, const struct reports *reports)
{
	uint64_t real = real_bandwidth(slice);

	if (!reports->degraded) {
		violation("slice %s is degraded without an event", slice->name);
		return LOST;
	}
	if (reports->bandwidth_mbps != real)
		violation("the event of slice %s has %llu Mb/s left, the simulator sees %llu",
			  slice->name, (unsigned long long)reports->bandwidth_mbps,
			  (unsigned long long)real);
	return DEGRADED;
}

/* Check a slice whose light used a failed part. */
static enum outcome check_affected(unsigned int s, const struct reports *reports)
{
	const struct slice *slice = &rack.slices[s];
	bool dark = went_dark(&before[s]);

	if (!dark && !reports->events && same_light(slice, &before[s]))
		return check_whole(slice, reports, false) == LOST ? LOST : UNTOUCHED;
	if (!all_there(slice, &before[s])) {
		violation("slice %s has lost circuits or lanes", slice->name);
		return LOST;
	}
	check_moved(slice, &before[s], reports);
	if (slice->info.state == MORPH_SLICE_OK)
		return check_whole(slice, reports, dark);
	if (slice->info.state == MORPH_SLICE_DEGRADED)
		return check_degraded(slice, reports);
	violation("slice %s has come to rest in state %u", slice->name, slice->info.state);
	return LOST;
}

/*
 * The owner must have an event about the failed part. For guides and receivers the core sees only
 * symptoms, so the part must at least be suspect.
 */
static void check_culprit(const struct trial *trial, unsigned int s, const struct reports *reports)
{
	const struct fault *fault = &trial->faults[0];
	uint32_t part = kinds[fault->kind].part;
	uint32_t health = rack_health(part, fault->index);
	char others[200] = "";
	unsigned int i, n = 0;

	if (trial->count > 1 || is_named(reports, part, fault->index))
		return;
	if ((part == MORPH_PART_GUIDE || part == MORPH_PART_RECEIVER) && health != MORPH_HEALTH_OK)
		return;
	for (i = 0; i < reports->named_count && n < sizeof(others) - 40; i++)
		n += snprintf(others + n, sizeof(others) - n, " %s %u",
			      part_name(reports->named[i].part), reports->named[i].index);
	violation("slice %s got events about%s, and %s %u counts as healthy", rack.slices[s].name,
		  n ? others : " nothing", part_name(part), fault->index);
}

/* A part that reports its own state must be blamed only for its own fault. */
static void check_innocent(const struct trial *trial, unsigned int s, const struct reports *reports)
{
	unsigned int i, k;

	for (i = 0; i < reports->named_count; i++) {
		const struct part *named = &reports->named[i];

		if (named->part != MORPH_PART_ACCELERATOR && named->part != MORPH_PART_LASER &&
		    named->part != MORPH_PART_ELEMENT)
			continue;
		for (k = 0; k < trial->count; k++)
			if (kinds[trial->faults[k].kind].part == named->part &&
			    trial->faults[k].index == named->index)
				break;
		if (k == trial->count)
			violation("slice %s got an event about %s %u, which is healthy",
				  rack.slices[s].name, part_name(named->part), named->index);
	}
}

static enum outcome check_slices(const struct trial *trial, uint8_t affected)
{
	enum outcome worst = UNTOUCHED, outcome;
	struct reports reports;
	unsigned int s;

	for (s = 0; s < SLICES; s++) {
		reports = read_events(rack.slices[s].fd);
		if (!(affected & (1u << s))) {
			check_bystander(s, &reports);
			continue;
		}
		outcome = check_affected(s, &reports);
		if (outcome == SURVIVED || outcome == DEGRADED)
			check_culprit(trial, s, &reports);
		check_innocent(trial, s, &reports);
		worst = outcome > worst ? outcome : worst;
	}
	return worst;
}

void trial_begin(void)
{
	memcpy(before, rack.slices, sizeof(before));
	rack_watch();
}

void check_nobody_noticed(void)
{
	struct reports reports;
	unsigned int s;

	for (s = 0; s < SLICES; s++) {
		if (rack.slices[s].fd < 0)
			continue;
		reports = read_events(rack.slices[s].fd);
		check_bystander(s, &reports);
	}
}

void start_over(void)
{
	bool changed[SLICES], any = false;
	unsigned int s;

	for (s = 0; s < SLICES; s++) {
		changed[s] = rack.slices[s].fd < 0 || !same_light(&rack.slices[s], &before[s]);
		any |= changed[s];
		if (changed[s])
			rack_remove(s);
		else
			drain_events(rack.slices[s].fd);
	}
	if (any)
		rack_build(NULL);
	else
		rack_load();
}

/* ---------------------------------------------------------------------- trial */

/* A reservation holds the part, or its neighbours are in use: delete all slices, then test it. */
static void use_alone(const struct fault *fault)
{
	remove_all();
	untestable += !idle_test(fault);
}

/* The stuck element has the wanted state, so make the slice again while it is stuck. */
static void use_held(const struct fault *fault, uint8_t affected)
{
	unsigned int s;

	for (s = 0; s < SLICES; s++)
		if (affected & (1u << s))
			rack_remove(s);
	rack_build(fault);
}

/*
 * Read slices and their light together. Patrol may restore a part at any time, so data from before
 * and after that do not match.
 */
static void look_at_slices(bool light)
{
	unsigned int tries = 50, i;
	uint64_t seq;

	do {
		rack_rest();
		seq = rack_seq();
		if (light)
			rack_read_light();
		rack_read_dark();
		for (i = 0; i < SLICES; i++)
			slice_load(&rack.slices[i]);
	} while ((!rack_rests() || rack_seq() != seq) && --tries);
}

enum outcome trial_run(const struct trial *trial)
{
	bool idle, found = true;
	uint8_t affected = 0;
	enum outcome outcome;
	unsigned int i;

	idle_look();
	current = trial;
	for (i = 0; i < trial->count; i++)
		affected |= rack.users[kinds[trial->faults[i].kind].part][trial->faults[i].index];
	idle = !affected && !trial->together;
	trial_begin();
	for (i = 0; i < trial->count; i++)
		if (!fault_inject(&trial->faults[i]))
			violation("the simulator refuses fault %u", i);
	if (!rack_rest())
		violation("the core does not become idle");
	if (idle)
		found = idle_test(&trial->faults[0]);
	look_at_slices(!idle);
	outcome = check_slices(trial, affected);
	if (affected && !trial->together && trial->faults[0].kind == ELEMENT_HELD)
		use_held(&trial->faults[0], affected);
	if (!found)
		use_alone(&trial->faults[0]);
	if (sim_control(&rack.sim, "clear", "all"))
		violation("cannot clear faults");
	if (!idle)
		check_mended();
	mend();
	test_moved(trial);
	start_over();
	check_books();
	current = NULL;
	return outcome;
}
