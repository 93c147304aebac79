/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan that becomes a slice, and is told. */
#ifndef MORPHCTL_PLACE_H
#define MORPHCTL_PLACE_H

#include "slice.h"

/* Make the slice that the first argument names, on the plan's accelerators, without circuits. */
enum exit_code place_create(struct run *run, uint32_t fabric, const struct morph_plan *plan,
			    struct slice_wish *wish, json_t **slice);
/* Its circuits could not be lit, for @code: delete it again, and say so. */
enum exit_code place_take_back(struct run *run, uint32_t fabric, uint32_t slice,
			       enum exit_code code);

void place_write_plan(struct run *run, const json_t *report);
/* Why a rack does not do: of the sets of servers that forbid it the tightest. */
void place_write_refusal(const json_t *refusal);
/* What enum morph_verdict is called. */
const char *verdict_word(uint32_t verdict);
/* A table after an empty line; nothing of no records. */
void place_write_table(struct run *run, const char *columns, json_t *records);

#endif
