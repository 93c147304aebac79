/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph-mpi.so: phases for a program that knows nothing of them, by MPI's profiling interface. See README.md.
 *
 * All of MPI's calls that stand here go on to PMPI, whatever comes of phases: who fails says so once, and steps aside.
 *
 *	setup.c		what the environment asks for, beginning and end
 *	fortran.c	beginning, where nothing more will be seen
 *	comm.c		communicators: numbers, members, and which phase they are of
 *	learn.c		operations, the iteration in them, and what comes next
 *	control.c	phases on a slice, and the thread that lights them ahead
 *	collective.c	calls in which all members take part
 *	request.c	what goes on after its call has returned
 *	point.c		calls between two ranks
 *	trace.c		what was learned, as a file
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

/* A communicator with its duplicates, or one that was. */
struct shim_comm {
	uint32_t number; /* the same at all members, and at those that came of the same call, or of another thread's meanwhile */
	uint32_t phase; /* NO_PHASE: its circuits are nobody's */
	int group; /* of morph_phases; -1: it is not learned */
	int rank, size; /* in it */
	uint32_t *members; /* ranks of the whole program, in its order */
	uint64_t operations;
	uint32_t uses; /* it, and duplicates */
};

/* An operation, until it has ended. */
struct shim_op {
	struct shim_comm *comm; /* NULL: of no interest */
	uint64_t sequence; /* of all operations */
	uint32_t phase; /* that was entered, whatever the communicator is by the time it ends; or NO_PHASE */
	pthread_t thread; /* that began it */
};

/* Everything; all but what is constant after MPI_Init under the lock. */
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
/* On stderr, the first time that it is said. */
void shim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* MPI begins, on all ranks at once. @seen: this one's calls are. */
void shim_start(bool seen);
void shim_lock(void);
void shim_unlock(void);

/* comm.c */
bool shim_comm_new(void);
/* Called by all ranks at once. */
void shim_comm_begin(void);
/* What a communicator is known as, or NULL. */
struct shim_comm *shim_comm_of(MPI_Comm comm);
/* Is there a circuit to that member? */
bool shim_comm_joins(const struct shim_comm *comm, int member);

/*
 * An operation begins, on a communicator that may be NULL: it waits for its phase. @all: so do all members of it, and before
 * that all have begun; or MPI_COMM_NULL.
 */
void shim_begin(struct shim_comm *comm, MPI_Comm all, struct shim_op *op);
/* One whose circuits another rank has: it is only counted. */
void shim_begin_counted(struct shim_comm *comm, struct shim_op *op);
void shim_end(struct shim_op *op);

/* learn.c, all under the lock */
bool shim_learn_new(void);
void shim_learn_comm(struct shim_comm *comm);
uint64_t shim_learn_begin(struct shim_comm *comm);
/* The communicator of the stage that follows, where the operation ends one; or NULL. */
struct shim_comm *shim_learn_end(uint64_t sequence);
struct morph_phases *shim_learn_phases(uint32_t *learned, uint32_t *strays);
struct shim_comm *shim_comm_of_group(uint32_t group);

/* control.c */
void shim_control_begin(void);
void shim_control_end(void);
/*
 * Communicators have come from one of all ranks: to each rank its leader, or -1, and its place among
 * those of the same leader. @hopeless: a rank is in a phase that only it could leave. Returns their phase. Called by all ranks at
 * once.
 */
uint32_t shim_control_add(MPI_Comm all, const int *leaders, const int *places, int root,
			  bool hopeless);
bool shim_control_enter(uint32_t phase);
/* An operation goes on without, and does not wait. */
void shim_control_pass(uint32_t phase);
void shim_control_leave(uint32_t phase);
/* Does anybody wait for light that he could have now if all gave way? Who does stays out until that is over. */
bool shim_control_asked(void);
void shim_control_give_way(void);
void shim_control_announce(uint32_t phase);
bool shim_control_counts(struct morph_slice_phases_info *counts);

/* request.c */
/* An operation goes on until its request has ended. @all: all members have a part in it. */
void shim_hold(MPI_Request request, bool all, const struct shim_op *op);
/* A persistent one. @sends: whoever starts it has circuits. */
void shim_keep(MPI_Request request, struct shim_comm *comm, bool sends);
/* Does this thread have operations that go on in another phase, and no other thread any? */
bool shim_holds_alone(uint32_t phase);
/* What was freed, and goes on, is looked at. @leave: MPI does so from here on. */
void shim_orphans(bool leave);

/* trace.c */
void shim_trace_write(void);

#endif /* LM_MPI_SHIM_H */
