// SPDX-License-Identifier: GPL-2.0-only
/* One side of two connected fabrics. */
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "side.h"

struct morph_change half_circuit(unsigned int src, unsigned int dst)
{
	struct morph_change change = change_add(src, dst);

	change.lanes = 1;
	return change;
}

int side_prepare(struct side *side, uint64_t cookie, uint64_t lease_ns)
{
	side->changes[0] = half_circuit(0, EDGE(OUT));
	side->changes[1] = half_circuit(EDGE(IN), 0);
	side->run = (struct morph_txn_run){ .head.flags = MORPH_TXN_PREPARE };
	side->run.generation = GENERATION_ANY;
	side->run.cookie = cookie;
	side->run.lease_ns = lease_ns;
	return txn_run(side->slice, side->changes, 2, &side->run) ? errno : 0;
}

int side_step(struct side *side, unsigned int verb, uint64_t lease_ns)
{
	return txn_step(side->slice, side->run.out_txn, verb, lease_ns, &side->step) ? errno : 0;
}

int side_step_by_cookie(struct side *side, uint64_t cookie, unsigned int verb)
{
	side->step = (struct morph_txn_step){
		.head = HEAD(morph_txn_step),
		.verb = verb,
		.cookie = cookie,
	};
	return ioctl(side->slice, MORPH_TXN_STEP, &side->step) ? errno : 0;
}

int side_read(struct side *side)
{
	return slice_read(side->slice, &side->info, NULL, 0, side->circuits, 4);
}

int side_state(struct side *side, unsigned int src, unsigned int dst)
{
	unsigned int i;

	if (side_read(side))
		return -1;
	for (i = 0; i < side->info.circuits.count; i++)
		if (side->circuits[i].src_rank == src && side->circuits[i].dst_rank == dst)
			return side->circuits[i].state;
	return -1;
}

int side_state_out(struct side *side)
{
	return side_state(side, 0, EDGE(OUT));
}

int side_state_in(struct side *side)
{
	return side_state(side, EDGE(IN), 0);
}

void side_start(struct side *side, const char *settings, const char *name)
{
	const uint32_t accelerators[] = { AT_EDGE, 0 };
	struct morph_slice_create args = {};

	sim_start(&side->sim, "edge4", settings);
	snprintf(args.name, sizeof(args.name), "%s", name);
	side->slice = slice_create_with(side->sim.fd, &args, accelerators, 2);
	snprintf(side->node, sizeof(side->node), "/dev/morph/slice%u", args.out_slice);
}

void side_stop(struct side *side, const char *name)
{
	if (side->slice >= 0)
		close(side->slice);
	slice_delete(side->sim.fd, MORPH_ANY, name, MORPH_SLICE_FORCE);
	sim_wait_free(&side->sim, 4);
	sim_stop(&side->sim);
}
