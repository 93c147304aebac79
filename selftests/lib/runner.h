/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread that runs one transaction while the test observes the rest. */
#ifndef SELFTESTS_LIB_RUNNER_H
#define SELFTESTS_LIB_RUNNER_H

#include <pthread.h>
#include <stdatomic.h>

#include "fabric.h"

struct runner {
	int slice;
	struct morph_change changes[2];
	unsigned int count;

	pthread_t thread;
	int error; /* errno of the transaction, after it is done */
	atomic_bool done;
};

/* Start it with the caller's changes: 0 or an errno. */
int runner_start(struct runner *runner);
/* Start it with a circuit from one rank to another. */
int runner_add(struct runner *runner, unsigned int src, unsigned int dst);
/* Wait for its end: 0, or the errno of its transaction. */
int runner_join(struct runner *runner);

#endif /* SELFTESTS_LIB_RUNNER_H */
