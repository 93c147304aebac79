/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The internal form of schedules, which planners fill. */
#ifndef LM_SCHEDULE_SCHEDULE_H
#define LM_SCHEDULE_SCHEDULE_H

#include "../collective/collective.h"
#include "../collective/delay.h"

#define MOST_PLANES 64
#define NO_HOLD UINT32_MAX
#define NO_MATCHING UINT32_MAX

/* Circuits without a common end, in the order of sending ranks. Each matching is stored once. */
struct matching {
	uint32_t first, count; /* circuits */
	uint64_t digest;
};

struct hold {
	uint32_t plane, matching;
	uint64_t set_ps, lit_ps, dark_ps;
};

struct send {
	uint32_t round, first, count; /* transfers of the round */
	uint32_t hops_first, hops;
	uint64_t bytes, from_ps, until_ps;
};

/* The result of a policy. */
struct tried {
	uint32_t verdict, changes;
	uint64_t finish_ps, circuits;
	char why[160];
};

struct morph_schedule {
	struct morph_ctx *ctx;
	uint32_t verdict, policy, ranks, planes;
	struct costs costs;
	uint32_t residents; /* the first holds: lit at the start */
	uint64_t finish_ps, bound_ps;
	uint64_t rounds; /* digest of the planned rounds */
	uint32_t bound_kind; /* enum morph_schedule_bound */
	uint32_t changes; /* number of times at which circuits are set; circuits set */
	uint64_t set;
	char why[160];
	ARRAY_OF(struct morph_rank_pair) circuits;
	ARRAY_OF(struct matching) matchings;
	ARRAY_OF(struct hold) holds;
	ARRAY_OF(struct send) sends;
	ARRAY_OF(uint32_t) hops; /* holds */
	struct tried tried[MORPH_POLICIES]; /* verdict 0: not tried */
	uint32_t *places; /* of matchings by digest; UINT32_MAX: none */
	uint32_t places_room; /* a power of two */
	/*
	 * by plane and sending rank: its last hold, to count circuits that are set; NULL: no holds,
	 * or the schedule has ended
	 */
	uint32_t *ports;
};

void lm_schedule_begin(struct morph_schedule *schedule, uint32_t ranks, uint32_t planes,
		       const struct costs *costs);

/*
 * Add what @after leaves lit: the first holds, one for each plane with circuits. Return 0 or a
 * noted -ENOMEM.
 */
int lm_schedule_resume(struct morph_schedule *schedule, const struct morph_schedule *after);

/* Return the number of circuits that @after leaves lit on a plane, at most one for each rank. */
uint32_t lm_schedule_left_lit(const struct morph_schedule *after, uint32_t plane,
			      struct morph_rank_pair *circuits);

/*
 * Each function returns 0, with the number in *out, or a noted -ENOMEM. Circuits of a matching come
 * in any order and are sorted in place. Holds are added in the order in which they are set. The
 * previous hold on the same ports must be dark by then.
 */
int lm_schedule_matching(struct morph_schedule *schedule, struct morph_rank_pair *circuits,
			 uint32_t count, uint32_t *out);
/* The same for circuits that are in the order of sending ranks. */
int lm_schedule_sorted_matching(struct morph_schedule *schedule,
				const struct morph_rank_pair *circuits, uint32_t count,
				uint32_t *out);
/* Copy all matchings of another schedule, with their numbers; @schedule has none. */
int lm_schedule_take_matchings(struct morph_schedule *schedule, const struct morph_schedule *from);
int lm_schedule_hold(struct morph_schedule *schedule, uint32_t plane, uint32_t matching,
		     uint64_t set_ps, uint64_t lit_ps, uint32_t *out);
/* The send uses @send->hops holds. */
int lm_schedule_send(struct morph_schedule *schedule, const struct send *send,
		     const uint32_t *hops);

/*
 * less.c: copy a feasible schedule of the same rounds that uses only the first planes, or nothing
 * that @after leaves lit. @schedule has begun. Return 0 or the noted error.
 */
int lm_schedule_take_less(struct morph_schedule *schedule, const struct morph_schedule *less,
			  const struct morph_schedule *after);

/* Note that a policy cannot plan this. Return 0. */
int lm_schedule_refuse(struct morph_schedule *schedule, const char *why);
/* Note that a policy does not try this, although it might succeed. Return 0. */
int lm_schedule_give_up(struct morph_schedule *schedule, const char *why);

/* Limit of the planner's steps; 0 selects the default effort. */
static inline uint32_t lm_schedule_budget(const struct morph_schedule_opts *opts)
{
	return opts->budget < UINT32_MAX ? (uint32_t)opts->budget : UINT32_MAX;
}

/* Mark it feasible: lit circuits stay lit to the end, and the set circuits were counted. */
void lm_schedule_end(struct morph_schedule *schedule);

/* The holds come from elsewhere: count the circuits that they set. Return 0 or a noted -ENOMEM. */
int lm_schedule_count(struct morph_schedule *schedule);

/* Return the receiver of a matching's circuit from a rank, or UINT32_MAX. O(log circuits). */
uint32_t lm_matching_leads(const struct morph_schedule *schedule, uint32_t matching, uint32_t src);

