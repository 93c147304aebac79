/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fake kernel that runs schedules. Its slice has two schedules, a state page, and a queue whose
 * thread sleeps until a wake.
 */
#ifndef STEPPING_H
#define STEPPING_H

#include "fake.h"

#define STEPPING_RANKS 3u
#define STEPPING_STEPS 3u
#define STEPPING_FIRST 4u /* the schedules that there are */
#define STEPPING_SECOND 7u

struct stepping {
	struct morph_schedule_load load; /* as it was asked for last */
	struct morph_schedule_act act; /* likewise */
	struct morph_ring_setup setup;
	int refusal; /* of what is asked next; 0: none */
	uint32_t wrong_step, wrong_circuit; /* where loading is refused */
	uint32_t growing; /* steps more with each look at a schedule */
	uint32_t asked; /* commands about schedules and rings */
	uint64_t position; /* lit position */
	struct morph_ring_page *ring; /* NULL: none */
	uint32_t ring_state, answered, closed, woken;
	struct morph_state_page *page; /* the last mapping */
	uint32_t page_ranks; /* ranks in the page */
};

extern struct stepping stepping;

/* Reset the state. */
void stepping_begin(void);

/* Answer a command. Returns false if the kernel does not have it. */
bool stepping_ioctl(unsigned long command, void *argument, int *result);

int stepping_map(struct fake *fake, uint64_t offset, size_t bytes, void *memory);

/* The pair of ranks on the state page. */
struct morph_state_pair *stepping_pair(uint32_t src, uint32_t dst);

#endif /* STEPPING_H */
