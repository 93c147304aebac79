// SPDX-License-Identifier: GPL-2.0-only
/* After the fault is cleared: the operator tests the part, and the state must be as before. */
#include "campaign.h"

#define MENDS 5
#define IMPAIRED_MAX 256

void remove_all(void)
{
	unsigned int s;

	for (s = 0; s < SLICES; s++)
		rack_remove(s);
	check_nothing_held();
}

/* Test unhealthy parts as operator; note their number, and the reason of the last failure. */
static unsigned int test_impaired(struct part *list, bool alone, char *why, size_t bytes)
{
	unsigned int count, i;

	if (!rack_rest())
		violation("the core does not become idle after all repairs");
	count = rack_impaired(list, IMPAIRED_MAX);
	if (count && alone)
		remove_all();
	for (i = 0; i < count && i < IMPAIRED_MAX; i++)
		rack_test(list[i].part, list[i].index, why, bytes);
	return count;
}

/*
 * Repeat until all parts are healthy. A part of an accelerator in a slice cannot be tested, so
 * delete the slices if necessary.
 */
void mend(void)
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
		violation("%s %u is repaired, but its health stays %u: %s", part_name(list[i].part),
			  list[i].index, list[i].health, why);
}

/*
 * A degraded slice recovers after the part that it waits for has passed a test. The driver does not
 * reroute a slice without protection, and nobody can test the parts that it holds: then delete it,
 * as its owner would.
 */
void check_mended(void)
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
		if (slice->info.state != MORPH_SLICE_OK &&
		    !(slice->info.failover == MORPH_FAILOVER_NONE && rack_impaired(list, 1)))
			violation("all parts are repaired, but slice %s is in state %u",
				  slice->name, slice->info.state);
	}
}

/*
 * An element without light that moved, or did not turn, waits for patrol, which takes a minute. The
 * operator tests it now, so that the accounts can be compared.
 */
void test_moved(const struct trial *trial)
{
	const struct fault *fault;
	char why[200];
	unsigned int i;

	for (i = 0; i < trial->count; i++) {
		fault = &trial->faults[i];
		if (kinds[fault->kind].part != MORPH_PART_ELEMENT)
			continue;
		rack_read_light();
		if (rack_element(fault->index).state == rack.light.state[fault->index])
			continue;
		remove_all();
		if (rack_test(MORPH_PART_ELEMENT, fault->index, why, sizeof(why)) !=
		    MORPH_OUTCOME_COMMITTED)
			violation("element %u is repaired, but does not pass its test: %s",
				  fault->index, why);
	}
}
