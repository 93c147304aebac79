// SPDX-License-Identifier: LGPL-2.1-or-later
/* The shim: begin, end, and common state. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim.h"

#define USUAL_PATIENCE_MS 10000
#define MOST_PATIENCE_MS 86400000 /* a day */
#define MOST_SAID 32

struct shim shim = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint64_t shim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void shim_say(const char *format, ...)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const char *said[MOST_SAID];
	char text[1024];
	va_list arguments;
	int at = 0;

	pthread_mutex_lock(&lock);
	while (at < MOST_SAID && said[at] && said[at] != format)
		at++;
	if (at == MOST_SAID || said[at]) {
		pthread_mutex_unlock(&lock);
		return;
	}
	said[at] = format;
	pthread_mutex_unlock(&lock);
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

	bool slice = getenv("MORPH_SLICE");

	if (!text)
		return slice ? SHIM_PROVISION : SHIM_OBSERVE;
	for (int mode = SHIM_OBSERVE; mode <= SHIM_PROVISION; mode++) {
		if (strcmp(text, names[mode]))
			continue;
		if (mode != SHIM_OBSERVE && !slice) {
			shim_say("MORPH_PHASES is %s, but MORPH_SLICE names no slice", text);
			return SHIM_OBSERVE;
		}
		return (enum shim_mode)mode;
	}
	shim_say("MORPH_PHASES must be observe, on-demand or provision, not '%s'", text);
	return SHIM_OBSERVE;
}

static int64_t patience_of(const char *text)
{
	unsigned long long ms = USUAL_PATIENCE_MS;
	char *end;

	if (text) {
		errno = 0;
		ms = strtoull(text, &end, 10);
		if (errno || *text < '0' || *text > '9' || *end || ms > MOST_PATIENCE_MS) {
			shim_say("MORPH_PATIENCE_MS must be at most %d milliseconds, not '%s'",
				 MOST_PATIENCE_MS, text);
			ms = USUAL_PATIENCE_MS;
		}
	}
	return (int64_t)ms * 1000000;
}

void shim_start(bool seen)
{
	int threads = MPI_THREAD_SINGLE, ready;
	static bool started;
	MPI_Comm parent;

	if (started)
		return;
	started = true;
	/*
	 * Ranks of the slice, and names of traces, are those of the program that spawned this one.
	 */
	PMPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL)
		return;
	PMPI_Comm_rank(MPI_COMM_WORLD, &shim.rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &shim.size);
	PMPI_Query_thread(&threads);
	shim.threads = threads == MPI_THREAD_MULTIPLE;
	shim.mode = mode_of(getenv("MORPH_PHASES"));
	shim.trace = getenv("MORPH_TRACE");
	shim.patience_ns = patience_of(getenv("MORPH_PATIENCE_MS"));
	/* All ranks take part, or none, because they wait for each other. */
	ready = seen && shim_learn_new() && shim_comm_new();
	PMPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (!ready) {
		shim_say("no phases: a rank %s", seen ? "lacks memory" : "starts MPI from Fortran");
		return;
	}
	shim_control_begin();
	shim.ready = true;
	shim_comm_begin();
}

SHIM_API int MPI_Init(int *argc, char ***argv)
{
	int ret = PMPI_Init(argc, argv);

	if (ret == MPI_SUCCESS)
		shim_start(true);
	return ret;
}

SHIM_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int ret = PMPI_Init_thread(argc, argv, required, provided);

	if (ret == MPI_SUCCESS)
		shim_start(true);
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

void shim_begin_counted(struct shim_comm *comm, struct shim_op *op)
{
	shim_orphans(false);
	*op = (struct shim_op){ .comm = comm, .phase = NO_PHASE, .thread = pthread_self() };
	if (!comm)
		return;
	shim_lock();
	op->sequence = shim_learn_begin(comm);
	shim_unlock();
}

void shim_begin(struct shim_comm *comm, MPI_Comm all, struct shim_op *op)
{
	struct {
		int may, keeps;
	} here = { .keeps = true };
	uint32_t phase;

	shim_begin_counted(comm, op);
	phase = comm ? comm->phase : NO_PHASE;
	if (phase == NO_PHASE)
		return;
	/* Only this thread could end the blocking uses. */
	here.may = !shim_holds_alone(phase);
	/* A rank in a phase that waits for a rank outside would block that rank. */
	if (all != MPI_COMM_NULL) {
		here.keeps = !shim_control_asked();
		PMPI_Allreduce(MPI_IN_PLACE, &here, 2, MPI_INT, MPI_MIN, all);
	}
	if (!here.may) {
		shim_control_pass(phase);
		return;
	}
	/*
	 * No member is in the phase, and none enters before the others come. So no rank waits for a
	 * rank that yields.
	 */
	if (!here.keeps)
		shim_control_give_way();
	if (shim_control_enter(phase))
		op->phase = phase;
}

void shim_end(struct shim_op *op)
{
	struct shim_comm *next;

	if (!op->comm)
		return;
	if (op->phase != NO_PHASE)
		shim_control_leave(op->phase);
	shim_lock();
	next = shim_learn_end(op->sequence);
	shim_unlock();
	*op = (struct shim_op){ .phase = NO_PHASE };
	if (next && next->phase != NO_PHASE)
		shim_control_announce(next->phase);
}
