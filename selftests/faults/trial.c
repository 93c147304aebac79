// SPDX-License-Identifier: GPL-2.0-only
/* One trial: inject, wait until the core rests, check, mend, check again. */
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "campaign.h"

#define NAMED_MAX 16
#define MENDS 5
#define IMPAIRED_MAX 256

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
	if (current)
		printf("#   again: SEED=%llu ONLY=%s%u %s\n", (unsigned long long)seed,
		       current->together ? "c" : "s", current->number,
		       program_invocation_short_name);
	fflush(stdout);
}

/* --------------------------------------------------------------- what is told */

/* What a slice's owner was told since the last look. */
struct told {
	unsigned int events, degraded;
	uint64_t bandwidth_mbps;
	struct part named[NAMED_MAX];
	unsigned int named_count;
};

static void note_event(struct told *told, const struct morph_event *event)
{
	struct part part = { event->part, event->index, 0 };
	unsigned int i;

	told->events++;
	if (event->type == MORPH_EVENT_DEGRADED) {
		told->degraded++;
		told->bandwidth_mbps = event->bandwidth_mbps;
	}
	if (event->type == MORPH_EVENT_REPLACED) {
		part.part = MORPH_PART_ACCELERATOR;
		part.index = event->old_accelerator;
	}
	for (i = 0; i < told->named_count; i++)
		if (told->named[i].part == part.part && told->named[i].index == part.index)
			return;
	if (part.part && told->named_count < NAMED_MAX)
		told->named[told->named_count++] = part;
}

static struct told read_events(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct morph_event event;
	struct told told = {};

	while (poll(&pollfd, 1, 0) == 1 && pollfd.revents & POLLIN &&
	       read(fd, &event, sizeof(event)) == sizeof(event))
		note_event(&told, &event);
	return told;
}

static bool is_named(const struct told *told, uint32_t part, uint32_t index)
{
	unsigned int i;

	for (i = 0; i < told->named_count; i++)
		if (told->named[i].part == part && told->named[i].index == index)
			return true;
	return false;
}

/* -------------------------------------------------------------------- checks */

static struct slice before[SLICES];

/* Did any lane of a slice's light go dark, however shortly? */
static bool went_dark(const struct slice *slice)
{
	unsigned int i;

	for (i = 0; i < slice->circuits_count; i++)
		if (rack.dark[slice->circuits[i].rx] & slice->circuits[i].info.lanes)
			return true;
	return false;
}

static bool same_light(const struct slice *one, const struct slice *other)
{
	unsigned int i;

	if (one->info.generation != other->info.generation ||
	    one->circuits_count != other->circuits_count)
		return false;
	for (i = 0; i < one->circuits_count; i++) {
		const struct circuit *a = &one->circuits[i], *b = &other->circuits[i];

		if (a->info.circuit != b->info.circuit || a->rx != b->rx || a->tx != b->tx ||
		    a->info.lanes != b->info.lanes || a->info.state != b->info.state ||
		    a->guides_count != b->guides_count ||
		    memcmp(a->guides, b->guides, a->guides_count * sizeof(*a->guides)))
			return false;
	}
	return true;
}

/* The same circuits between the same ranks, with as many lanes. */
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

/* Bandwidth of the circuits that really are lit, by the simulator. */
static uint64_t real_bandwidth(const struct slice *slice)
{
	uint64_t lanes = 0;
	unsigned int i;

	for (i = 0; i < slice->circuits_count; i++)
		if (is_locked(&slice->circuits[i]))
			lanes += __builtin_popcountll(slice->circuits[i].info.lanes);
	return lanes * rack.sim.info.lane_mbps;
}

/* Who used nothing that broke must not have noticed. */
static void check_bystander(unsigned int s, const struct told *told)
{
	const struct slice *slice = &rack.slices[s];

	if (went_dark(&before[s]))
		violation("the light of slice %s flickered, which uses nothing that broke",
			  slice->name);
	if (told->events)
		violation("slice %s was told of %s %u, which it does not use", slice->name,
			  part_name(told->named[0].part), told->named[0].index);
	if (slice->info.state != MORPH_SLICE_OK || !same_light(slice, &before[s]))
		violation("slice %s has changed, which uses nothing that broke", slice->name);
}

