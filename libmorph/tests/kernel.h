/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A kernel where slices run: a fake with books of its own, of what is lit, by which guides and
 * states of elements. It tells of them by netlink.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include "corner.h"

#define FABRIC 3
#define CONTROLLER 5 /* of slices that are pinned in the corner */

struct circuit {
	uint32_t slice, number; /* 0: there is none */
	uint32_t src_rank, dst_rank;
	uint32_t state;
	struct optics_path path;
	struct optics_hop hops[OPTICS_MAX_HOPS];
};

/* What it has. Its ledger is one of the library only in as much as that has room for it. */
struct kernel {
	struct morph_ledger *books;
	struct corner *corner;
	struct circuit circuits[512];
	uint32_t count;
	uint32_t controller[SLICES + 1], state[SLICES + 1]; /* by slice */
	uint32_t failover[SLICES + 1];
	bool reserved[SLICES + 1]; /* it has a spare of its own */
	uint32_t spare; /* that plans of all ranks count on, or 0 */
	struct nl_msg *last; /* that is not queued yet */
};

extern struct kernel kernel;

/*
 * All that was added to the corner's defrag is lit in the kernel, which the corner's context asks
 * from then on. False: a slice has no ways inside servers.
 */
bool kernel_boot(struct corner *corner);
void kernel_end(void);

/* The circuit of that number, which there is. */
struct circuit *kernel_find(uint32_t slice, uint32_t number);

/* Carry a step out as transaction; what was requested gets the number @request. */
void kernel_run_step(const struct morph_defrag *defrag, uint32_t number, uint32_t request);

#endif /* KERNEL_H */
