/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schedules that are spoilt, for the checker to reject. */
#ifndef SPOILING_H
#define SPOILING_H

#include "scheduling.h"

/* In how many ways. */
#define SPOILINGS 28

const char *spoiling_name(uint32_t way);

/*
 * Spoil it so many times by chance, each time anew and in one way, so that it can't be right;
 * returns how many were rejected, the rest having been left as they were. @made: how often in each
 * way, to which it adds; or NULL.
 */
uint32_t assert_spoilt_are_rejected(const struct written *written, uint64_t seed, uint32_t times,
				    uint32_t made[SPOILINGS]);

#endif /* SPOILING_H */
