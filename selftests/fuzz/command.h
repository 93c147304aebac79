/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces the output of morphctl: it formats and counts everything, and prints nothing. */
#ifndef SELFTESTS_FUZZ_COMMAND_H
#define SELFTESTS_FUZZ_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/* Number of bytes since it was set to zero. */
extern unsigned int complaints;

/* Make the input a file that can be opened by name; the caller closes the descriptor. */
int command_file(const uint8_t *data, size_t size, char path[64]);

#endif /* SELFTESTS_FUZZ_COMMAND_H */
