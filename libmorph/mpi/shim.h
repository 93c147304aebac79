/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph-mpi.so: phases for programs that do not know them, by MPI's profiling interface. See
 * README.md.
 *
 * All wrapped calls go on to PMPI, whatever happens with phases. After a failure the shim reports
 * it once and does nothing more.
 *
 * - setup.c: environment, begin and end
 * - fortran.c: begin of programs whose calls are not visible
 * - comm.c: communicators, with numbers, members and phases
 * - learn.c: operations, their iteration, and the next stage
 * - load.c: the phases that are loaded on a slice
 * - control.c: entering and leaving phases, and the helper thread that lights them
 * - collective.c: calls in which all members take part
 * - request.c: operations that continue after their call has returned
 * - point.c: calls between two ranks
 * - trace.c: the learnt stages, as a file
 */
#ifndef LM_MPI_SHIM_H
#define LM_MPI_SHIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include <morph/plan.h>

#include "../internal/phases.h"

#define SHIM_API __attribute__((visibility("default")))
#define NO_PHASE MORPH_PHASE_NONE

enum shim_mode {
	SHIM_OBSERVE,
	SHIM_ON_DEMAND,
	SHIM_PROVISION,
};

/* A communicator with its duplicates, or a freed one. */
struct shim_comm {
	uint32_t number; /* same at all members; communicators of one call share it */
	uint32_t phase; /* NO_PHASE: it has no circuits */
	int group; /* of morph_phases; -1: not learnt */
	int rank, size; /* in it */
	uint32_t *members; /* as ranks of the whole program, in the communicator's order */
	uint64_t operations;
	uint32_t uses; /* the communicator and its duplicates */
};

/* An operation until its end. */
struct shim_op {
	struct shim_comm *comm; /* NULL: not relevant */
	uint64_t sequence; /* of all operations */
	uint32_t phase; /* that was entered; the communicator can get another one */
	pthread_t thread; /* that began it */
};

/* The state of the shim. Everything except constants after MPI_Init is under the lock. */
extern struct shim {
	enum shim_mode mode;
	bool ready; /* between MPI_Init and MPI_Finalize */
	bool threads; /* MPI_THREAD_MULTIPLE */
	int rank, size; /* of the program */
	const char *trace;
	int64_t patience_ns;
	pthread_mutex_t lock;
	struct shim_comm **comms;
	int comms_count;
} shim;

uint64_t shim_now_ns(void);
/* Write a message to stderr, once. */
void shim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* MPI begins on all ranks at once. @seen: whether this rank's calls are visible. */
void shim_start(bool seen);
void shim_lock(void);
void shim_unlock(void);

/* comm.c */
bool shim_comm_new(void);
/* Called by all ranks at once. */
void shim_comm_begin(void);
/* The record of a communicator, or NULL. */
struct shim_comm *shim_comm_of(MPI_Comm comm);
/* Whether a circuit leads to that member. */
bool shim_comm_joins(const struct shim_comm *comm, int member);

/*
 * Begin an operation on a communicator, which can be NULL, and wait for its phase. @all: all
 * members wait too, after all have begun; or MPI_COMM_NULL.
 */
void shim_begin(struct shim_comm *comm, MPI_Comm all, struct shim_op *op);
/* Begin an operation whose circuits belong to another rank. It is only counted. */
void shim_begin_counted(struct shim_comm *comm, struct shim_op *op);
void shim_end(struct shim_op *op);

/* learn.c, all under the lock */
bool shim_learn_new(void);
void shim_learn_comm(struct shim_comm *comm);
uint64_t shim_learn_begin(struct shim_comm *comm);
/* The communicator of the next stage, if the operation ends a stage; or NULL. */
struct shim_comm *shim_learn_end(uint64_t sequence);
struct morph_phases *shim_learn_phases(uint32_t *learned, uint32_t *strays);
struct shim_comm *shim_comm_of_group(uint32_t group);

/* load.c */
/*
 * Add the communicators created from one with all ranks. For each rank: its leader, or -1, and its
 * place among the ranks of this leader. @hopeless: a rank is in a phase that only it could leave.
 * Returns their phase. Called by all ranks at once.
 */
uint32_t shim_load_add(MPI_Comm all, const int *leaders, const int *places, int root,
		       bool hopeless);

/* control.c */
void shim_control_begin(void);
void shim_control_end(void);
bool shim_control_enter(uint32_t phase);
/* An operation continues without the phase, and does not wait. */
void shim_control_pass(uint32_t phase);
void shim_control_leave(uint32_t phase);
/*
 * Whether another rank waits for light that it could have if all ranks yielded. The asking rank
 * stays out until that is over.
 */
bool shim_control_asked(void);
void shim_control_give_way(void);
void shim_control_announce(uint32_t phase);
bool shim_control_counts(struct morph_slice_phases_info *counts);

/* request.c */
/* An operation runs until its request ends. @all: all members take part in it. */
void shim_hold(MPI_Request request, bool all, const struct shim_op *op);
/* A persistent request. @sends: the rank that starts it has circuits. */
void shim_keep(MPI_Request request, struct shim_comm *comm, bool sends);
/* Whether this thread has operations in another phase, and no other thread has any. */
bool shim_holds_alone(uint32_t phase);
/* Examine freed requests that still run. @leave: leave them to MPI from now on. */
void shim_orphans(bool leave);

/* trace.c */
void shim_trace_write(void);

#endif /* LM_MPI_SHIM_H */
