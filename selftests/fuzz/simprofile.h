/* SPDX-License-Identifier: GPL-2.0-only */
/* The simulator's reader of profiles, for targets that cannot include its headers. */
#ifndef SIMPROFILE_H
#define SIMPROFILE_H

#include <stdbool.h>
#include <stddef.h>

#define SIMPROFILE_WHY 256

bool simprofile_accepts(const void *blob, size_t bytes, char why[SIMPROFILE_WHY]);

#endif /* SIMPROFILE_H */
