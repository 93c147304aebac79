/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver's side of a queue: a thread that runs functions of kmod/core/interface. */
#ifndef MORPH_TEST_GPU_DRIVER_H
#define MORPH_TEST_GPU_DRIVER_H

#include <pthread.h>
#include "job.h"
#include "linux.h"

struct driver {
	struct morph_queue queue;
	struct morph_schedule schedule;
	struct morph_slice slice;
	struct morph_fabric fabric;
	pthread_t thread;
	volatile morph_word *payload;
	u32 producers;
	u32 served[JOB_PRODUCERS]; /* requests of each producer */
	u64 mistakes[JOB_MISTAKES];
	bool interrupted; /* some WRITE_ONCE() are followed by a pause, as by an interrupt */
};

/**
 * driver_init() - set up a queue as MORPH_RING_SETUP does, and a state page
 * @driver: output
 * @memory: MORPH_RING_BYTES(@entries) for the queue, zeroed
 * @entries: number of submissions, and of completions
 * @idle_ns: how long the thread looks for entries before it sleeps
 * @state: the state page, with JOB_PAIRS pairs behind it, zeroed
 */
void driver_init(struct driver *driver, void *memory, u32 entries, u32 idle_ns,
		 struct morph_state_page *state);

/* Start the thread of the queue, or a thread that only rewrites the state page. */
int driver_run(struct driver *driver);
int driver_rewrite(struct driver *driver);

/* MORPH_RING_WAKE and MORPH_RING_CLOSE. The second one waits until the thread ends. */
void driver_wake(struct driver *driver);
void driver_close(struct driver *driver);

#endif