/*
 * bound.c: set the rounds, and the lower bound for all of their schedules. Return 0 or a noted
 * -ENOMEM.
 */
int lm_schedule_bound(struct morph_schedule *schedule, const struct morph_collective *collective);

/*
 * read.c: read a feasible schedule in the format of <morph/wire.h>, with its head, for these rounds
 * and this number of planes. Policy, costs and the list of policies tried stay unchanged. The
 * reader verifies that objects exist, times are in order, a port has one circuit at a time, and
 * paths lead from sender to receiver. The checker verifies the rest. Return 0 or a noted -EINVAL or
 * -ENOMEM.
 */
int lm_schedule_read(struct morph_schedule *schedule, const struct morph_collective *collective,
		     uint32_t planes, const void *words, size_t count);

/* Number of transfers of the largest round. */
uint32_t lm_widest_round(const struct morph_collective *collective);

/*
 * exchange.c: find a round that needs several turns with this number of ports and in which a rank
 * sends a chunk that it also receives. A later turn would then send what an earlier one received.
 * Return 0 if no round does, or a noted -ENOMEM.
 */
int lm_find_exchange(struct morph_ctx *ctx, const struct morph_collective *collective,
		     uint32_t ports);

/*
 * colour.c: colour the transfers of a round so that those of a sender, and those of a receiver,
 * differ (König, 1916). Return the number of colours, which is the largest number of transfers of a
 * rank, or a noted -ENOMEM. O(transfers * ranks).
 */
int lm_colour_round(struct morph_ctx *ctx, uint32_t ranks, const struct transfer *transfers,
		    uint32_t count, uint32_t *colours);

/* Verify options without a pool, which only morph_schedule_plan() takes. 0 or a noted errno. */
int lm_schedule_opts_check(struct morph_ctx *ctx, const struct morph_schedule_opts *opts);

/* given.c: morph_schedule_plan() with a pool. */
int lm_schedule_plan_on(struct morph_schedule *schedule, const struct morph_collective *collective,
			const struct morph_delay *delay, const struct morph_schedule_opts *opts);

/* plan.c: as morph_schedule_plan(), for verified options. @opts has no defaults. */
int lm_schedule_plan_costs(struct morph_schedule *schedule,
			   const struct morph_collective *collective, const struct costs *costs,
			   const struct morph_schedule_opts *opts);

/*
 * late.c: as morph_schedule_plan(), but no path passes the last rank in the rounds before the first
 * in which it takes part. lm_schedule_begins_ps() gives the begin of the first send of that round.
 */
int lm_schedule_plan_late(struct morph_schedule *schedule,
			  const struct morph_collective *collective,
			  const struct morph_delay *delay, const struct morph_schedule_opts *opts);
uint64_t lm_schedule_begins_ps(const struct morph_schedule *schedule, uint32_t round);

/*
 * late.c: as morph_schedule_plan(), but no path passes the last rank in the rounds before the first
 * in which it takes part. lm_schedule_begins_ps() returns when the first send of that round begins.
 */
int lm_schedule_choose(struct morph_schedule *schedule, struct morph_collective *collective,
		       const struct morph_collective_opts *wanted, const struct morph_delay *delay,
		       const struct morph_schedule_opts *opts, struct morph_choice *choices,
		       bool waits);

/*
 * choose.c: build the rounds of a choice and plan them, without paths over a rank that the
 * algorithm assumes to be late. The choice gets the result. Return the time until which the last
 * rank is not needed. If the rank comes that late, the returned schedule has its times.
 */
int lm_choice_build(struct morph_collective *collective, const struct morph_collective_opts *wanted,
		    const struct morph_choice *parameters);
int lm_choice_plan(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_delay *delay, const struct morph_schedule_opts *opts,
		   const struct morph_choice *parameters);
uint64_t lm_choice_note(struct morph_choice *choice, const struct morph_schedule *schedule,
			const struct morph_collective *collective, uint32_t kind);
uint64_t lm_choice_ends_ns(const struct morph_choice *choice, uint64_t late_ns);

/*
 * choose.c: build the rounds of a choice, and plan them without paths over a rank that the
 * algorithm assumes to be late. lm_choice_note() stores the result and returns the time until which
 * the last rank is not needed. lm_choice_ends_ns() returns the end if that rank is @late_ns late.
 */
uint64_t lm_schedule_digest(const struct morph_schedule *schedule);

/* A planner of one policy returns 0, with the verdict in the schedule, or the noted error. */
typedef int schedule_planner(struct morph_schedule *schedule,
			     const struct morph_collective *collective,
			     const struct morph_schedule_opts *opts);

/* of a tree that is chosen: more segments save some hundredths of its time */
#define MOST_SEGMENTS 256

schedule_planner lm_plan_each_round, lm_plan_one_shot, lm_plan_segments, lm_plan_overlap,
	lm_plan_matchings;

/*
 * policy_segments.c: use one topology for all rounds. Take the one of MORPH_POLICY_SEGMENTS on
 * which they end first; or keep the lit circuits, or a ring if nothing is lit.
 */
schedule_planner lm_plan_one_topology, lm_plan_static;

/* The same for a reversed collective: reverse the plan of the original direction. */
schedule_planner lm_plan_matchings_back;

#endif /* LM_SCHEDULE_SCHEDULE_H */
