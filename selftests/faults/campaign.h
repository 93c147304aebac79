/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fault campaign: a rack with tenants of several shapes, whose components break one by one,
 * and in pairs and triples. What has to be true afterwards is read from the simulator, which
 * knows what is broken, and from the core, which does not.
 *
 * The clock skips: what the device waits for takes no time, so that a fault costs what the
 * core's software costs.
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
	uint32_t tx, rx; /* ports */
	uint32_t guides[HOPS_MAX];
	struct morph_path_element elements[HOPS_MAX];
	unsigned int guides_count, elements_count;
};

struct slice {
	const char *name;
	int fd;
	uint32_t wanted[RANKS_MAX]; /* accelerators that it is made with */
	struct morph_slice_info info;
	struct morph_rank_info ranks[RANKS_MAX];
	unsigned int ranks_count;
	struct circuit circuits[CIRCUITS_MAX];
	unsigned int circuits_count;
};

/* What the simulator shows. */
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
	uint8_t *users[PARTS]; /* by part and index: slices whose light runs through it */
	uint8_t *guide_class; /* by guide */
	uint64_t *guide_held; /* by guide: lanes that the core has as taken */
	uint64_t *dark; /* by receive port: lanes that went dark since rack_watch() */
	struct light light;
};

extern struct rack rack;

void rack_start(uint64_t seed);
void rack_stop(void);
/*
 * Make the slices that are not there and light them, as they were made first. Who makes them may
 * be the one who finds out what is broken, so that his first attempt fails; or it is NULL.
 */
bool rack_build(const struct fault *broken);
/* Take a slice away, and wait until its accelerators are free; roles of spares are as at first. */
void rack_remove(unsigned int slice);
unsigned int rack_count(unsigned int part);
/* What slices have and where their light runs: into rack.slices and rack.users. */
bool slice_load(struct slice *slice);
void rack_load(void);
/* Count dark moments from now on; and read what went dark. */
void rack_watch(void);
void rack_read_dark(void);
/* Wait until the core has come to rest: false if it does not. */
bool rack_rest(void);
/* Is that so now? */
bool rack_rests(void);
/* Number of the last change that the core has published. */
uint64_t rack_seq(void);
/* Read the simulator's hardware. */
void rack_read_light(void);
void rack_read_guides(void);
/* An element, and health, by the core. */
struct morph_element_info rack_element(uint32_t element);
uint32_t rack_health(uint32_t part, uint32_t index);
/* Hardware that the core does not count as healthy; at most so many. How many there are. */
struct part {
	uint32_t part, index, health;
};

unsigned int rack_impaired(struct part *list, unsigned int room);
/* The operator's test; the outcome, and why not. */
uint32_t rack_test(uint32_t part, uint32_t index, char *why, size_t bytes);
const char *part_name(uint32_t part);

/* -------------------------------------------------------------------- faults */

enum kind {
	ACCELERATOR_DEAD,
	ACCELERATOR_FLAPS,
	LASER_DEAD,
	LASER_DIM,
	ELEMENT_MOVED, /* into another state, and stays there */
	ELEMENT_HELD, /* stays in the state that it has */
	FIBRE_CUT,
	GUIDE_BROKEN,
	GUIDE_DIM,
	GUIDE_DRIFTS, /* ever dimmer */
	RECEIVER_DEAF,
	KINDS,
};

struct fault {
	enum kind kind;
	uint32_t index;
	unsigned int after; /* operations of the core */
	unsigned int state; /* that an element moves into */
};

struct kind_info {
	const char *name;
	uint32_t part;
	bool takes_time; /* of the simulator's clock, to have its effect */
};

extern const struct kind_info kinds[KINDS];

/* Whether a component can have a fault of that kind. */
bool fault_fits(enum kind kind, uint32_t index);
/* Where an element moves depends on where it is. */
void fault_aim(struct fault *fault);
bool fault_inject(const struct fault *fault);
void fault_text(const struct fault *fault, char *text, size_t bytes);

/* -------------------------------------------------------------------- trials */

enum outcome {
	UNTOUCHED, /* no slice used it, or its light did not suffer */
	SURVIVED, /* every slice is whole */
	DEGRADED, /* some slice is not, and has said so */
	LOST, /* a slice or light is missing, and nobody was told */
	OUTCOMES,
};

struct trial {
	struct fault faults[FAULTS_MAX];
	unsigned int count;
	unsigned int number;
	unsigned int first; /* of several that are looked at together, up to this one; or 0 */
	bool together; /* several: one expects less */
};

extern const char *const outcome_names[OUTCOMES];

/* Inject, wait, check, mend, check. */
enum outcome trial_run(const struct trial *trial);
/* Slices as they are now are what they are compared with; what goes dark from now on is counted. */
void trial_begin(void);
/* No slice has noticed anything since then. */
void check_nobody_noticed(void);
/* Slices that are not what they were are made anew, so that each trial begins alike. */
void start_over(void);
/* Something that must not be; the trial that it is about is named with it. */
void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
void violations_are_about(const struct trial *trial);
extern unsigned int violations;
extern unsigned int untestable; /* idle components through which no test could send light */
extern uint64_t seed;

/* ---------------------------------------------------------------------- idle */

/*
 * What nobody uses breaks, a test finds it, it is mended, and passes a test. Whether others
 * have noticed is looked at after so many: idle_look() does it for those that are left. False
 * if slices are in the way of the test.
 */
bool idle_run(const struct trial *trial);
void idle_look(void);
extern unsigned int idle_look_after;
/* One that slices were in the way of: when all others have been tried, they go, and it is tried. */
void idle_put_off(const struct trial *trial);
void idle_run_alone(void);
/* The test of something that is broken must fail. False if nobody could test it. */
bool idle_test(const struct fault *fault);

/* ---------------------------------------------------------------------- mend */

/* All slices go, and leave nothing behind in the core's books. */
void remove_all(void);
/* The operator tests what is not healthy, until all is. */
void mend(void);
void check_mended(void);
void test_moved(const struct trial *trial);

/* --------------------------------------------------------------------- books */

/* All is mended: every light is somebody's, and core and hardware are of one mind. */
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
