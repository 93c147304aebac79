/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On whose behalf something is changed. */
#ifndef MORPHCTL_CONTROLLER_H
#define MORPHCTL_CONTROLLER_H

#include "morphctl/command/command.h"

struct token {
	uint32_t controller; /* 0: nobody's */
	uint64_t epoch;
};

/* What --controller and --epoch say. */
enum exit_code token_given(struct run *run, struct token *token);

/* Lanes of all circuits, or of those of one slice: what hurts when nobody decides about it. */
uint64_t controller_lanes(json_t *circuits, uint32_t slice);
double controller_percent(uint64_t part, uint64_t whole);

#endif
