/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schedules of collectives for figures: whatever is planned is carried out by the checker before
 * anything is said of it.
 */
#ifndef REPRO_PLANNED_H
#define REPRO_PLANNED_H

#include <stdbool.h>
#include <stdint.h>

#include <morph/plan.h>

/* What a round, a hop and a change take; each rank has so many ports, one on each plane. */
struct planned_costs {
	uint64_t round_ns, hop_ns, change_ns;
	uint64_t mbps; /* of a port */
	uint32_t ports;
};

struct planned {
	struct morph_ctx *ctx;
	struct morph_collective *collective;
	struct morph_delay *delay;
	struct morph_schedule *lit; /* what is lit at first */
	bool is_lit; /* else nothing is */
	struct morph_schedule *schedule; /* the last one */
};

/* Each ends the program where it can't. At first nothing is lit. */
void planned_begin(struct planned *planned);
void planned_end(struct planned *planned);

/*
 * From now on schedules begin with the circuits of the last round of the collective lit, or dark.
 */
void planned_light(struct planned *planned, uint32_t ports);
void planned_dark(struct planned *planned);

/* When the collective has ended, in nanoseconds; 0 where the policy has no schedule of it. */
uint64_t planned_ns(struct planned *planned, const struct morph_collective_opts *how,
		    const struct planned_costs *costs, uint32_t policy);
/* The same on what is lit at first, without any change. */
uint64_t planned_static_ns(struct planned *planned, const struct morph_collective_opts *how,
			   const struct planned_costs *costs);

#endif /* REPRO_PLANNED_H */
