/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_TEST_DUMP_H
#define SIM_TEST_DUMP_H

#include "sim/physics.h"

/* Read a profile from $PROFILES into memory. Exit if there is none. */
void *read_profile(const char *path, size_t *bytes);
/* Make a fabric without drift; the seed chooses the states of elements and lasers. */
void start_fabric(struct sim_optics *o, const void *blob, size_t bytes, u64 seed);
/* Print it in the format of the file "hardware" in debugfs. */
void print_fabric(struct sim_optics *o);

#endif /* SIM_TEST_DUMP_H */
