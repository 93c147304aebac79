/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What planners are asked for, as the command line says it. */
#ifndef MORPHCTL_REQUEST_H
#define MORPHCTL_REQUEST_H

#include "client.h"

/* A request, and the terms that it was made with. */
struct asked {
	struct morph_request *request;
	uint64_t mbps; /* of each circuit at least */
	uint64_t steps; /* of the search; 0: the library's own */
	uint32_t transit, tier, servers, wavelengths;
};

/* By --count, --shape, --ring, --mesh or --graph, and what goes with them; @asked is the caller's to free. */
enum exit_code request_given(struct run *run, const struct morph_model *model, struct asked *asked);
void asked_free(struct asked *asked);

/* Up to three extents, divided by 'x'; others stay as they are. */
bool parse_torus(const char *text, uint32_t extent[3]);

#endif
