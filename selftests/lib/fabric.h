/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for test programs: simulated fabrics, slices, circuits, faults, events.
 *
 * A function for one system call returns the result of the call and leaves errno. Functions that
 * prepare a test end the program with a message on failure.
 */
#ifndef SELFTESTS_LIB_FABRIC_H
#define SELFTESTS_LIB_FABRIC_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include <linux/morph.h>

/* A simulated fabric that belongs to the test. */
struct sim {
	char name[32];
	unsigned int number; /* N of /dev/morph/fabricN */
	int fd; /* file of that node */
	struct morph_fabric_info info;
};

/*
 * Make a fabric of a profile. settings: "attribute=value" pairs for the instance's directory in
 * configfs, separated by blanks, or NULL. Times come from the profile.
 */
void sim_start(struct sim *sim, const char *profile, const char *settings);
void sim_stop(struct sim *sim);
/* Remove the provider, and add it again as another fabric; sim->fd stays the old one. */
void sim_pull(const struct sim *sim);
void sim_replug(struct sim *sim);
/* Write a line to one of the instance's files in debugfs: "fault", "clear", "flip". */
int write_file(const char *path, const char *text);
int sim_control(const struct sim *sim, const char *file, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Return the number after "key " in a file of the instance in debugfs, or -1. */
long long sim_counter(const struct sim *sim, const char *file, const char *key);
/* Wait until the number reaches a value; false after a timeout. */
bool sim_wait_counter(const struct sim *sim, const char *file, const char *key, long long least);
/* Return the same number from a file of the core for this fabric. */
long long core_counter(const struct sim *sim, const char *file, const char *key);
/* Is the core idle: no signal, repair, test or operation, except for patrol and plans? */
bool core_rests(const struct sim *sim);
/* Lanes that receivers of an accelerator see in the simulator, all planes together. */
uint64_t sim_lit_lanes(const struct sim *sim, unsigned int accelerator);
bool sim_all_dark(const struct sim *sim);

/* Read the current info of the fabric into sim->info. */
void sim_refresh(struct sim *sim);
/* Has the fabric no slices, not even dying ones? */
bool sim_no_slices(struct sim *sim);
/* Wait until @count accelerators are free; false after a timeout. */
bool sim_wait_free(struct sim *sim, unsigned int count);
int open_fabric(unsigned int number);
int fabric_info(int fd, struct morph_fabric_info *info);
/* Open the node of the fabric of that name: its file, or -1. info may be NULL. */
int find_fabric(const char *name, struct morph_fabric_info *info);
/* Read the entries of a list of the fabric from @first on: their number, or -1. */
int fabric_read(int fd, unsigned long command, uint32_t first, struct morph_array entries);
struct morph_accelerator_info read_accelerator(const struct sim *sim, unsigned int index);
/* Wait until an accelerator has that health; false after a timeout. */
bool wait_health(const struct sim *sim, unsigned int index, unsigned int health);

/* A head with the size of a structure and space for a detail string. */
#define HEAD(type)                                                                 \
	{                                                                          \
		.size = sizeof(struct type), .detail_ptr = (uintptr_t)last_detail, \
		.detail_len = sizeof(last_detail)                                  \
	}
#define GENERATION_ANY MORPH_GENERATION_ANY

extern char last_detail[160];

/* An array for a command. */
#define ARRAY(pointer, entries)                                                               \
	{                                                                                     \
		.ptr = (uintptr_t)(pointer), .count = (entries), .stride = sizeof(*(pointer)) \
	}

/* Make a fabric file with the limits that the caller has set, or return -1. */
int grant_create(int fabric, struct morph_grant_create *args);
/* No limit at all. */
#define GRANT_ALL                                                                     \
	{                                                                             \
		.accelerators = MORPH_ANY, .circuits = MORPH_ANY, .lanes = MORPH_ANY, \
		.prepared = MORPH_ANY, .replacements = MORPH_ANY, .bytes = UINT64_MAX \
	}

/* Make a slice of @count accelerators that the kernel chooses: its file, or -1. */
int slice_create(int fabric, unsigned int count);
/* Make a slice of the listed accelerators. */
int slice_create_at(int fabric, const uint32_t *accelerators, unsigned int count);
/* Make a slice from the caller's structure; this function sets head, lists and strides. */
int slice_create_with(int fabric, struct morph_slice_create *args, const uint32_t *accelerators,
		      unsigned int count);
int slice_info(int slice, struct morph_slice_info *info);
int slice_read(int slice, struct morph_slice_info *info, struct morph_rank_info *ranks,
	       unsigned int ranks_room, struct morph_circuit_info *circuits,
	       unsigned int circuits_room);
/* Read the guides of a circuit's path: their number, or -1. */
int circuit_guides(int slice, unsigned int circuit, uint32_t *guides, unsigned int room);
/* Wait until the slice has that state; false after a timeout. */
bool slice_wait_state(int slice, unsigned int state);
/* Wait until the plans of all its ranks have that state; false after a timeout. */
bool wait_plans(int slice, unsigned int ranks, unsigned int state);
int slice_delete(int fabric, unsigned int number, const char *name, unsigned int flags);
int slice_policy(int slice, unsigned int failover);

struct morph_change change_add(unsigned int src, unsigned int dst);
struct morph_change change_remove(unsigned int circuit);
/* Run one transaction; args may hold flags, cookie, generation, lease, or be NULL. */
int txn_run(int slice, struct morph_change *changes, unsigned int count,
	    struct morph_txn_run *args);
int txn_step(int slice, unsigned int txn, unsigned int verb, uint64_t lease_ns,
	     struct morph_txn_step *args);
/*
 * Apply a verb to a schedule; args may hold step, rank and position and gets the answer, or is
 * NULL.
 */
int schedule_act(int slice, unsigned int schedule, unsigned int verb,
		 struct morph_schedule_act *args);
/*
 * Load a schedule with one of the circuits in each step, in turn, stepped by calls. Return its
 * number, or -1. *first becomes the number of the first circuit, unless NULL.
 */
int schedule_in_turn(int slice, const struct morph_schedule_circuit *circuits, unsigned int count,
		     uint32_t *first);
int rank_act(int slice, unsigned long command, unsigned int rank, unsigned int spare,
	     struct morph_rank_act *args);
/* Light a circuit from each rank to the next, and from the last to the first. */
int light_ring(int slice, unsigned int ranks);

/* Read events until one of the type comes: 0, or -1 with ETIME after a timeout. */
int wait_event(int slice, unsigned int type, int timeout_ms, struct morph_event *event);
/* Discard the queued events and return their number. */
int drain_events(int slice);

/* Wait until a process or thread sleeps in the call that it makes next. */
void wait_asleep(pid_t pid);
/* Wait for a thread that announces its start by its number. */
void wait_thread_asleep(const pid_t *tid);
/* CLOCK_MONOTONIC in ms. */
long long now_ms(void);
/* Factor for time limits on the running kernel: the machine's $SLOWNESS. */
unsigned int slowness(void);
/* Time limit for the kernel; emulated machines are slow. */
#define PATIENCE_MS ((int)(20000 * slowness()))
/* Sleep a few ms between two checks. */
void nap(void);
/* Wait until a condition holds, by polling; return whether it holds. */
#define WAIT_UNTIL(condition)                                          \
	({                                                             \
		long long __until = now_ms() + PATIENCE_MS;            \
		bool __holds;                                          \
                                                                       \
		while (!(__holds = (condition)) && now_ms() < __until) \
			nap();                                         \
		__holds;                                               \
	})
/* The harness uses it to end a test that hangs. */
/* clang-format off */
#define alarm(seconds) alarm((seconds) * slowness())
/* clang-format on */

#endif /* SELFTESTS_LIB_FABRIC_H */
