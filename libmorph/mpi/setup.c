// SPDX-License-Identifier: LGPL-2.1-or-later
/* The shim: beginning, end, and what is common. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim.h"

#define USUAL_PATIENCE_MS 10000

struct shim shim = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint64_t shim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void shim_say(const char *format, ...)
{
	static bool said;
	char text[1024];
	va_list arguments;

	if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "libmorph-mpi: rank %d: %s\n", shim.rank, text);
}

void shim_lock(void)
{
	pthread_mutex_lock(&shim.lock);
}

void shim_unlock(void)
{
	pthread_mutex_unlock(&shim.lock);
}

static enum shim_mode mode_of(const char *text)
{
	static const char *const names[] = { "observe", "on-demand", "provision" };

	if (!getenv("MORPH_SLICE"))
		return SHIM_OBSERVE;
	if (!text)
		return SHIM_PROVISION;
	for (int mode = SHIM_OBSERVE; mode <= SHIM_PROVISION; mode++)
		if (!strcmp(text, names[mode]))
			return (enum shim_mode)mode;
	shim_say("MORPH_PHASES is none of observe, on-demand, provision: %s", text);
	return SHIM_OBSERVE;
}

static void begin(int threads)
{
	const char *patience = getenv("MORPH_PATIENCE_MS");

	PMPI_Comm_rank(MPI_COMM_WORLD, &shim.rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &shim.size);
	shim.threads = threads == MPI_THREAD_MULTIPLE;
	shim.mode = mode_of(getenv("MORPH_PHASES"));
	shim.trace = getenv("MORPH_TRACE");
	shim.patience_ns = (patience ? atoll(patience) : USUAL_PATIENCE_MS) * 1000000;
	if (!shim_learn_new())
		return;
	shim_control_begin();
	shim.ready = shim_comm_begin();
}

SHIM_API int MPI_Init(int *argc, char ***argv)
{
	int ret = PMPI_Init(argc, argv);

	if (ret == MPI_SUCCESS)
		begin(MPI_THREAD_SINGLE);
	return ret;
}

SHIM_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int ret = PMPI_Init_thread(argc, argv, required, provided);

	if (ret == MPI_SUCCESS)
		begin(*provided);
	return ret;
}

SHIM_API int MPI_Finalize(void)
{
	if (shim.ready) {
		shim_orphans(true);
		shim.ready = false;
		shim_trace_write();
		shim_control_end();
	}
	return PMPI_Finalize();
}

/* --------------------------------------------------------------- operations */

void shim_begin_counted(MPI_Comm comm, struct shim_op *op)
{
	*op = (struct shim_op){ .comm = shim_comm_of(comm) };
	if (!op->comm)
		return;
	shim_lock();
	op->sequence = shim_learn_begin(op->comm);
	shim_unlock();
}

void shim_begin(MPI_Comm comm, bool all, struct shim_op *op)
{
	shim_orphans(false);
	shim_begin_counted(comm, op);
	if (!op->comm || op->comm->phase == NO_PHASE)
		return;
	/* Who is in a phase and waits for one who is not is in the way of what that one waits for. */
	if (all)
		PMPI_Barrier(comm);
	op->entered = shim_control_enter(op->comm->phase);
}

void shim_end(struct shim_op *op)
{
	struct shim_comm *next;

	if (!op->comm)
		return;
	if (op->entered)
		shim_control_leave(op->comm->phase);
	shim_lock();
	next = shim_learn_end(op->sequence);
	shim_unlock();
	if (next && next->phase != NO_PHASE)
		shim_control_announce(next->phase);
}
