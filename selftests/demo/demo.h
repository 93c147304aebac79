/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The demo: jobs of a trace come and go on a simulated rack while its hardware fails.
 *
 * conductor   keeps the queue, starts a process for each job, reads their notes
 * tenant      the process of one job: slice, ring, checks of its own light, release
 * failures    the seeded plan, the events and the outcome of each failure
 * breakage    recipes that break something and check the outcome
 * setup       the fabric and the jobs
 * jobs        the text of the trace, and the compression of its time
 * ending      checks after the demo
 * light       reads the simulator's hardware, independent of the core
 * report      progress, and the record of the run as JSON
 */
#ifndef SELFTESTS_DEMO_H
#define SELFTESTS_DEMO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "fabric.h"

#define JOBS_MAX 512u
#define RANKS_MAX 64u
#define PORTS_MAX 1024u
#define FAILURES_MAX 96u
#define FAILOVERS_MAX 256u
#define VIOLATIONS_MAX 64u
#define NO_JOB 0xffffffffu

/* ------------------------------------------------------------- between processes */

/* A circuit, as its tenant knows it. */
struct beam {
	uint32_t circuit, state, tx, rx; /* ports: accelerator * planes + plane */
	uint64_t lanes;
	uint32_t fibre, tile; /* first guide of the class on its path, or MORPH_ANY */
};

/*
 * A tenant's latest view of its slice, in memory that it shares with the conductor. version
 * is odd while the tenant writes.
 */
struct view {
	uint32_t version;
	uint32_t slice, state, ranks, circuits;
	uint64_t generation;
	uint32_t accelerator[RANKS_MAX], spare[RANKS_MAX];
	struct beam beam[RANKS_MAX];
	uint32_t txn;
	uint32_t checks; /* of its own light, with the right result */
	uint32_t reason; /* enum morph_reason of a refusal */
	char detail[160];
};

enum order_verb {
	ORDER_END, /* release everything and exit */
	ORDER_MOVE, /* move the first circuit to other planes */
	ORDER_PREPARE, /* prepare this move, without commit */
	ORDER_COMMIT, /* commit the prepared move */
	ORDER_LOOK, /* read the slice again: protections change without an event */
};

enum note_kind {
	NOTE_READY, /* the slice has its ring, and the light is right */
	NOTE_REFUSED, /* value: errno; reason and detail in the view */
	NOTE_EVENT,
	NOTE_DONE, /* the order has ended; value: 0 or errno, extra: outcome */
	NOTE_WRONG, /* the tenant saw a broken invariant; detail has it */
};

/* A note is small enough for one atomic write to a pipe. */
struct note {
	uint32_t job, kind, value, extra;
	char detail[160];
	struct morph_event event;
};

/* ------------------------------------------------------------------ the conductor */

enum stage {
	STAGE_AHEAD, /* not yet arrived */
	STAGE_QUEUED,
	STAGE_STARTING,
	STAGE_RUNNING,
	STAGE_ENDING,
	STAGE_SERVED,
	STAGE_REFUSED,
	STAGE_KILLED,
	STAGE_LOST, /* exited without an order */
};

struct job {
	double arrival_s, duration_s; /* of the trace */
	uint32_t accelerators;
	bool drawn;
	enum stage stage;
	long long arrives_ms, ends_ms, queued_ms, started_ms;
	pid_t pid;
	int orders; /* socket to the tenant */
	struct view *view;
	bool held; /* the current failure needs this job, so it may not end */
	bool waited;
	bool hurt; /* its slice is under repair or degraded */
	bool was_hurt;
	int done; /* result of the last order: 0, errno, or -1 if it has not ended */
	uint32_t outcome; /* of the last order */
	uint32_t refused_reason;
	char refused_detail[160];
};

/* A failure and its outcome. */
struct failure {
	const char *kind;
	char target[64];
	uint32_t job;
	uint64_t injected_ns; /* CLOCK_BOOTTIME */
	uint64_t took_ns; /* until verified and reported, or until free and dark */
	uint32_t replaced, moved, degraded, recovered, revoked;
	uint32_t part, index; /* part that the core names */
	uint32_t old_accelerator, new_accelerator, bystanders;
	uint64_t left_mbps;
	bool accounted, survived, freed; /* freed: an owner was killed */
	char end[160]; /* outcome and reason */
};

