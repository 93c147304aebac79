/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schedules of collectives for figures. The checker carries out each schedule before the program
 * uses its time.
 */
#ifndef REPRO_PLANNED_H
#define REPRO_PLANNED_H

#include <stdbool.h>
#include <stdint.h>

#include <morph/plan.h>

/* Times of a round, a hop and a change. Each rank has @ports ports, one on each plane. */
struct planned_costs {
	uint64_t round_ns, hop_ns, change_ns;
	uint64_t mbps; /* of a port */
	uint32_t ports;
};

struct planned {
	struct morph_ctx *ctx;
	struct morph_collective *collective;
	struct morph_delay *delay;
	struct morph_schedule *lit; /* the circuits that are lit at the start */
	bool is_lit; /* false: no circuit is lit */
	struct morph_schedule *schedule; /* the last schedule */
};

/* These functions end the program on error. No circuit is lit at the start. */
void planned_begin(struct planned *planned);
void planned_end(struct planned *planned);

/*
 * From now on, schedules begin with the circuits of the collective's last round lit, or with no
 * circuit lit.
 */
void planned_light(struct planned *planned, uint32_t ports);
void planned_dark(struct planned *planned);

/* The end of the collective in nanoseconds; 0 if the policy has no schedule for it. */
uint64_t planned_ns(struct planned *planned, const struct morph_collective_opts *how,
		    const struct planned_costs *costs, uint32_t policy);
/* The same on the circuits that are lit at the start, without any change. */
uint64_t planned_static_ns(struct planned *planned, const struct morph_collective_opts *how,
			   const struct planned_costs *costs);

#endif /* REPRO_PLANNED_H */