static enum outcome check_whole(const struct slice *slice, const struct told *told, bool dark)
{
	unsigned int i;

	for (i = 0; i < slice->circuits_count; i++) {
		const struct circuit *circuit = &slice->circuits[i];

		if (circuit->info.state == MORPH_CIRCUIT_LIT && is_locked(circuit))
			continue;
		violation(
			"slice %s is OK, but its circuit %u (state %u) has lanes %#llx, of which receiver %u sees %#llx",
			slice->name, circuit->info.circuit, circuit->info.state,
			(unsigned long long)circuit->info.lanes, circuit->rx,
			(unsigned long long)rack.light.locked[circuit->rx]);
		return LOST;
	}
	if (dark && !told->events) {
		violation("the light of slice %s went out and came back, and nobody was told",
			  slice->name);
		return LOST;
	}
	return SURVIVED;
}

static enum outcome check_degraded(const struct slice *slice, const struct told *told)
{
	uint64_t real = real_bandwidth(slice);

	if (!told->degraded) {
		violation("slice %s is degraded, and nobody was told", slice->name);
		return LOST;
	}
	if (told->bandwidth_mbps != real)
		violation("slice %s is said to have %llu Mb/s left, the simulator sees %llu",
			  slice->name, (unsigned long long)told->bandwidth_mbps,
			  (unsigned long long)real);
	return DEGRADED;
}

/* A slice whose light ran through something that broke. */
static enum outcome check_affected(unsigned int s, const struct told *told)
{
	const struct slice *slice = &rack.slices[s];
	bool dark = went_dark(&before[s]);

	if (!dark && !told->events && same_light(slice, &before[s]))
		return check_whole(slice, told, false) == LOST ? LOST : UNTOUCHED;
	if (!all_there(slice, &before[s])) {
		violation("slice %s has lost circuits or lanes", slice->name);
		return LOST;
	}
	if (slice->info.state == MORPH_SLICE_OK)
		return check_whole(slice, told, dark);
	if (slice->info.state == MORPH_SLICE_DEGRADED)
		return check_degraded(slice, told);
	violation("slice %s has come to rest in state %u", slice->name, slice->info.state);
	return LOST;
}

/*
 * The owner is told of what broke. Of guides and receivers the core knows the symptom
 * alone: there it must be a suspect, at least.
 */
static void check_culprit(const struct trial *trial, unsigned int s, const struct told *told)
{
	const struct fault *fault = &trial->faults[0];
	uint32_t part = kinds[fault->kind].part;
	uint32_t health = rack_health(part, fault->index);
	char others[200] = "";
	unsigned int i, n = 0;

	if (trial->count > 1 || is_named(told, part, fault->index))
		return;
	if ((part == MORPH_PART_GUIDE || part == MORPH_PART_RECEIVER) && health != MORPH_HEALTH_OK)
		return;
	for (i = 0; i < told->named_count && n < sizeof(others) - 40; i++)
		n += snprintf(others + n, sizeof(others) - n, " %s %u",
			      part_name(told->named[i].part), told->named[i].index);
	violation("slice %s was told of%s, and %s %u counts as healthy", rack.slices[s].name,
		  n ? others : " nothing", part_name(part), fault->index);
}

static enum outcome check_slices(const struct trial *trial, uint8_t affected)
{
	enum outcome worst = UNTOUCHED, outcome;
	struct told told;
	unsigned int s;

	for (s = 0; s < SLICES; s++) {
		told = read_events(rack.slices[s].fd);
		if (!(affected & (1u << s))) {
			check_bystander(s, &told);
			continue;
		}
		outcome = check_affected(s, &told);
		if (outcome == SURVIVED || outcome == DEGRADED)
			check_culprit(trial, s, &told);
		worst = outcome > worst ? outcome : worst;
	}
	return worst;
}

