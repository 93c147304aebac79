/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collectives and schedules, as the checker reads them. */
#ifndef CHECK_SCHEDULE_H
#define CHECK_SCHEDULE_H

#include "internal.h"

#define MOST_PLANES 64

struct chunk {
	uint32_t begins, ends; /* NONE: each rank */
	uint64_t bytes;
};

struct part { /* of a table */
	uint32_t first, count;
};

struct transfer {
	uint32_t src, dst;
	bool reduce;
	struct part runs;
	uint64_t bytes;
};

struct collective {
	uint32_t ranks, chunks_count, rounds_count, transfers_count, runs_count;
	struct chunk *chunks;
	struct part *rounds; /* of transfers */
	struct transfer *transfers;
	struct part *runs; /* of chunks */
};

struct delay {
	uint32_t scope;
	uint64_t round_ps, hop_ps, mbps, change_ps, port_ps;
};

struct joined {
	uint32_t src, dst;
};

struct hold {
	uint32_t plane, matching;
	uint64_t set, lit, dark;
	uint32_t changed; /* number of circuits that did not exist before */
	uint32_t link; /* index of its first circuit among those of all holds */
};

struct send {
	uint32_t round;
	struct part transfers; /* of the round */
	struct part hops;
	uint64_t bytes, from, until;
};

struct schedule {
	uint32_t verdict, ranks, planes, bound_kind, residents;
	uint64_t finish, bound;
	uint32_t matchings_count, circuits_count, holds_count, sends_count, hops_count;
	struct part *matchings; /* of circuits */
	struct joined *circuits;
	struct hold *holds;
	bool *stays; /* by link: the circuit existed before */
	struct send *sends;
	uint32_t *hops;
};

struct schedule_check {
	struct check check; /* for its report */
	struct collective collective;
	struct delay delay;
	struct schedule schedule;
};

/* Each returns 0 or notes an error. The caller frees the output in both cases. */
int ck_collective_read(struct check *check, const struct morph_check_bytes *bytes,
		       struct collective *collective);
void ck_collective_free(struct collective *collective);
int ck_schedule_read(struct check *check, const struct morph_check_bytes *bytes,
		     struct schedule *schedule);
void ck_schedule_free(struct schedule *schedule);

/* The circuit's index in a matching, or NONE. */
uint32_t ck_circuit_from(const struct schedule *schedule, uint32_t matching, uint32_t src);

/* schedule_light.c: each port has one circuit at a time, and changes take their time. */
int ck_schedule_light(struct schedule_check *it, const struct schedule *after);
/* schedule_ports.c: the ports of a plane are programmed one after the other. */
int ck_schedule_ports(struct schedule_check *it);
/* schedule_sends.c: sends use lit circuits, finish in time, and carry all bytes. */
int ck_schedule_sends(struct schedule_check *it);
/* schedule_data.c: each chunk is present where it is sent, and ends where it must. */
int ck_schedule_data(struct schedule_check *it);
/* schedule_bound.c */
int ck_schedule_bound(struct schedule_check *it);

/* Time on the wire. */
static inline unsigned __int128 ck_wire_ps(const struct delay *delay, uint64_t bytes)
{
	return ((unsigned __int128)bytes * 8000000 + delay->mbps - 1) / delay->mbps;
}

#endif /* CHECK_SCHEDULE_H */
