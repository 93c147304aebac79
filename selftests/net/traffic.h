/* SPDX-License-Identifier: GPL-2.0-only */
/* Traffic for tests: a process for each place, which sends to all other ranks and receives. */
#ifndef SELFTESTS_NET_TRAFFIC_H
#define SELFTESTS_NET_TRAFFIC_H

#include <stdint.h>
#include <sys/types.h>

#include "link.h"

#define TRAFFIC_PLACES 8

/* Counts of one process. The processes write them, and the test reads them. */
struct traffic_count {
	uint64_t datagrams; /* received */
	uint64_t stream_bytes; /* received over the connection from the previous rank */
};

struct traffic {
	unsigned int count;
	pid_t processes[TRAFFIC_PLACES];
	struct traffic_count *counts; /* shared memory */
};

/*
 * Start a process for each place. It sends datagrams to all other places, and a TCP stream to the
 * next one. It connects again whenever the stream breaks.
 */
void traffic_start(struct traffic *traffic, const struct place *places, unsigned int count);
/* Kill the processes. Their sockets end in the middle of their work. */
void traffic_stop(struct traffic *traffic);

/* Read a number from the environment, or return the default. */
unsigned int read_setting(const char *name, unsigned int normal);

#endif /* SELFTESTS_NET_TRAFFIC_H */
