// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle parts: each fails, a test finds it, it is repaired, and passes a test. No slice may be
 * affected. Events of slices and losses of light are kept until the next check, so one check covers
 * several trials.
 */
#include <stdlib.h>
#include <string.h>

#include "campaign.h"

#define LOOK_AFTER 64

unsigned int idle_look_after = LOOK_AFTER;
static unsigned int unseen; /* trials since the last check */
static struct trial together; /* those trials as one */
static bool alone; /* there are no slices */

bool idle_test(const struct fault *fault)
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
		violation("%s %u is faulty, but passed its test", part_name(part), fault->index);
	else if (strstr(why, "no idle accelerators"))
		return false;
	else if (rack_health(part, fault->index) != MORPH_HEALTH_FAILED)
		violation("%s %u is faulty, a test reports \"%s\", and its health is %u",
			  part_name(part), fault->index, why, rack_health(part, fault->index));
	return true;
}

/* The operator's test must also find that the part is repaired. */
static void pass_test(const struct fault *fault)
{
	uint32_t part = kinds[fault->kind].part;
	char why[200];

	if (rack_test(part, fault->index, why, sizeof(why)) != MORPH_OUTCOME_COMMITTED)
		violation("%s %u is repaired, but does not pass its test: %s", part_name(part),
			  fault->index, why);
}

bool idle_run(const struct trial *trial)
{
	const struct fault *fault = &trial->faults[0];
	bool found;

	if (!unseen++) {
		trial_begin();
		together.first = trial->number;
	}
	together.number = trial->number;
	violations_are_about(trial);
	if (!fault_inject(fault))
		violation("the simulator refuses the fault");
	if (!rack_rest())
		violation("the core does not become idle");
	found = idle_test(fault);
	if (sim_control(&rack.sim, "clear", "all"))
		violation("cannot clear the fault");
	if (!rack_rest())
		violation("the core does not become idle after all repairs");
	if (found)
		pass_test(fault);
	violations_are_about(NULL);
	if (unseen >= idle_look_after)
		idle_look();
	return found;
}

void idle_look(void)
{
	unsigned int s;

	if (!unseen)
		return;
	unseen = 0;
	violations_are_about(&together);
	rack_read_dark();
	for (s = 0; s < SLICES; s++)
		if (rack.slices[s].fd >= 0)
			slice_load(&rack.slices[s]);
	check_nobody_noticed();
	mend();
	if (!alone)
		start_over();
	check_books();
	violations_are_about(NULL);
}

/* ----------------------------------------------------------- without the slices */

static struct trial *put_off;
static unsigned int put_off_count;

void idle_put_off(const struct trial *trial)
{
	struct trial *more = realloc(put_off, (put_off_count + 1) * sizeof(*put_off));

	if (!more) {
		violation("no memory");
		return;
	}
	put_off = more;
	put_off[put_off_count++] = *trial;
}

void idle_run_alone(void)
{
	unsigned int i;

	idle_look();
	if (!put_off_count)
		return;
	remove_all();
	alone = true;
	for (i = 0; i < put_off_count; i++)
		untestable += !idle_run(&put_off[i]);
	idle_look();
	check_nothing_held();
	alone = false;
	start_over();
	free(put_off);
	put_off = NULL;
	put_off_count = 0;
}
