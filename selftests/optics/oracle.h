/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An independent model of light: it reads the profile itself, calls no function of optics, and
 * tries every case. It is slow, for small fabrics.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "optics/optics.h"

struct oracle;

struct oracle *oracle_open(const void *blob);
void oracle_close(struct oracle *oracle);

/* Forget all circuits; park each element, and hold nothing. */
void oracle_reset(struct oracle *oracle);

/* Lanes of a guide that are always in use. */
void oracle_occupy(struct oracle *oracle, u32 guide, u64 lanes);

/* Add a circuit. Return NULL, or a description of an error. */
const char *oracle_add(struct oracle *oracle, const struct optics_path *path);

/*
 * Try every path for @count of @lanes from @tx to @rx that is free next to the existing circuits.
 * It tries each set of lanes, so use it only for few lanes. Return the least loss, -1 if there is
 * no path, or -2 if @tries did not suffice.
 */
long oracle_search(struct oracle *oracle, u32 tx_accelerator, u32 rx_accelerator, u64 lanes,
		   u32 count, unsigned long tries);

/*
 * Light of @tx with the current states: milliwatts that reach @rx after @leaks leaks of the kind
 * that counts.
 */
double oracle_light(const struct oracle *oracle, u32 tx, u32 rx, u32 leaks);

#endif /* ORACLE_H */
