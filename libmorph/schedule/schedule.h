/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schedules inside: what planners fill. */
#ifndef LM_SCHEDULE_SCHEDULE_H
#define LM_SCHEDULE_SCHEDULE_H

#include "../collective/collective.h"
#include "../collective/delay.h"

#define MOST_PLANES 64
#define NO_HOLD UINT32_MAX
#define NO_MATCHING UINT32_MAX

/* Circuits of which no two have an end in common, in the order of ranks that send; each is kept once. */
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

/* What a policy came to. */
struct tried {
	uint32_t verdict, changes;
	uint64_t finish_ps, circuits;
	char why[160];
};

struct morph_schedule {
	struct morph_ctx *ctx;
	uint32_t verdict, policy, ranks, planes;
	struct costs costs;
	uint32_t residents; /* the first holds: lit when it starts */
	uint64_t finish_ps, bound_ps;
	uint64_t rounds; /* digest of those that it was planned for */
	uint32_t bound_kind; /* enum morph_schedule_bound */
	uint32_t changes; /* times at which circuits are set, and how many are, in all */
	uint64_t set;
	char why[160];
	ARRAY_OF(struct morph_rank_pair) circuits;
	ARRAY_OF(struct matching) matchings;
	ARRAY_OF(struct hold) holds;
	ARRAY_OF(struct send) sends;
	ARRAY_OF(uint32_t) hops; /* holds */
	struct tried tried[MORPH_POLICIES]; /* verdict 0: it was not */
	uint32_t *places; /* of matchings by digest; UINT32_MAX: none */
	uint32_t places_room; /* a power of two */
	uint32_t *ports; /* by plane and rank that sends: its last hold, to count what is set with; NULL: there are no holds, or it has ended */
};

/* Forget what there was. */
void lm_schedule_begin(struct morph_schedule *schedule, uint32_t ranks, uint32_t planes,
		       const struct costs *costs);

/* What @after leaves lit is lit: the first holds, one for each plane that has any. 0 or a noted -ENOMEM. */
int lm_schedule_resume(struct morph_schedule *schedule, const struct morph_schedule *after);

/* Circuits that @after leaves lit on a plane, at most one for each rank; returns how many. */
uint32_t lm_schedule_left_lit(const struct morph_schedule *after, uint32_t plane,
			      struct morph_rank_pair *circuits);

/*
 * Each returns 0, the number in *out, or a noted -ENOMEM. Circuits of a matching come in any order, and are sorted in
 * place. Holds are added in the order in which they are set; the one before on the same ports is to be dark then.
 */
int lm_schedule_matching(struct morph_schedule *schedule, struct morph_rank_pair *circuits,
			 uint32_t count, uint32_t *out);
/* The same of circuits that are in the order of ranks that send. */
int lm_schedule_sorted_matching(struct morph_schedule *schedule,
				const struct morph_rank_pair *circuits, uint32_t count,
				uint32_t *out);
/* All of another schedule, with their numbers; @schedule has none. */
int lm_schedule_take_matchings(struct morph_schedule *schedule, const struct morph_schedule *from);
int lm_schedule_hold(struct morph_schedule *schedule, uint32_t plane, uint32_t matching,
		     uint64_t set_ps, uint64_t lit_ps, uint32_t *out);
/* Over @send->hops holds. */
int lm_schedule_send(struct morph_schedule *schedule, const struct send *send,
		     const uint32_t *hops);

/*
 * less.c: all of a feasible schedule of the same rounds that makes use of fewer planes, the first of them, or of nothing that @after leaves lit; @schedule has
 * begun. 0 or what was noted.
 */
int lm_schedule_take_less(struct morph_schedule *schedule, const struct morph_schedule *less,
			  const struct morph_schedule *after);

/* A policy can't do it. Returns 0. */
int lm_schedule_refuse(struct morph_schedule *schedule, const char *why);
/* It might, but it is not tried. Returns 0. */
int lm_schedule_give_up(struct morph_schedule *schedule, const char *why);

/* Steps that a planner may take: 0 is as many as pay. */
static inline uint32_t lm_schedule_budget(const struct morph_schedule_opts *opts)
{
	return opts->budget < UINT32_MAX ? (uint32_t)opts->budget : UINT32_MAX;
}

/* It is feasible: what is still lit is so to the end, and what is set was counted. */
void lm_schedule_end(struct morph_schedule *schedule);

/* Holds came another way: count what they set. 0 or a noted -ENOMEM. */
int lm_schedule_count(struct morph_schedule *schedule);

/* The circuit of a matching that leaves a rank, or UINT32_MAX. O(log circuits). */
uint32_t lm_matching_leads(const struct morph_schedule *schedule, uint32_t matching, uint32_t src);

/* bound.c: it is of these rounds; and the best time that no schedule of them falls below. 0 or a noted -ENOMEM. */
int lm_schedule_bound(struct morph_schedule *schedule, const struct morph_collective *collective);

