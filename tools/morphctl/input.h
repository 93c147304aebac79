/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that people write, and standard input. */
#ifndef MORPHCTL_INPUT_H
#define MORPHCTL_INPUT_H

#include <stdio.h>

#include "morphctl.h"

/* "-" is standard input. What can't be opened is told. */
enum exit_code input_open(const char *path, FILE **file);
void input_close(FILE *file);

#endif /* MORPHCTL_INPUT_H */
