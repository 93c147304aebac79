/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For test programs: simulated fabrics, slices, circuits, faults, events.
 *
 * Functions that stand for one system call return what it returned and leave errno;
 * those that set the scene end the program with a message when they can't.
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

/* A simulated fabric of the test's own. */
struct sim {
	char name[32];
	unsigned int number; /* N of /dev/morph/fabricN */
	int fd; /* that node, open */
	struct morph_fabric_info info;
};

/*
 * Make a fabric of a profile. settings: lines "attribute=value" of the instance's
 * directory in configfs, separated by blanks, or NULL. Times are those of the profile.
 */
void sim_start(struct sim *sim, const char *profile, const char *settings);
void sim_stop(struct sim *sim);
/* The provider goes, and comes back as another fabric; sim->fd stays the old one. */
void sim_pull(const struct sim *sim);
void sim_replug(struct sim *sim);
/* A line to one of the instance's files in debugfs: "fault", "clear", "flip". */
int write_file(const char *path, const char *text);
int sim_control(const struct sim *sim, const char *file, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The number after "key " in a file of the instance in debugfs, or -1. */
long long sim_counter(const struct sim *sim, const char *file, const char *key);
/* Wait until it is so much; false: it never was. */
bool sim_wait_counter(const struct sim *sim, const char *file, const char *key, long long least);
/* The same number in a file of the core's, of this fabric. */
long long core_counter(const struct sim *sim, const char *file, const char *key);
/* Nothing is signalled, repaired, tested or asked of the device; patrol and plans aside. */
bool core_rests(const struct sim *sim);
/* Lanes that receivers of an accelerator see, all planes together; by the simulator. */
uint64_t sim_lit_lanes(const struct sim *sim, unsigned int accelerator);
bool sim_all_dark(const struct sim *sim);

/* The fabric's info now, into sim->info. */
void sim_refresh(struct sim *sim);
/* Has it no slices, those that are dying included? */
bool sim_no_slices(struct sim *sim);
/* Wait until so many accelerators are free; false: they never were. */
bool sim_wait_free(struct sim *sim, unsigned int count);
int open_fabric(unsigned int number);
int fabric_info(int fd, struct morph_fabric_info *info);
/* Open the node of the fabric of that name: its file, or -1. info may be NULL. */
int find_fabric(const char *name, struct morph_fabric_info *info);
/* Entries of a list of the fabric's from first on, which fit: how many, or -1. */
int fabric_read(int fd, unsigned long command, uint32_t first, struct morph_array entries);
struct morph_accelerator_info read_accelerator(const struct sim *sim, unsigned int index);
/* Wait until an accelerator has that health; false: it never had. */
bool wait_health(const struct sim *sim, unsigned int index, unsigned int health);

/* A head with the size of a structure and room for a sentence. */
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

/* A fabric file with limits of its own, as the caller has filled them in; or -1. */
int grant_create(int fabric, struct morph_grant_create *args);
/* No limit at all. */
#define GRANT_ALL                                                                     \
	{                                                                             \
		.accelerators = MORPH_ANY, .circuits = MORPH_ANY, .lanes = MORPH_ANY, \
		.prepared = MORPH_ANY, .replacements = MORPH_ANY, .bytes = UINT64_MAX \
	}

/* A slice of so many accelerators as the kernel chooses: its file, or -1. */
int slice_create(int fabric, unsigned int count);
/* The accelerators listed. */
int slice_create_at(int fabric, const uint32_t *accelerators, unsigned int count);
/* As the caller has filled the structure; head, lists and strides are filled in here. */
int slice_create_with(int fabric, struct morph_slice_create *args, const uint32_t *accelerators,
		      unsigned int count);
int slice_info(int slice, struct morph_slice_info *info);
int slice_read(int slice, struct morph_slice_info *info, struct morph_rank_info *ranks,
	       unsigned int ranks_room, struct morph_circuit_info *circuits,
	       unsigned int circuits_room);
/* The guides of a circuit's path: how many, or -1. */
int circuit_guides(int slice, unsigned int circuit, uint32_t *guides, unsigned int room);
/* Wait until the slice has that state; false: it never had. */
bool slice_wait_state(int slice, unsigned int state);
/* Wait until the plans of all its ranks have that state; false: they never had. */
bool wait_plans(int slice, unsigned int ranks, unsigned int state);
int slice_delete(int fabric, unsigned int number, const char *name, unsigned int flags);
int slice_policy(int slice, unsigned int failover);

struct morph_change change_add(unsigned int src, unsigned int dst);
struct morph_change change_remove(unsigned int circuit);
/* One transaction; args may hold flags, cookie, generation, lease, or be NULL. */
int txn_run(int slice, struct morph_change *changes, unsigned int count,
	    struct morph_txn_run *args);
int txn_step(int slice, unsigned int txn, unsigned int verb, uint64_t lease_ns,
	     struct morph_txn_step *args);
/*
 * A verb for a schedule; args may hold step, rank and position and gets what is answered, or be
 * NULL.
 */
int schedule_act(int slice, unsigned int schedule, unsigned int verb,
		 struct morph_schedule_act *args);
/*
 * Load a schedule that holds one of the circuits at each step, in turn, advanced by calls: its
 * number, or -1. first: becomes the number of the first circuit; or NULL.
 */
int schedule_in_turn(int slice, const struct morph_schedule_circuit *circuits, unsigned int count,
		     uint32_t *first);
int rank_act(int slice, unsigned long command, unsigned int rank, unsigned int spare,
	     struct morph_rank_act *args);
/* A circuit from each rank to the next, and from the last to the first. */
int light_ring(int slice, unsigned int ranks);

/* Read events until one of the type comes, at most so long; 0, or -1 with ETIME. */
int wait_event(int slice, unsigned int type, int timeout_ms, struct morph_event *event);
/* Throw away what is queued; how many. */
int drain_events(int slice);

/* Wait until a process or thread sleeps, in the call that it is known to make next. */
void wait_asleep(pid_t pid);
/* The same of a thread that says by its number that it has begun. */
void wait_thread_asleep(const pid_t *tid);
/* CLOCK_MONOTONIC in ms. */
long long now_ms(void);
/* By how much limits grow on the running kernel: the machine's $SLOWNESS. */
unsigned int slowness(void);
/* How long waiting for the kernel is patient; emulated machines are slow. */
#define PATIENCE_MS ((int)(20000 * slowness()))
/* A few ms between two looks. */
void nap(void);
/* Wait until a condition holds, which is looked at again and again: whether it does. */
#define WAIT_UNTIL(condition)                                          \
	({                                                             \
		long long __until = now_ms() + PATIENCE_MS;            \
		bool __holds;                                          \
                                                                       \
		while (!(__holds = (condition)) && now_ms() < __until) \
			nap();                                         \
		__holds;                                               \
	})
/* By this the harness ends a test that hangs. */
/* clang-format off */
#define alarm(seconds) alarm((seconds) * slowness())
/* clang-format on */

#endif /* SELFTESTS_LIB_FABRIC_H */
