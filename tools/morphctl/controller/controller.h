/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The controller on whose behalf a command acts. */
#ifndef MORPHCTL_CONTROLLER_H
#define MORPHCTL_CONTROLLER_H

#include "morphctl/command/command.h"

struct token {
	uint32_t controller; /* 0: no controller */
	uint64_t epoch;
};

/* Read --controller and --epoch. */
enum exit_code token_given(struct run *run, struct token *token);

/*
 * Count the lanes of all circuits, or of the circuits of one slice. The lanes measure the effect of
 * a failed controller.
 */
uint64_t controller_lanes(json_t *circuits, uint32_t slice);
double controller_percent(uint64_t part, uint64_t whole);

#endif
