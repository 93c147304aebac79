/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checker's own picture of a fabric, read from the profile and the wire form. Nothing here
 * comes from the planners or from kmod/optics.
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
	uint32_t kinds, states, elements, guides, accelerators, hosts; /* how many */
	size_t kinds_at, states_at, elements_at, guides_at, accelerators_at; /* offsets */
	uint32_t *port_guide; /* by element * 16 + port: guide * 2 + its end there, or NONE */
	uint32_t *rack; /* by host: the lowest host of its rack */
	/* The ledger. */
	const uint8_t *ledger; /* its words behind the counts */
};

struct request {
	uint32_t ranks, circuits, lanes, tier, transit, extent[3];
	uint32_t whole; /* no part of a server is to be had */
	uint32_t bands; /* circuits that a fibre takes, each in as many wavelengths of its own */
	const uint8_t *pairs; /* words */
};

struct plan {
	uint32_t verdict, tier, ranks, whole, fibres, fibres_bound, servers, servers_bound;
	uint32_t circuits, strands, refusals, cuts;
	const uint8_t *rank_words, *way_words, *strand_words, *refusal_words, *cut_words;
};

/* What is free of one rack. */
struct room {
	uint32_t host; /* the lowest */
	uint32_t seats;
	uint32_t hosts[MOST_SEATS];
	uint32_t free[MOST_SEATS]; /* accelerators */
	uint64_t stops; /* seats that light may not cross */
	uint32_t room[MOST_SEATS][MOST_SEATS]; /* fibres */
	uint32_t hops[MOST_SEATS][MOST_SEATS]; /* NONE: no way */
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

/* What is in use: guides, and elements between servers. */
struct used {
	bool *guides, *elements;
};

/* Note what is wrong; returns @error. */
int ck_wrong(struct check *check, int error, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

/* check.c: the words behind the head of something of that kind, or NULL. */
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
/* What light takes to settle and to be locked to. */
uint64_t ck_light_ns(const struct fabric *fabric);
bool ck_is_spare(const struct fabric *fabric, uint32_t accelerator);
/* Whether light can get to an end of that type behind a port, without leaving the tile. */
bool ck_reaches(const struct fabric *fabric, struct end from, uint32_t type);

/* ledger.c */
int ck_ledger_read(struct check *check, const struct morph_check_bytes *ledger);
uint32_t ck_owner(const struct fabric *fabric, uint32_t accelerator);
bool ck_free(const struct fabric *fabric, uint32_t accelerator);
/* Is it a spare by the ledger? And may it take over from another? */
bool ck_spare(const struct fabric *fabric, uint32_t accelerator);
bool ck_ready(const struct fabric *fabric, uint32_t accelerator);
bool ck_element_marked(const struct fabric *fabric, uint32_t element);
bool ck_element_held(const struct fabric *fabric, uint32_t element);
bool ck_guide_marked(const struct fabric *fabric, uint32_t guide);
/* Does a protection keep it, or a switch at its end? */
bool ck_guide_kept(const struct fabric *fabric, uint32_t guide);
bool ck_guide_dark(const struct fabric *fabric, uint32_t guide);
/* What the ledger says, what is kept among it: 0 or a noted -ENOMEM; to be freed in either case. */
int ck_used_read(struct check *check, struct used *used);
/* The same in the lanes of a band only. */
int ck_band_read(struct check *check, uint32_t band, struct used *used);
void ck_used_free(struct used *used);
/* Does anybody but @slice hold an accelerator there? */
bool ck_foreign(const struct fabric *fabric, uint32_t host, uint32_t slice);
/*
 * The room that @used leaves. @own: where others have a part of a server light goes no further, and takes
 * no fibres of their tiles.
 */
int ck_room_read(struct check *check, const struct used *used, bool own, uint32_t host,
		 struct room *room);
/*
 * The room that the ledger leaves in all bands together, and if @bands is not NULL in each: one
 * room where circuits take fibres whole.
 */
int ck_rooms_read(struct check *check, uint32_t host, struct room *room, struct room *bands);
/* Hops from each seat to each. */
void ck_room_measure(struct room *room);
uint32_t ck_seat(const struct room *room, uint32_t host);

/* plan.c */
int ck_feasible(struct check *check);
/* Does anybody hold one of the tiles where those guides begin and end? */
bool ck_touches_others(const struct fabric *fabric, uint32_t first_code, uint32_t last_code);
/* The accelerators of a plan: free, in one rack, and a box where that is its tier. */
int ck_members(struct check *check);
/*
 * The server that a strand leads to from @host, or NONE and a report; what it passes is in use
 * from then on. @number: for the report.
 */
uint32_t ck_follow_strand(struct check *check, struct used *used, const uint8_t *strand,
			  uint32_t number, uint32_t host);
/* A strand is dark. */
void ck_leave_strand(struct check *check, struct used *used, const uint8_t *strand);

/* witness.c */
int ck_refused(struct check *check);

/*
 * Walk every way from a fibre's entering end to a tile of another server, over elements of no
 * tile. @each gets the guides, and the elements and states between them.
 */
struct strand_walk {
	const struct fabric *fabric;
	const struct used *used;
	bool own; /* not from or to tiles of others */
	uint32_t count, guides[MOST_GUIDES], elements[MOST_GUIDES], states[MOST_GUIDES];
	int (*each)(struct strand_walk *walk, uint32_t from, uint32_t to);
	void *context;
};
int ck_walk_strands(struct strand_walk *walk, uint32_t guide_code);

#endif /* CHECK_INTERNAL_H */
