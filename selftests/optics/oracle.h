/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second opinion on light: reads the profile itself, calls nothing of optics,
 * and tries everything. Slow, for small fabrics.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "optics/optics.h"

struct oracle;

struct oracle *oracle_open(const void *blob);
void oracle_close(struct oracle *oracle);

/* Forget all circuits; each element back to its parking state, nothing held. */
void oracle_reset(struct oracle *oracle);

/* Lanes of a guide that are taken by nobody in particular. */
void oracle_occupy(struct oracle *oracle, u32 guide, u64 lanes);

/* Add a circuit. Return NULL, or what is wrong with it. */
const char *oracle_add(struct oracle *oracle, const struct optics_path *path);

/*
 * Try every path for @count of @lanes from @tx to @rx that is free beside the circuits
 * added; each set of lanes in turn, so only for few. Return: the least loss, -1 if
 * there is none, -2 if @tries did not suffice.
 */
long oracle_search(struct oracle *oracle, u32 tx_accelerator, u32 rx_accelerator, u64 lanes,
		   u32 count, unsigned long tries);

/*
 * Light of @tx, as the elements stand: milliwatts that reach @rx after @leaks leaks
 * of the kind that counts.
 */
double oracle_light(const struct oracle *oracle, u32 tx, u32 rx, u32 leaks);

#endif /* ORACLE_H */