/*
 * read.c: a feasible schedule in the words of <morph/wire.h>, its head among them, which is to be of these rounds on so many
 * planes; policy, costs and what was tried are as they are. Numbers are of things that there are, times in order, ports in one circuit at a time, and ways
 * lead from who sends to who receives; what else makes a schedule sound is left to the checker. 0 or a noted -EINVAL or -ENOMEM.
 */
int lm_schedule_read(struct morph_schedule *schedule, const struct morph_collective *collective,
		     uint32_t planes, const void *words, size_t count);

/* Transfers of the round that has most. */
uint32_t lm_widest_round(const struct morph_collective *collective);

/*
 * exchange.c: does a rank send a chunk in a round in which it receives it too, and does that round take turns, with so many ports? What is
 * sent in a later turn would be what came in an earlier one. 0: every round is one that may take turns. Or a noted -ENOMEM.
 */
int lm_find_exchange(struct morph_ctx *ctx, const struct morph_collective *collective,
		     uint32_t ports);

/*
 * colour.c: give each transfer of a round a colour, so that those of a rank that send, and those that receive,
 * differ (König, 1916): as many as the busiest rank has. Returns how many, or a noted -ENOMEM. O(transfers * ranks).
 */
int lm_colour_round(struct morph_ctx *ctx, uint32_t ranks, const struct transfer *transfers,
		    uint32_t count, uint32_t *colours);

/* Options for all but morph_schedule_plan(), which alone takes a pool. 0 or a noted errno. */
int lm_schedule_opts_check(struct morph_ctx *ctx, const struct morph_schedule_opts *opts);

/* given.c: morph_schedule_plan() with a pool. */
int lm_schedule_plan_on(struct morph_schedule *schedule, const struct morph_collective *collective,
			const struct morph_delay *delay, const struct morph_schedule_opts *opts);

/* plan.c: as morph_schedule_plan(), of what was looked at. @opts has no defaults. */
int lm_schedule_plan_costs(struct morph_schedule *schedule,
			   const struct morph_collective *collective, const struct costs *costs,
			   const struct morph_schedule_opts *opts);

/*
 * late.c: as morph_schedule_plan(), and nothing is sent by way of the last rank in rounds that go by before the first in which it takes part.
 * When the first send of the rounds from that one on begins.
 */
int lm_schedule_plan_late(struct morph_schedule *schedule,
			  const struct morph_collective *collective,
			  const struct morph_delay *delay, const struct morph_schedule_opts *opts);
uint64_t lm_schedule_begins_ps(const struct morph_schedule *schedule, uint32_t round);

/*
 * choose.c: as morph_schedule_choose(), of options that were looked at. Where the last rank is late what is soonest is so from when it has come, and
 * with @waits StragglAR is not tried, which does not wait.
 */
int lm_schedule_choose(struct morph_schedule *schedule, struct morph_collective *collective,
		       const struct morph_collective_opts *wanted, const struct morph_delay *delay,
		       const struct morph_schedule_opts *opts, struct morph_choice *choices,
		       bool waits);

/*
 * choose.c: rounds as a choice tells them; a plan of them, which keeps clear of a rank that the algorithm supposes to be late. What came of it is
 * noted in the choice: returns until when nothing is needed of the last rank. With one that comes so late all has arrived then.
 */
int lm_choice_build(struct morph_collective *collective, const struct morph_collective_opts *wanted,
		    const struct morph_choice *told);
int lm_choice_plan(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_delay *delay, const struct morph_schedule_opts *opts,
		   const struct morph_choice *told);
uint64_t lm_choice_note(struct morph_choice *choice, const struct morph_schedule *schedule,
			const struct morph_collective *collective, uint32_t kind);
uint64_t lm_choice_ends_ns(const struct morph_choice *choice, uint64_t late_ns);

/* candidates.c: of which circuits are held from when to when. O(circuits of all holds). */
uint64_t lm_schedule_digest(const struct morph_schedule *schedule);

/* A planner of one policy: 0, the verdict in the schedule; or what was noted. */
typedef int schedule_planner(struct morph_schedule *schedule,
			     const struct morph_collective *collective,
			     const struct morph_schedule_opts *opts);

#define MOST_SEGMENTS 256 /* of a tree that is chosen: more save some hundredths of its time */

schedule_planner lm_plan_each_round, lm_plan_one_shot, lm_plan_segments, lm_plan_overlap,
	lm_plan_matchings;

/*
 * policy_segments.c: one topology for all rounds. Of those of MORPH_POLICY_SEGMENTS the one on which they end first; or what is
 * lit, and where nothing is a ring.
 */
schedule_planner lm_plan_one_topology, lm_plan_static;

/* The same of a collective that was turned: the plan of the way there, turned too. */
schedule_planner lm_plan_matchings_back;

#endif /* LM_SCHEDULE_SCHEDULE_H */
