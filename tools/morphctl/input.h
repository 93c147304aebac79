/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that people write, and standard input. */
#ifndef MORPHCTL_INPUT_H
#define MORPHCTL_INPUT_H

#include <stdio.h>

#include "morphctl.h"

/* "-" is standard input. What can't be opened is told. */
enum exit_code input_open(const char *path, FILE **file);
void input_close(FILE *file);

/* A file in memory of its own, freed by the caller, with a NUL behind it that is not counted. What is wrong is told. */
enum exit_code input_whole(const char *path, char **text, size_t *length);

#endif /* MORPHCTL_INPUT_H */
