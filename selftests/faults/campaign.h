/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fault campaign: a rack with slices of several shapes, whose components fail one by one, and
 * in pairs and triples. The checks read the expected state from the simulator, which knows the
 * faults, and the actual state from the core, which does not.
 *
 * The clock skips: waiting for the device takes no time, so a fault costs only the time of the
 * core's software.
 */
#ifndef SELFTESTS_FAULTS_CAMPAIGN_H
#define SELFTESTS_FAULTS_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "fabric.h"
#include "nl.h"

#define RANKS_MAX 8
#define CIRCUITS_MAX 16
#define HOPS_MAX 64
#define SLICES 6
#define PARTS 6 /* enum morph_part, up to guides */
#define FAULTS_MAX 3

struct fault;

/* ------------------------------------------------------------------ the rack */

struct circuit {
	struct morph_circuit_info info;
	uint32_t tx, rx; /* number of ports */
	uint32_t guides[HOPS_MAX];
	struct morph_path_element elements[HOPS_MAX];
	unsigned int guides_count, elements_count;
};

struct slice {
	const char *name;
	int fd;
	uint32_t wanted[RANKS_MAX]; /* accelerators of the first creation */
	struct morph_slice_info info;
	struct morph_rank_info ranks[RANKS_MAX];
	unsigned int ranks_count;
	struct circuit circuits[CIRCUITS_MAX];
	unsigned int circuits_count;
};

/* The light and the states in the simulator. */
struct light {
	uint64_t *lit, *locked; /* by receive port */
	uint64_t *emits; /* by transmit port */
	uint64_t *on; /* lasers that are switched on, whether or not they emit */
	uint8_t *state; /* by element */
};

struct rack {
	struct sim sim;
	struct nl nl;
	unsigned int planes, ports;
	struct slice slices[SLICES];
	uint8_t *users[PARTS]; /* by part and index: mask of the slices whose light uses it */
	uint8_t *guide_class; /* by guide */
	uint64_t *guide_held; /* by guide: lanes in use according to the core */
	uint64_t *dark; /* by receive port: lanes that went dark since rack_watch() */
	struct light light;
};

extern struct rack rack;

void rack_start(uint64_t seed);
void rack_stop(void);
/*
 * Make and light the missing slices, in their first form. If @broken is not NULL, the first attempt
 * may fail because it detects that fault.
 */
bool rack_build(const struct fault *broken);
/* Delete a slice, and wait until its accelerators are free; restore the roles of its spares. */
void rack_remove(unsigned int slice);
unsigned int rack_count(unsigned int part);
/* Read the slices and the paths of their light into rack.slices and rack.users. */
bool slice_load(struct slice *slice);
void rack_load(void);
/* Count losses of light from now on; read the ports that lost light. */
void rack_watch(void);
void rack_read_dark(void);
/* Wait until the core is idle; false after a timeout. */
bool rack_rest(void);
/* Is the core idle now? */
bool rack_rests(void);
/* Return the number of the latest change that the core published. */
uint64_t rack_seq(void);
/* Read the hardware of the simulator. */
void rack_read_light(void);
void rack_read_guides(void);
/* Read an element, or the health of a part, from the core. */
struct morph_element_info rack_element(uint32_t element);
uint32_t rack_health(uint32_t part, uint32_t index);
/* List the parts that the core does not consider healthy, at most @room; return their number. */
struct part {
	uint32_t part, index, health;
};

unsigned int rack_impaired(struct part *list, unsigned int room);
/* Run the operator's test; return the outcome and the detail string. */
uint32_t rack_test(uint32_t part, uint32_t index, char *why, size_t bytes);
const char *part_name(uint32_t part);

/* -------------------------------------------------------------------- faults */

enum kind {
	ACCELERATOR_DEAD,
	ACCELERATOR_FLAPS,
	LASER_DEAD,
	LASER_DIM,
	ELEMENT_MOVED, /* moves into another state, and stays there */
	ELEMENT_HELD, /* stays in its current state */
	FIBRE_CUT,
	GUIDE_BROKEN,
	GUIDE_DIM,
	GUIDE_DRIFTS, /* loses more and more light */
	RECEIVER_DEAF,
	KINDS,
};

struct fault {
	enum kind kind;
	uint32_t index;
	unsigned int after; /* number of core operations until then */
	unsigned int state; /* state into which an element moves */
};

struct kind_info {
	const char *name;
	uint32_t part;
	bool takes_time; /* simulated time until its effect */
};

extern const struct kind_info kinds[KINDS];

/* Can the component have a fault of that kind? */
bool fault_fits(enum kind kind, uint32_t index);
/* The new state of an element depends on its current state. */
void fault_aim(struct fault *fault);
bool fault_inject(const struct fault *fault);
void fault_text(const struct fault *fault, char *text, size_t bytes);

/* -------------------------------------------------------------------- trials */

enum outcome {
	UNTOUCHED, /* no slice used it, or no light suffered */
	SURVIVED, /* every slice is intact */
	DEGRADED, /* a slice is degraded, and has reported it */
	LOST, /* a slice or light is lost, and no owner was notified */
	OUTCOMES,
};

struct trial {
	struct fault faults[FAULTS_MAX];
	unsigned int count;
	unsigned int number;
	/* first of several trials that are checked together, up to this one; or 0 */
	unsigned int first;
	bool together; /* several at once: the checks expect less */
};

extern const char *const outcome_names[OUTCOMES];

/* Inject, wait, check, repair, check. */
enum outcome trial_run(const struct trial *trial);
/* Record the current slices for later comparison, and count losses of light from now on. */
void trial_begin(void);
/* Check that no slice was affected since then. */
void check_nobody_noticed(void);
/* Make changed slices again, so that each trial begins in the same state. */
void start_over(void);
/* Report a violation, with the name of its trial. */
void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
void violations_are_about(const struct trial *trial);
extern unsigned int violations;
extern unsigned int untestable; /* idle components that no test light can cross */
extern uint64_t seed;

/* ---------------------------------------------------------------------- idle */

/*
 * Fail an unused part, find the fault by a test, repair the part, and test it again. idle_look()
 * checks the slices after several trials, and must be called at the end for the rest. Return false
 * if slices block the test.
 */
bool idle_run(const struct trial *trial);
void idle_look(void);
extern unsigned int idle_look_after;
/* Postpone a trial that slices block: it runs without slices after all other trials. */
void idle_put_off(const struct trial *trial);
void idle_run_alone(void);
/* The test of a failed part must fail. Return false if no test is possible. */
bool idle_test(const struct fault *fault);

/* ---------------------------------------------------------------------- mend */

/* Delete all slices: they must leave nothing in the accounts of the core. */
void remove_all(void);
/* Test unhealthy parts as operator until all are healthy. */
void mend(void);
void check_mended(void);
void test_moved(const struct trial *trial);

/* --------------------------------------------------------------------- books */

/* After the repair: all light belongs to a circuit, and core and hardware agree. */
void check_books(void);
/* There are no slices. */
void check_nothing_held(void);

/* -------------------------------------------------------------------- report */

enum round {
	SINGLES,
	PAIRS,
	TRIPLES,
	ROUNDS
};

void report_count(enum round round, enum kind kind, bool used, enum outcome outcome);
void report_write(void);

#endif