/* One repair, from its event. */
struct failover {
	uint32_t job, failure, type;
	struct morph_times times;
	uint64_t dark_ns;
};

struct demo {
	struct sim sim;
	uint32_t planes, capacity; /* capacity: accelerators for tenants */
	uint32_t *guide_type;
	struct job jobs[JOBS_MAX];
	uint32_t jobs_count;
	int notes; /* read end; tenants have the write end */
	int notes_write;
	const char *results;
	uint64_t seed, chance;
	long long begin_ms, length_ms;
	bool gated; /* no job starts or ends */

	struct failure failures[FAILURES_MAX];
	uint32_t failures_count, planned;
	struct failure *now; /* the current failure */
	struct failover failovers[FAILOVERS_MAX];
	uint32_t failovers_count;

	/* occupancy: held accelerators over time */
	long long measured_from_ms, measured_until_ms, sampled_ms;
	double held_ms;
	uint32_t held_least, held_most, waited, cut;

	uint32_t light_checks, tenant_checks, quiet_skipped, snapshots;
	bool pictures_before, pictures_after;
	char violations[VIOLATIONS_MAX][200];
	uint32_t violations_count;
	long long final_free, final_spares, final_slices;
	long long ledger_held, ledger_pins;
	uint32_t mended_guides;
};

extern struct demo demo;

/* Record a broken invariant. The demo continues and fails at its end. */
void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Numbers drawn from the seed. */
uint32_t chance(uint32_t below);
uint64_t boottime_ns(void);
/* Continue the demo until done(arg) or the time limit. Returns whether done(arg) is true. */
bool pump(bool (*done)(const void *arg), const void *arg, int timeout_ms);
void pump_for(int ms);
bool order(struct job *job, enum order_verb verb);
/* Copy the tenant's view consistently. */
struct view view_of(const struct job *job);
uint32_t jobs_at(enum stage stage);
uint32_t held_accelerators(void);
/* Stop starts and ends of jobs, and wait until those in progress have finished. */
void gate(void);
void ungate(void);

bool all_over(const void *unused);

/* A job lasts at least this long. */
#define SHORTEST_MS 300

/* jobs.c */
struct pace {
	double arrivals, durations; /* ms for a second of the trace */
};

int jobs_read(FILE *file, struct job *jobs, uint32_t most, char *why, size_t room);
/* Set the arrival of each job since the beginning, and its duration. */
struct pace jobs_pace(struct job *jobs, uint32_t count, uint32_t capacity, long long length_ms);

/* setup.c */
void setup_fabric(void);
void setup_jobs(const char *path);
void setup_time(void);

/* ending.c */
void check_ending(void);

/* tenant.c */
int tenant_main(uint32_t number, struct job *job, int orders);

/* failures.c */
void failures_plan(void);
/* Start the failures that are due. Returns true if one was due. */
bool failures_step(void);
/* Number of planned failures that have not started. */
uint32_t failures_left(void);
void failures_event(struct job *job, const struct morph_event *event);

struct failure *failure_begin(const char *kind, struct job *job);
void failure_end(struct failure *failure, bool survived, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void failure_drop(struct failure *failure);

/* breakage.c: each kind of failure. */
void mend(void);
struct recipe {
	const char *name;
	uint32_t times;
	bool (*run)(const char *name);
};
extern const struct recipe recipes[];
extern const uint32_t recipes_count;

/* light.c */
struct lit {
	uint64_t lit[PORTS_MAX], locked[PORTS_MAX];
};
bool light_read(struct lit *lit);
/* Check the light of one slice: its circuits are lit and locked, its other receivers dark. */
bool light_matches(const struct view *view, const struct lit *lit, uint32_t planes, char *what,
		   size_t bytes);
bool light_dark(const struct lit *lit, const uint32_t *accelerators, uint32_t count);
/* Check the light of the whole fabric while nothing is in progress. */
void light_check_fabric(void);
/* Write the hardware and the circuits for tracelight.py. */
void light_snapshot(void);

/* report.c */
void report_progress(bool last);
bool write_record(const char *path);
const char *outcome_name(uint32_t outcome);
const char *reason_name(uint32_t reason);

#endif /* SELFTESTS_DEMO_H */
