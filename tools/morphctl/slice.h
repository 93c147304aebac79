/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slice that is wanted. */
#ifndef MORPHCTL_SLICE_H
#define MORPHCTL_SLICE_H

#include "client.h"

struct slice_wish {
	uint32_t fabric;
	const char *name;
	uint32_t owner;
	uint32_t mode;
	uint32_t count; /* when accelerators_count is 0 */
	uint32_t *accelerators;
	size_t accelerators_count;
	uint32_t failover;
	uint32_t transit;
	uint32_t spare_policy;
	uint32_t *spares;
	size_t spares_count;
	bool reserved;
	uint32_t controller; /* 0: none */
};

/* What options say of owner, mode and failover of a new slice. */
enum exit_code slice_wish_options(struct run *run, struct slice_wish *wish);
void slice_wish_free(struct slice_wish *wish);
enum exit_code slice_make(struct run *run, const struct slice_wish *wish, json_t **record);
bool parse_mode(const char *text, uint32_t *mode);

#endif
