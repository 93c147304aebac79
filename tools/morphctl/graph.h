/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of links between ranks. */
#ifndef MORPHCTL_GRAPH_H
#define MORPHCTL_GRAPH_H

#include "morphctl.h"

#define GRAPH_RANKS 4096u /* as many as a slice has at most */
#define GRAPH_LINKS 65536u

struct graph_link {
	uint32_t src, dst;
};

struct graph {
	uint32_t ranks; /* each of them is in a link */
	size_t links_count;
	struct graph_link *links; /* in the order of lines */
};

/* Read a file, or standard input for "-". The graph is the caller's to free, also after a message. */
enum exit_code graph_read(const char *path, struct graph *graph);
void graph_free(struct graph *graph);

#endif
