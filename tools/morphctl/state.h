/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The present state of a fabric, kind by kind. */
#ifndef MORPHCTL_STATE_H
#define MORPHCTL_STATE_H

#include "client.h"

struct state_kind {
	const char *command; /* what a record is called in a stream */
	const char *key; /* what the list is called in a document */
	client_dump_fn *dump;
	bool admin; /* told to administrators only */
};

extern const struct state_kind state_kinds[];
extern const size_t state_kinds_count;

/* As client_dump(), without a message; an error is a negative errno. */
int state_dump(struct run *run, const struct state_kind *kind, uint32_t fabric, json_t **records);

#endif
