/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schedules that are spoilt, for the checker to reject. */
#ifndef SPOILING_H
#define SPOILING_H

#include "scheduling.h"

/*
 * Spoil it so many times by chance, each time anew, so that it can't be right; returns how many were rejected, the rest having been
 * left as they were.
 */
uint32_t assert_spoilt_are_rejected(const struct written *written, uint64_t seed, uint32_t times);

#endif /* SPOILING_H */
