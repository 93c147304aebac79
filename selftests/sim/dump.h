/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_TEST_DUMP_H
#define SIM_TEST_DUMP_H

#include "sim/physics.h"

/* A profile in memory, from $PROFILES. Exits where there is none. */
void *read_profile(const char *path, size_t *bytes);
/* A fabric without drift, its elements and lasers as the seed has them. */
void start_fabric(struct sim_optics *o, const void *blob, size_t bytes, u64 seed);
/* Print it in the format of the file "hardware" in debugfs. */
void print_fabric(struct sim_optics *o);

#endif /* SIM_TEST_DUMP_H */
