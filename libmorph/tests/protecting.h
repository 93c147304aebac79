/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slices whose accelerators may fail, and the checker that protections are held against. */
#ifndef PROTECTING_H
#define PROTECTING_H

#include "../check/check.h"
#include "../protect/protect.h"
#include "corner.h"

/* What the checker is given; blobs in the order of input: ledger, request, plan, protection. */
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
/* Place a torus, and take it. */
void place_torus(struct bench *bench, struct morph_plan *plan, const uint32_t extent[3],
		 uint32_t slice);

/* What a ledger says. */
void *copy_of(const struct morph_ledger *ledger, size_t *bytes);
/* It says the same still; @copy is freed. */
void ledger_is(const struct morph_ledger *ledger, void *copy, size_t bytes);

/* The bench's request becomes the plan's. */
void shield_write(const struct bench *bench, const struct morph_plan *plan,
		  const struct morph_protection *protection, struct shield *shield);
void shield_free(struct shield *shield);

/* Protect; the answer has to be what it says, and the ledger as it was. Returns the verdict. */
uint32_t protected(const struct bench *bench, const struct morph_plan *plan,
		   struct morph_protection *protection);

/*
 * Slices in a corner of the rack, some of which cross their own servers only, and spares beside
 * them.
 */
void protecting_run(struct corner *corner, uint64_t *seed);

/* Every spare, and every way of every circuit of the rank: is there one? */
bool any_spare_does(const struct corner *corner, uint32_t plan, uint32_t rank);

#endif /* PROTECTING_H */
