/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slices whose accelerators can fail, and the checker for protections. */
#ifndef PROTECTING_H
#define PROTECTING_H

#include "../check/check.h"
#include "../protect/protect.h"
#include "corner.h"

/* Input of the checker, in the order of its blobs: ledger, request, plan, protection. */
struct shield {
	struct morph_check_protection_input input;
	void *blobs[4];
};

#define WHOLE_RACK         \
	(const uint32_t[]) \
	{                  \
		4, 4, 4    \
	}
#define HALF_RACK          \
	(const uint32_t[]) \
	{                  \
		2, 4, 4    \
	}

struct morph_protection *new_protection(const struct bench *bench);
/* Place a torus, and hold its accelerators. */
void place_torus(struct bench *bench, struct morph_plan *plan, const uint32_t extent[3],
		 uint32_t slice);

/* Copy the contents of a ledger. */
void *copy_of(const struct morph_ledger *ledger, size_t *bytes);
/* Check that the ledger equals the copy, and free the copy. */
void ledger_is(const struct morph_ledger *ledger, void *copy, size_t bytes);

/* The bench's request becomes the plan's request. */
void shield_write(const struct bench *bench, const struct morph_plan *plan,
		  const struct morph_protection *protection, struct shield *shield);
void shield_free(struct shield *shield);

/* Protect, and check that the answer is valid and the ledger unchanged. Returns the verdict. */
uint32_t protected(const struct bench *bench, const struct morph_plan *plan,
		   struct morph_protection *protection);

/*
 * Run slices in a corner of the rack, some of which cross only their own servers, and spares beside
 * them.
 */
void protecting_run(struct corner *corner, uint64_t *seed);

/* Try each spare, and each path of each circuit of the rank. Returns true if one suffices. */
bool any_spare_does(const struct corner *corner, uint32_t plan, uint32_t rank);

#endif /* PROTECTING_H */
