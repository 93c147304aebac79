/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands whose allocations fail in turn. */
#ifndef SELFTESTS_SWEEP_ALLOCATION_H
#define SELFTESTS_SWEEP_ALLOCATION_H

#include "nl.h"
#include "sweep.h"

/* The fabric and the slice that a command uses. */
struct stage {
	struct sim sim;
	unsigned int parked[4096];
	int slice; /* file of a slice of three ranks, with a lit ring */
	unsigned int number; /* number of that slice */
	int named; /* number of a named slice, or 0 */
	unsigned int circuits[3];
	struct sim edges; /* another fabric, with a guide to another server */
	unsigned int guide;

	/* state of the command */
	struct nl nl;
	int fd; /* a file that it made or uses, or -1 */
	unsigned int circuit; /* circuit that it added */
	unsigned int txn;
	unsigned int spare; /* preferred spare */
	unsigned int prepared; /* cookie of the next transaction */
};

struct command {
	const char *name;
	int (*act)(struct stage *stage); /* the command under test: 0 or an errno */
	void (*set)(struct stage *stage); /* its preparation, or NULL */
	/* Undo a complete command, to the state before set(); NULL: it changed nothing. */
	void (*undo)(struct stage *stage);
	/* Undo set() after a failed command; NULL: there is no set(). */
	void (*unset)(struct stage *stage);
	bool queued; /* a worker completes it after the answer */
	bool restores; /* at the end the state is as before */
	bool must; /* workers must complete it despite a lack of memory */
	unsigned int stride; /* fail only every n-th allocation, 0: each */
};

/* Workers carry out the commands of worker_commands: there the workers' allocations fail. */
extern const struct command abi_commands[], netlink_commands[], controller_commands[];
extern const struct command schedule_commands[], worker_commands[];
extern const unsigned int abi_commands_count, netlink_commands_count, controller_commands_count;
extern const unsigned int schedule_commands_count, worker_commands_count;
/* Requests of many changes, whose allocations under fabric->lock are of all kinds. */
extern const struct command big_commands[];
extern const unsigned int big_commands_count;

/* Request a circuit over netlink, and its removal. */
int ask_add(struct stage *stage);
void take_back(struct stage *stage);

/* Find a spare that the command prefers. */
void find_spare(struct stage *stage);

/* Return the errno of a call that returned -1, or 0. */
#define ERRNO(call) ((call) < 0 ? errno : 0)
/* End the program if a step of the preparation failed. */
void must(int error, const char *what);

/* --------------------------------------------------------------- failures.c */

/* The tasks whose allocations fail: the caller, or all workers of the kernel. */
enum victim {
	SELF,
	WORKERS
};

/*
 * Prepare failures, without warnings in the log; false without fault injection. @nosleep: only
 * allocations that must not sleep fail. Otherwise those that may sleep fail, too.
 */
bool failures_ready(bool nosleep);
/* Let the n-th allocation from now on fail, or none. */
void fail_nth(enum victim victim, unsigned int n);
/* End this, and return the number of allocations that were left until the failure. */
unsigned int fail_nth_left(enum victim victim);
/* Let all allocations fail, or end this. */
void fail_all(enum victim victim, bool fail);
/* The number of failures so far. */
unsigned int failures_count(void);
/* Does the name of that process begin like this? */
bool is_called(const char *number, const char *name);

#endif
