/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What requests are put to: a fabric as it is, or an empty one of a profile. */
#ifndef MORPHCTL_GROUND_H
#define MORPHCTL_GROUND_H

#include "client.h"

struct ground {
	struct run *run;
	uint32_t fabric; /* MORPH_ANY: an empty one */
	struct morph_model *model;
	struct morph_ledger *ledger;
	struct morph_defrag *running; /* slices of the fabric, which have fibres to keep */
	uint32_t kept; /* ranks of theirs that have a spare */
};

/*
 * What the fabric of @ground->model holds, and what its slices need when an accelerator of theirs
 * fails, unless --unprotect says that nothing is kept for that. @controller: whose reservations
 * may be used; 0: nobody's.
 */
enum exit_code ground_read(struct ground *ground, uint32_t controller);
/* Nothing is kept for failover any more. */
void ground_release(struct ground *ground);
void ground_free(struct ground *ground);

#endif
