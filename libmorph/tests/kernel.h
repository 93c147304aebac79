/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fake kernel with running slices. It accounts for the lit circuits, their guides and the states
 * of elements, and answers dumps over netlink.
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

/* The state of the kernel. Its ledger has the library's type, but only for storage. */
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
 * Light all circuits of the corner's defrag in the kernel, and connect the corner's context to it.
 * Returns false if a slice has no paths inside servers.
 */
bool kernel_boot(struct corner *corner);
void kernel_end(void);
/* kernel_end(), then placing_teardown(). */
int kernel_teardown(void **state);

/* Find a circuit by its number. It must exist. */
struct circuit *kernel_find(uint32_t slice, uint32_t number);

/* Carry out a step as a transaction. The requested slice gets the number @request. */
void kernel_run_step(const struct morph_defrag *defrag, uint32_t number, uint32_t request);

#endif /* KERNEL_H */
