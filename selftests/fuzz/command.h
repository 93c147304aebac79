/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In the place of morphctl's own voice: nothing is printed, everything is formatted, and counted.
 */
#ifndef SELFTESTS_FUZZ_COMMAND_H
#define SELFTESTS_FUZZ_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/* What was said since it was set to zero. */
extern unsigned int complaints;

/* The input as a file that is opened by name: its descriptor, to be closed. */
int command_file(const uint8_t *data, size_t size, char path[64]);

#endif /* SELFTESTS_FUZZ_COMMAND_H */
