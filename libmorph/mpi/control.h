/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by control.c and load.c. */
#ifndef LM_MPI_CONTROL_H
#define LM_MPI_CONTROL_H

#include "shim.h"

/* Files and phases of a thread. */
struct view {
	struct morph_ctx *ctx;
	struct morph_slice *slice;
	struct morph_slice_phases *phasing;
};

/*
 * Communicators that are lit together. For each rank: its leader, or -1, and its place among the
 * ranks with the same leader.
 */
struct family {
	int *leaders, *places;
};

/* The phases of this process, under the lock of the shim where no comment says otherwise. */
extern struct control {
	struct view main; /* of all threads but the helper */
	uint32_t schedule; /* 0: none is loaded */
	uint32_t loads; /* number of schedules that the first rank has loaded, as far as known */
	bool loading_now; /* the first rank is loading: a missing schedule appears soon */
	pthread_mutex_t loading; /* taken before the lock, which is released while uses end */
	struct family *families; /* families in the order of phases */
	uint32_t families_count;
	pthread_t helper;
	bool helps; /* the helper thread exists; read and written at start and end, without lock */
	bool ends; /* the helper thread must end */
	uint32_t announced;
	uint64_t wishes; /* number of announcements */
	pthread_cond_t wanted;
	struct morph_slice_phases_info counts; /* of changes, without the present phases */
	uint64_t provisioned; /* atomic */
	int64_t patience_ns; /* present value; it shrinks with each timeout */
	uint32_t in_time; /* operations in time since the last timeout */
	uint32_t asking; /* threads that wait for light */
	bool unloads; /* a thread waits until no rank has a phase */
	uint64_t change_ns; /* time of the fastest change; 0: none yet */
} control;

/* load.c */
/* A number is an open file if that belongs to a slice, else the number of the slice. */
bool shim_view_open(struct view *view);
void shim_view_close(struct view *view);
/*
 * Join the phases of a schedule; 0: none. A missing schedule was replaced by the first rank, which
 * will report it to this rank.
 */
void shim_view_join(struct view *view, uint32_t schedule);
bool shim_slice_has_room(struct view *view);
void shim_families_free(void);
/*
 * Add the changes of the present phases to those of earlier phases. Counts of entering are not one
 * for each call, so they are not added.
 */
void shim_add_counts(struct view *view);

/* control.c */
#define SHIM_UNLOAD_NS 100000000 /* limit if no other thread could end the blocking uses */
/* Other ranks can be about to change light, and wait for nothing else. */
uint64_t shim_least_patience(int64_t patience_ns);
/*
 * Between two attempts. MPI makes progress only in its calls, and other ranks can be in the phase
 * because of messages to this rank.
 */
void shim_make_progress(void);
/*
 * Request that ranks in a blocking phase leave it. Called with the lock, at each attempt, because
 * the phases can have changed.
 */
void shim_ask_to_leave(void);

#endif /* LM_MPI_CONTROL_H */
