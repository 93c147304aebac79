// SPDX-License-Identifier: GPL-2.0-only
/* Workloads of hardware that fails under lit slices. */
#include <stdio.h>

#include "holds.h"

#define STORM 32u
#define RANKS 32u
#define TESTED 8u /* accelerators whose receivers are tested */
#define RECEIVERS 64u

static void wait_for_rest(struct scene *scene)
{
	if (!WAIT_UNTIL(core_rests(&scene->sim)))
		printf("# the core does not rest\n");
}

static void mend(struct scene *scene)
{
	if (sim_control(&scene->sim, "clear", "all"))
		stop("clear");
	wait_for_rest(scene);
}

static void fail_part(struct scene *scene, unsigned int part, unsigned int index)
{
	nl_on_part(&scene->nl, MORPH_CMD_HARDWARE_FAIL, scene->sim.number, part, index);
	nl_do(&scene->nl);
}

static void test_part(struct scene *scene, unsigned int part, unsigned int index)
{
	nl_on_part(&scene->nl, MORPH_CMD_HARDWARE_TEST, scene->sim.number, part, index);
	nl_do(&scene->nl);
}

/* Ranks of a slice with spares left, and a ring. */
static int lit_slice(struct scene *scene, unsigned int *ranks)
{
	int slice;

	*ranks = scene->all / 2 < RANKS ? scene->all / 2 : RANKS;
	slice = need_slice(scene, *ranks, MORPH_FAILOVER_AUTOMATIC);
	light_some(slice, *ranks);
	return slice;
}

static void kill_accelerators(struct scene *scene)
{
	unsigned int ranks, i;
	int slice = lit_slice(scene, &ranks);

	for (i = 0; i < STORM && i < ranks; i++)
		if (sim_control(&scene->sim, "fault", "accelerator_dead %u", i))
			stop("fault");
	wait_for_rest(scene);
	mend(scene);
	end_slice(scene, slice);
	for (i = 0; i < STORM && i < ranks; i++)
		test_part(scene, MORPH_PART_ACCELERATOR, i);
	wait_for_rest(scene);
}

/* Another tenant's commits follow each failure. */
static void degrade_slices(struct scene *scene)
{
	unsigned int ranks, i;
	int slice = lit_slice(scene, &ranks), other = need_slice(scene, 2, MORPH_FAILOVER_NONE);
	struct morph_change change = change_add(0, 1);

	for (i = 0; i < ranks; i++)
		fail_part(scene, MORPH_PART_LASER, i);
	for (i = 0; i < ranks; i++)
		fail_part(scene, MORPH_PART_RECEIVER, i);
	wait_for_rest(scene);
	txn_run(other, &change, 1, NULL);
	wait_for_rest(scene);
	for (i = 0; i < ranks; i++) {
		test_part(scene, MORPH_PART_LASER, i);
		test_part(scene, MORPH_PART_RECEIVER, i);
	}
	wait_for_rest(scene);
	close(other);
	end_slice(scene, slice);
}

/* Receivers of the first accelerators, and the last element before each. */
struct receivers {
	unsigned int planes, count;
	unsigned int receivers[RECEIVERS], elements[RECEIVERS];
};

static void add_receiver(const struct nlmsghdr *guide, void *context)
{
	struct receivers *list = context;
	bool first = nl_get_u32(nl_find(guide, MORPH_A_GUIDE_A_TYPE)) == MORPH_GUIDE_END_RECEIVER;
	unsigned int accelerator =
		nl_get_u32(nl_find(guide, first ? MORPH_A_GUIDE_A_INDEX : MORPH_A_GUIDE_B_INDEX));
	unsigned int plane =
		nl_get_u32(nl_find(guide, first ? MORPH_A_GUIDE_A_PORT : MORPH_A_GUIDE_B_PORT));

	if (!first && nl_get_u32(nl_find(guide, MORPH_A_GUIDE_B_TYPE)) != MORPH_GUIDE_END_RECEIVER)
		return;
	if (accelerator >= TESTED || list->count == RECEIVERS)
		return;
	list->elements[list->count] =
		nl_get_u32(nl_find(guide, first ? MORPH_A_GUIDE_B_INDEX : MORPH_A_GUIDE_A_INDEX));
	list->receivers[list->count++] = accelerator * list->planes + plane;
}

/* No path reaches these receivers, so that patrol and tests search each of them in vain. */
static void fail_elements(struct scene *scene)
{
	struct receivers list = { .planes = scene->sim.info.planes };
	unsigned int i;

	nl_begin(&scene->nl, MORPH_CMD_GUIDE_GET, 0);
	if (nl_dump(&scene->nl, add_receiver, &list) || !list.count)
		stop("guides of receivers");
	for (i = 0; i < list.count; i++) {
		fail_part(scene, MORPH_PART_ELEMENT, list.elements[i]);
		fail_part(scene, MORPH_PART_RECEIVER, list.receivers[i]);
	}
	for (i = 0; i < list.count; i++)
		test_part(scene, MORPH_PART_RECEIVER, list.receivers[i]);
	wait_for_rest(scene);
	for (i = 0; i < list.count; i++)
		test_part(scene, MORPH_PART_ELEMENT, list.elements[i]);
	wait_for_rest(scene);
	for (i = 0; i < list.count; i++)
		test_part(scene, MORPH_PART_RECEIVER, list.receivers[i]);
	wait_for_rest(scene);
}

const struct workload failures[] = {
	{ "death of accelerators of a slice", kill_accelerators },
	{ "degraded slices beside another tenant", degrade_slices },
	{ "failed elements before receivers", fail_elements },
	{ NULL, NULL },
};