/* ----------------------------------------------------------- books and hardware */

static void check_elements(void)
{
	static struct morph_element_info infos[512];
	uint32_t first = 0, i;

	while (first < rack.sim.info.elements) {
		struct morph_fabric_read args = {
			.head.size = sizeof(args),
			.first = first,
			.entries = ARRAY(infos, 512),
		};

		if (ioctl(rack.sim.fd, MORPH_FABRIC_READ_ELEMENTS, &args) || !args.entries.count)
			return violation("elements can't be read");
		for (i = 0; i < args.entries.count; i++)
			if (infos[i].state != rack.light.state[first + i])
				violation(
					"element %u is in state %u, the core takes it to be in %u",
					first + i, rack.light.state[first + i], infos[i].state);
		first += args.entries.count;
	}
}

/* All is mended: every light is somebody's, and core and hardware are of one mind. */
static void check_books(void)
{
	static uint64_t *expected;
	long long on = 0, believed;
	unsigned int s, i;

	if (!expected)
		expected = calloc(rack.ports, sizeof(*expected));
	memset(expected, 0, rack.ports * sizeof(*expected));
	rack_read_light();
	for (s = 0; s < SLICES; s++) {
		for (i = 0; i < rack.slices[s].circuits_count; i++)
			expected[rack.slices[s].circuits[i].rx] |=
				rack.slices[s].circuits[i].info.lanes;
	}
	for (i = 0; i < rack.ports; i++) {
		on += __builtin_popcountll(rack.light.on[i]);
		if (rack.light.lit[i] != expected[i] || rack.light.locked[i] != expected[i])
			violation("receiver %u should see lanes %#llx: lit are %#llx, locked %#llx",
				  i, (unsigned long long)expected[i],
				  (unsigned long long)rack.light.lit[i],
				  (unsigned long long)rack.light.locked[i]);
	}
	believed = core_counter(&rack.sim, "ledger", "transmit lanes on");
	if (believed != on)
		violation("%lld lanes are on by the hardware, %lld by the core", on, believed);
	check_elements();
}

/* ---------------------------------------------------------------------- mend */

static void remove_all(void)
{
	unsigned int s;

	for (s = 0; s < SLICES; s++)
		rack_remove(s);
}

/* The operator tests what is not healthy: how much that was, and why the last one failed. */
static unsigned int test_impaired(struct part *list, bool alone, char *why, size_t bytes)
{
	unsigned int count, i;

	if (!rack_rest())
		violation("the core does not come to rest when all is mended");
	count = rack_impaired(list, IMPAIRED_MAX);
	if (count && alone)
		remove_all();
	for (i = 0; i < count && i < IMPAIRED_MAX; i++)
		rack_test(list[i].part, list[i].index, why, bytes);
	return count;
}

/*
 * Until all is healthy. A part of an accelerator that a slice holds is tested when the
 * slice has gone, so if need be they go.
 */
static void mend(void)
{
	struct part list[IMPAIRED_MAX];
	unsigned int count = 0, tries, i;
	char why[200] = "";

	for (tries = 0; tries < MENDS; tries++) {
		count = test_impaired(list, tries, why, sizeof(why));
		if (!count)
			return;
	}
	for (i = 0; i < count && i < IMPAIRED_MAX; i++)
		violation("%s %u is mended, but its health stays %u: %s", part_name(list[i].part),
			  list[i].index, list[i].health, why);
}

/* A slice that is degraded becomes whole by itself once what it waits for has passed a test. */
static void check_mended(void)
{
	struct part list[IMPAIRED_MAX];
	unsigned int s, tries;
	char why[200];

	for (s = 0; s < SLICES; s++) {
		struct slice *slice = &rack.slices[s];

		for (tries = 0;
		     slice_load(slice) && slice->info.state != MORPH_SLICE_OK && tries < MENDS;
		     tries++) {
			test_impaired(list, false, why, sizeof(why));
			rack_rest();
		}
		if (slice->info.state != MORPH_SLICE_OK)
			violation("all is mended, and slice %s is in state %u", slice->name,
				  slice->info.state);
	}
}

