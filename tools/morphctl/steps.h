/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of circuits and of steps that hold them. */
#ifndef MORPHCTL_STEPS_H
#define MORPHCTL_STEPS_H

#include "client.h"

/* Read a YAML or JSON file, or standard input for "-", into steps, which are new. */
enum exit_code steps_read(struct run *run, const char *path, struct morph_steps *steps);

#endif
