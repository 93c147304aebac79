/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MORPHCTL_WHYNOT_H
#define MORPHCTL_WHYNOT_H

#include "client.h"

/* Asks, and writes the answer: EXIT_CODE_FAILED when the request would not be granted. */
enum exit_code why_not_answer(struct run *run, uint32_t fabric,
			      const struct morph_why_not_opts *opts);
/* Asks only. */
enum exit_code why_not_ask(struct run *run, uint32_t fabric, const struct morph_why_not_opts *opts,
			   json_t **answer);

/* The same of a request that planners answer, as 'morphctl place' has it. */
enum exit_code why_not_plan(struct run *run);

#endif
