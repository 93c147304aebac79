// SPDX-License-Identifier: GPL-2.0-only
/* A transaction in a thread of its own. */
#include "runner.h"

static void *run(void *data)
{
	struct runner *runner = data;

	runner->error = txn_run(runner->slice, runner->changes, runner->count, NULL) ? errno : 0;
	atomic_store(&runner->done, true);
	return NULL;
}

int runner_start(struct runner *runner)
{
	atomic_store(&runner->done, false);
	return pthread_create(&runner->thread, NULL, run, runner);
}

int runner_add(struct runner *runner, unsigned int src, unsigned int dst)
{
	runner->changes[0] = change_add(src, dst);
	runner->count = 1;
	return runner_start(runner);
}

int runner_join(struct runner *runner)
{
	int error = pthread_join(runner->thread, NULL);

	return error ? error : runner->error;
}
