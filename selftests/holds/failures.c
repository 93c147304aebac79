// SPDX-License-Identifier: GPL-2.0-only
/* Workloads of hardware that fails under lit slices. */
#include <stdio.h>

#include "holds.h"

#define STORM 32u
#define RANKS 32u

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

/* Deaf receivers whose tests find no light: the searches of patrol. */
static void fail_elements(struct scene *scene)
{
	unsigned int i, count = scene->sim.info.elements;

	if (count > 4 * STORM)
		count = 4 * STORM;
	for (i = 0; i < count; i++)
		fail_part(scene, MORPH_PART_ELEMENT, i);
	for (i = 0; i < 8; i++)
		test_part(scene, MORPH_PART_RECEIVER, i);
	wait_for_rest(scene);
	for (i = 0; i < count; i++)
		test_part(scene, MORPH_PART_ELEMENT, i);
	wait_for_rest(scene);
}

const struct workload failures[] = {
	{ "death of accelerators of a slice", kill_accelerators },
	{ "degraded slices beside another tenant", degrade_slices },
	{ "failed elements before receivers", fail_elements },
	{ NULL, NULL },
};