/*
 * An element that moved where no light goes, or did not obey there, is for patrol to find in its
 * turn, which takes a minute: the operator tests it now, so that the books can be compared.
 */
static void test_moved(const struct trial *trial)
{
	const struct fault *fault;
	char why[200];
	unsigned int i;

	for (i = 0; i < trial->count; i++) {
		fault = &trial->faults[i];
		if (kinds[fault->kind].part != MORPH_PART_ELEMENT)
			continue;
		rack_read_light();
		if (rack_element(fault->index) == rack.light.state[fault->index])
			continue;
		remove_all();
		if (rack_test(MORPH_PART_ELEMENT, fault->index, why, sizeof(why)) !=
		    MORPH_OUTCOME_COMMITTED)
			violation("element %u is mended, and does not pass its test: %s",
				  fault->index, why);
	}
}

/* Slices that are not what they were are made anew, so that each trial begins alike. */
static void start_over(void)
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
		rack_build();
	else
		rack_load();
}

/* ---------------------------------------------------------------------- use */

/* Nobody uses it: who comes next must find out. False if nobody could. */
static bool use_idle(const struct fault *fault)
{
	uint32_t part = kinds[fault->kind].part, outcome;
	char why[200];

	if (part == MORPH_PART_ACCELERATOR) {
		if (fault->kind == ACCELERATOR_DEAD &&
		    rack_health(part, fault->index) != MORPH_HEALTH_FAILED)
			violation("idle accelerator %u is dead, its health is %u", fault->index,
				  rack_health(part, fault->index));
		return true;
	}
	outcome = rack_test(part, fault->index, why, sizeof(why));
	if (outcome == MORPH_OUTCOME_COMMITTED)
		violation("%s %u is broken, and passed its test", part_name(part), fault->index);
	else if (strstr(why, "no idle accelerators"))
		return false;
	else if (rack_health(part, fault->index) != MORPH_HEALTH_FAILED)
		violation("%s %u is broken, a test says \"%s\", and its health is %u",
			  part_name(part), fault->index, why, rack_health(part, fault->index));
	return true;
}

/* A reservation holds it, or what leads there is in use: all go, and it is tested then. */
static void use_alone(const struct fault *fault)
{
	remove_all();
	untestable += !use_idle(fault);
}

/* It holds the state that it is wanted in; so the slice goes and comes while it does. */
static void use_held(uint8_t affected)
{
	unsigned int s;

	for (s = 0; s < SLICES; s++)
		if (affected & (1u << s))
			rack_remove(s);
	rack_build();
}

enum outcome trial_run(const struct trial *trial)
{
	bool idle, found = true;
	uint8_t affected = 0;
	enum outcome outcome;
	unsigned int i;

	current = trial;
	for (i = 0; i < trial->count; i++)
		affected |= rack.users[kinds[trial->faults[i].kind].part][trial->faults[i].index];
	idle = !affected && !trial->together;
	memcpy(before, rack.slices, sizeof(before));
	rack_watch();
	for (i = 0; i < trial->count; i++)
		if (!fault_inject(&trial->faults[i]))
			violation("the simulator refuses fault %u", i);
	if (!rack_rest())
		violation("the core does not come to rest");
	if (idle)
		found = use_idle(&trial->faults[0]);
	else
		rack_read_light();
	rack_read_dark();
	for (i = 0; i < SLICES; i++)
		slice_load(&rack.slices[i]);
	outcome = check_slices(trial, affected);
	if (affected && !trial->together && trial->faults[0].kind == ELEMENT_HELD)
		use_held(affected);
	if (!found)
		use_alone(&trial->faults[0]);
	if (sim_control(&rack.sim, "clear", "all"))
		violation("faults can't be cleared");
	if (!idle)
		check_mended();
	mend();
	test_moved(trial);
	start_over();
	if (!idle || trial->number % 256 == 0)
		check_books();
	current = NULL;
	return outcome;
}
