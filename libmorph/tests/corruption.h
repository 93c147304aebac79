/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Corrupt schedules that the checker must reject. */
#ifndef CORRUPTION_H
#define CORRUPTION_H

#include "scheduling.h"

/* Number of ways to corrupt a schedule. */
#define CORRUPTIONS 28

const char *corruption_name(uint32_t way);

/*
 * Corrupt a schedule @times times at random, each time a fresh copy in one way, so that it cannot
 * be valid. Returns the number of rejections; the other attempts changed nothing. Adds to @made the
 * number for each way, unless it is NULL.
 */
uint32_t assert_corrupted_are_rejected(const struct written *written, uint64_t seed, uint32_t times,
				       uint32_t made[CORRUPTIONS]);

#endif /* CORRUPTION_H */
