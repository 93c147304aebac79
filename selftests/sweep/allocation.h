/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands whose allocations fail in turn. */
#ifndef SELFTESTS_SWEEP_ALLOCATION_H
#define SELFTESTS_SWEEP_ALLOCATION_H

#include "nl.h"
#include "sweep.h"

/* Where a command is given. */
struct stage {
	struct sim sim;
	unsigned int parked[4096];
	int slice; /* of three ranks, a ring is lit */
	unsigned int number; /* that slice's */
	int named; /* number of a named slice, or 0 */
	unsigned int circuits[3];
	struct sim edges; /* another fabric: one of whose guides leads to a server */
	unsigned int guide;

	/* for the command */
	struct nl nl;
	int fd; /* a file that it made, or is about, or -1 */
	unsigned int circuit; /* that it added */
	unsigned int txn;
	unsigned int spare; /* that is preferred */
	unsigned int prepared; /* cookie of the next one */
};

struct command {
	const char *name;
	int (*act)(struct stage *stage); /* what is swept: 0 or an errno */
	void (*set)(struct stage *stage); /* what it needs, or NULL */
	/* After one that was done: as before it was set; NULL: it has changed nothing. */
	void (*undo)(struct stage *stage);
	/* After one that was not done. NULL: nothing was set. */
	void (*unset)(struct stage *stage);
	bool queued; /* a worker does it, after the answer */
	bool restores; /* in the end all looks as it did before */
	bool must; /* by workers: want of memory is no excuse */
};

/* Those of the last list make a worker do it: the workers' allocations fail. */
extern const struct command abi_commands[], netlink_commands[], controller_commands[];
extern const struct command schedule_commands[], worker_commands[];
extern const unsigned int abi_commands_count, netlink_commands_count, controller_commands_count;
extern const unsigned int schedule_commands_count, worker_commands_count;

/* A circuit that netlink is asked for, and its removal. */
int ask_add(struct stage *stage);
void take_back(struct stage *stage);

/* Look for a spare, which the command then prefers. */
void find_spare(struct stage *stage);

/* errno of a call that returned -1, or 0. */
#define ERRNO(call) ((call) < 0 ? errno : 0)
/* Setting the scene must go well. */
void must(int error, const char *what);

#endif
