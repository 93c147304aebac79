/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schedules written by hand, number by number. Tests change one number of them. */
#ifndef BY_HAND_H
#define BY_HAND_H

#include "scheduling.h"

#define HAND_MOST 10 /* of a list */

struct hand_part { /* of a list */
	uint32_t first, count;
};

/*
 * How the schedule is written: with or without its head, and with a wrong length, as a difference
 * in words.
 */
struct hand_form {
	uint32_t kind;
	int32_t more;
};

struct hand_collective {
	struct hand_form form;
	uint32_t ranks, chunks_count, rounds_count, transfers_count, runs_count;
	struct {
		uint32_t begins, ends;
		uint64_t bytes;
	} chunks[HAND_MOST];
	struct hand_part rounds[HAND_MOST];
	struct {
		uint32_t src, dst, reduce;
		struct hand_part runs;
	} transfers[HAND_MOST];
	struct hand_part runs[HAND_MOST];
};

struct hand_delay {
	struct hand_form form;
	uint32_t scope;
	uint64_t round_ps, hop_ps, mbps, change_ps, port_ps;
};

struct hand_hold {
	uint32_t plane, matching;
	uint64_t set, lit, dark;
};

struct hand_send {
	uint32_t round;
	struct hand_part transfers, hops;
	uint64_t bytes, from, until;
};

struct hand_schedule {
	struct hand_form form;
	uint32_t verdict, ranks, planes, bound_kind, residents;
	uint64_t finish, bound;
	uint32_t matchings_count, circuits_count, holds_count, sends_count, hops_count;
	struct hand_part matchings[HAND_MOST];
	struct {
		uint32_t src, dst;
	} circuits[HAND_MOST];
	struct hand_hold holds[HAND_MOST];
	struct hand_send sends[HAND_MOST];
	uint32_t hops[HAND_MOST];
};

struct hand {
	struct hand_collective collective;
	struct hand_delay delay;
	struct hand_schedule schedule, after;
	bool follows; /* the schedule that follows */
	uint32_t planes; /* requested planes */
};

int check_hand(const struct hand *hand, char report[256]);

/* Check that the checker accepts the schedule, or rejects it with exactly this text. */
void assert_legal_at(const struct hand *hand, const char *file, int line);
void assert_report_at(const struct hand *hand, const char *text, const char *file, int line);

#define assert_legal(hand) assert_legal_at(hand, __FILE__, __LINE__)
#define assert_report(hand, text) assert_report_at(hand, text, __FILE__, __LINE__)

/* Check that the checker rejects @base with @change, by this text. */
#define REJECTS(base, text, change)       \
	do {                              \
		struct hand it = base;    \
                                          \
		change;                   \
		assert_report(&it, text); \
	} while (0)

/* Check that the checker accepts @base with @change. */
#define TAKES(base, change)            \
	do {                           \
		struct hand it = base; \
                                       \
		change;                \
		assert_legal(&it);     \
	} while (0)

#endif /* BY_HAND_H */
