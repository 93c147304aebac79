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
};

/* Workers carry out the commands of worker_commands: there the workers' allocations fail. */
extern const struct command abi_commands[], netlink_commands[], controller_commands[];
extern const struct command schedule_commands[], worker_commands[];
extern const unsigned int abi_commands_count, netlink_commands_count, controller_commands_count;
extern const unsigned int schedule_commands_count, worker_commands_count;

/* Request a circuit over netlink, and its removal. */
int ask_add(struct stage *stage);
void take_back(struct stage *stage);

/* Find a spare that the command prefers. */
void find_spare(struct stage *stage);

/* Return the errno of a call that returned -1, or 0. */
#define ERRNO(call) ((call) < 0 ? errno : 0)
/* End the program if a step of the preparation failed. */
void must(int error, const char *what);

#endif
