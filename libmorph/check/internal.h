/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checker's own model of a fabric, read from the profile and the wire form. It shares nothing
 * with the planners or with kmod/optics.
 */
#ifndef CHECK_INTERNAL_H
#define CHECK_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define NONE UINT32_MAX
#define MOST_SEATS 64
#define MOST_RANKS 4096
#define MOST_CHIPS 256 /* of a rack */
#define MOST_GUIDES 5 /* from server to server */

/* Fields of the profile, see its format. */
enum end_type {
	END_ELEMENT,
	END_TX,
	END_RX,
	END_EDGE
};
enum guide_class {
	CLASS_WAVEGUIDE,
	CLASS_TILE,
	CLASS_FIBRE
};

struct end {
	uint32_t type, index, port;
};

struct fabric {
	const uint8_t *profile;
	uint32_t checksum, wavelengths, planes;
	uint32_t kinds, states, elements, guides, accelerators, hosts; /* numbers of entries */
	size_t kinds_at, states_at, elements_at, guides_at, accelerators_at; /* offsets */
	uint32_t *port_guide; /* by element * 16 + port: guide * 2 + its end there, or NONE */
	uint32_t *rack; /* by host: the lowest host of its rack */
	/* The ledger. */
	const uint8_t *ledger; /* its words behind the counts */
};

struct request {
	uint32_t ranks, circuits, lanes, tier, transit, extent[3];
	uint32_t whole; /* the request wants whole servers */
	uint32_t bands; /* circuits that a fibre carries, each in its own wavelengths */
	const uint8_t *pairs; /* words */
};

struct plan {
	uint32_t verdict, tier, ranks, whole, fibres, fibres_bound, servers, servers_bound;
	uint32_t circuits, strands, refusals, cuts;
	const uint8_t *rank_words, *way_words, *strand_words, *refusal_words, *cut_words;
};

/* The free resources of one rack. */
struct room {
	uint32_t host; /* the lowest one */
	uint32_t seats;
	uint32_t hosts[MOST_SEATS];
	uint32_t free[MOST_SEATS]; /* accelerators */
	uint64_t stops; /* servers that light must not cross */
	uint32_t room[MOST_SEATS][MOST_SEATS]; /* fibres */
	uint32_t hops[MOST_SEATS][MOST_SEATS]; /* NONE: unreachable */
	uint32_t total; /* fibres */
};

struct check {
	struct fabric fabric;
	struct request request;
	struct plan plan;
	uint64_t steps;
	char *report;
	size_t report_room;
};

static inline uint32_t word(const uint8_t *bytes, size_t index)
{
	const uint8_t *at = bytes + 4 * index;

	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Resources in use: guides, and elements between servers. */
struct used {
	bool *guides, *elements;
};

/* Record an error. Returns @error. */
int ck_wrong(struct check *check, int error, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

/* check.c: the words behind the head of an object of this kind, or NULL. */
const uint8_t *ck_body(const struct morph_check_bytes *bytes, uint32_t kind, size_t *words);
int ck_request_read(struct check *check, const struct morph_check_bytes *bytes);
int ck_plan_read(struct check *check, const struct morph_check_bytes *bytes);

/* fabric.c */
int ck_fabric_read(struct check *check, const struct morph_check_bytes *profile);
void ck_fabric_free(struct fabric *fabric);
struct end ck_guide_end(const struct fabric *fabric, uint32_t guide, uint32_t end);
uint32_t ck_guide_class(const struct fabric *fabric, uint32_t guide);
uint32_t ck_tile(const struct fabric *fabric, uint32_t element);
uint32_t ck_joined(const struct fabric *fabric, uint32_t element, uint32_t state, uint32_t port);
uint32_t ck_states(const struct fabric *fabric, uint32_t element);
uint32_t ck_host(const struct fabric *fabric, uint32_t accelerator);
uint32_t ck_position(const struct fabric *fabric, uint32_t accelerator, uint32_t axis);
/* Time for light to settle and for receivers to lock. */
uint64_t ck_light_ns(const struct fabric *fabric);
bool ck_is_spare(const struct fabric *fabric, uint32_t accelerator);
/* Whether light from a port reaches an end of this type without leaving the tile. */
bool ck_reaches(const struct fabric *fabric, struct end from, uint32_t type);

/* ledger.c */
int ck_ledger_read(struct check *check, const struct morph_check_bytes *ledger);
uint32_t ck_owner(const struct fabric *fabric, uint32_t accelerator);
bool ck_free(const struct fabric *fabric, uint32_t accelerator);
/* Whether the ledger has it as a spare; whether it can replace another accelerator. */
bool ck_spare(const struct fabric *fabric, uint32_t accelerator);
bool ck_ready(const struct fabric *fabric, uint32_t accelerator);
bool ck_element_marked(const struct fabric *fabric, uint32_t element);
bool ck_element_held(const struct fabric *fabric, uint32_t element);
bool ck_guide_marked(const struct fabric *fabric, uint32_t guide);
/* Whether a protection keeps it, or a switch at its end. */
bool ck_guide_kept(const struct fabric *fabric, uint32_t guide);
bool ck_guide_dark(const struct fabric *fabric, uint32_t guide);
/*
 * Resources in use by the ledger, including kept ones. 0 or a noted -ENOMEM; the caller frees @used
 * in both cases.
 */
int ck_used_read(struct check *check, struct used *used);
/* The same in the lanes of a band only. */
int ck_band_read(struct check *check, uint32_t band, struct used *used);
void ck_used_free(struct used *used);
/* Whether another slice than @slice has an accelerator there. */
bool ck_foreign(const struct fabric *fabric, uint32_t host, uint32_t slice);
/*
 * The capacity that @used leaves. @own: light does not cross servers of other tenants, and uses no
 * fibres of their tiles.
 */
int ck_room_read(struct check *check, const struct used *used, bool own, uint32_t host,
		 struct room *room);
/*
 * The capacity that the ledger leaves in all bands together, and in each band if @bands is not
 * NULL. One entry if circuits take fibres whole.
 */
int ck_rooms_read(struct check *check, uint32_t host, struct room *room, struct room *bands);
/* Hops between all pairs. */
void ck_room_measure(struct room *room);
uint32_t ck_seat(const struct room *room, uint32_t host);

/* plan.c */
int ck_feasible(struct check *check);
/* Whether a tenant has one of the tiles where these guides begin and end. */
bool ck_touches_others(const struct fabric *fabric, uint32_t first_code, uint32_t last_code);
/* The accelerators of a plan: free, in one rack, and in the contiguous tier a box. */
int ck_members(struct check *check);
/*
 * Follow a hop from @host and mark its parts as in use. Returns the next server, or NONE and a
 * report. @number: for the report.
 */
uint32_t ck_follow_strand(struct check *check, struct used *used, const uint8_t *strand,
			  uint32_t number, uint32_t host);
/* Mark the parts of a hop as free. */
void ck_leave_strand(struct check *check, struct used *used, const uint8_t *strand);

/* witness.c */
int ck_refused(struct check *check);

/*
 * Walk every path from a fibre's entering end to a tile of another server, over elements outside
 * tiles. @each gets the guides, and the elements and states between them.
 */
struct strand_walk {
	const struct fabric *fabric;
	const struct used *used;
	bool own; /* without tiles of other tenants */
	uint32_t count, guides[MOST_GUIDES], elements[MOST_GUIDES], states[MOST_GUIDES];
	int (*each)(struct strand_walk *walk, uint32_t from, uint32_t to);
	void *context;
};
int ck_walk_strands(struct strand_walk *walk, uint32_t guide_code);

#endif /* CHECK_INTERNAL_H */
