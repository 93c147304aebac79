// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules as objects: all that they say, for people and programs. */
#include "../place/writer.h"
#include "schedule.h"

static const char *const policy_names[MORPH_POLICIES] = {
	[MORPH_POLICY_BEST] = "best",	      [MORPH_POLICY_EACH_ROUND] = "each-round",
	[MORPH_POLICY_ONE_SHOT] = "one-shot", [MORPH_POLICY_SEGMENTS] = "segments",
	[MORPH_POLICY_OVERLAP] = "overlap",   [MORPH_POLICY_MATCHINGS] = "matchings",
	[MORPH_POLICY_UNITED] = "united",
};

static const char
	*const bound_names[] = { [MORPH_BOUND_PORTS] = "ports", [MORPH_BOUND_CHAIN] = "chain" };

MORPH_API const char *morph_policy_name(uint32_t policy)
{
	return policy < MORPH_POLICIES ? policy_names[policy] : NULL;
}

static void put_alternative(struct writer *writer, const struct morph_schedule *schedule,
			    uint32_t policy)
{
	struct morph_alternative tried;
	struct writer inner;

	if (!schedule->tried[policy].verdict)
		return;
	morph_schedule_alternative(schedule, policy, &tried);
	inner = writer_begin(MORPH_OBJECT_SCHEDULE_ALTERNATIVE);
	put_text(&inner, LM_LOCAL_SCHEDULE_ALTERNATIVE_POLICY, policy_names[policy]);
	put_text(&inner, LM_LOCAL_SCHEDULE_ALTERNATIVE_VERDICT, lm_verdict_text(tried.verdict));
	if (tried.verdict == MORPH_FEASIBLE) {
		put(&inner, LM_LOCAL_SCHEDULE_ALTERNATIVE_FINISH_NS, tried.ns);
		put(&inner, LM_LOCAL_SCHEDULE_ALTERNATIVE_CHANGES, tried.changes);
		put(&inner, LM_LOCAL_SCHEDULE_ALTERNATIVE_CIRCUITS_SET, tried.circuits);
	} else {
		put_text(&inner, LM_LOCAL_SCHEDULE_ALTERNATIVE_TEXT, tried.why);
	}
	put_inner(writer, LM_LOCAL_SCHEDULE_ALTERNATIVE, &inner);
}

/* Sends are in the order of rounds. */
static void put_rounds(struct writer *writer, const struct morph_schedule *schedule)
{
	uint32_t next;

	for (uint32_t at = 0; at < schedule->sends.count; at = next) {
		const struct send *first = &schedule->sends.list[at];
		struct writer inner = writer_begin(MORPH_OBJECT_SCHEDULE_ROUND);
		uint64_t from = UINT64_MAX, until = 0;
		uint32_t hops = 0;

		for (next = at; next < schedule->sends.count &&
				schedule->sends.list[next].round == first->round;
		     next++) {
			const struct send *send = &schedule->sends.list[next];

			from = send->from_ps < from ? send->from_ps : from;
			until = send->until_ps > until ? send->until_ps : until;
			hops = send->hops > hops ? send->hops : hops;
		}
		put(&inner, LM_LOCAL_SCHEDULE_ROUND_ROUND, first->round);
		put(&inner, LM_LOCAL_SCHEDULE_ROUND_FROM_NS, lm_edge_ns(from));
		put(&inner, LM_LOCAL_SCHEDULE_ROUND_UNTIL_NS, lm_edge_ns(until));
		put(&inner, LM_LOCAL_SCHEDULE_ROUND_HOPS, hops);
		put_inner(writer, LM_LOCAL_SCHEDULE_ROUND, &inner);
	}
}

static void put_hold(struct writer *writer, const struct morph_schedule *schedule, uint32_t number)
{
	struct writer inner = writer_begin(MORPH_OBJECT_SCHEDULE_HOLD);
	struct morph_hold hold;

	morph_schedule_hold(schedule, number, &hold);
	put(&inner, LM_LOCAL_SCHEDULE_HOLD_PLANE, hold.plane);
	put(&inner, LM_LOCAL_SCHEDULE_HOLD_MATCHING, hold.matching);
	put(&inner, LM_LOCAL_SCHEDULE_HOLD_SET_NS, hold.set_ns);
	put(&inner, LM_LOCAL_SCHEDULE_HOLD_LIT_NS, hold.lit_ns);
	put(&inner, LM_LOCAL_SCHEDULE_HOLD_DARK_NS, hold.dark_ns);
	put(&inner, LM_LOCAL_SCHEDULE_HOLD_CIRCUITS_COUNT, hold.circuits);
	put_inner(writer, LM_LOCAL_SCHEDULE_HOLD, &inner);
}

static void put_send(struct writer *writer, const struct morph_schedule *schedule, uint32_t number)
{
	struct writer inner = writer_begin(MORPH_OBJECT_SCHEDULE_SEND);
	struct morph_send send;

	morph_schedule_send(schedule, number, &send);
	put(&inner, LM_LOCAL_SCHEDULE_SEND_ROUND, send.round);
	put(&inner, LM_LOCAL_SCHEDULE_SEND_FIRST_TRANSFER, send.first);
	put(&inner, LM_LOCAL_SCHEDULE_SEND_TRANSFERS_COUNT, send.count);
	put(&inner, LM_LOCAL_SCHEDULE_SEND_BYTES, send.bytes);
	put(&inner, LM_LOCAL_SCHEDULE_SEND_FROM_NS, send.from_ns);
	put(&inner, LM_LOCAL_SCHEDULE_SEND_UNTIL_NS, send.until_ns);
	for (uint32_t hop = 0; hop < send.hops; hop++)
		put(&inner, LM_LOCAL_SCHEDULE_SEND_HOLD, morph_schedule_hop(schedule, number, hop));
	put_inner(writer, LM_LOCAL_SCHEDULE_SEND, &inner);
}

static void put_matching(struct writer *writer, const struct morph_schedule *schedule,
			 uint32_t number)
{
	const struct matching *matching = &schedule->matchings.list[number];
	struct writer inner = writer_begin(MORPH_OBJECT_SCHEDULE_MATCHING);

	put(&inner, LM_LOCAL_SCHEDULE_MATCHING_MATCHING, number);
	for (uint32_t at = matching->first; at < matching->first + matching->count; at++) {
		struct writer circuit = writer_begin(MORPH_OBJECT_SCHEDULE_CIRCUIT);

		put(&circuit, LM_LOCAL_SCHEDULE_CIRCUIT_SRC_RANK, schedule->circuits.list[at].src);
		put(&circuit, LM_LOCAL_SCHEDULE_CIRCUIT_DST_RANK, schedule->circuits.list[at].dst);
		put_inner(&inner, LM_LOCAL_SCHEDULE_MATCHING_CIRCUIT, &circuit);
	}
	put_inner(writer, LM_LOCAL_SCHEDULE_MATCHING, &inner);
}

static void put_times(struct writer *writer, const struct morph_schedule *schedule)
{
	uint64_t bound, circuits, finish = morph_schedule_ns(schedule, &bound);
	uint64_t gap_ps = schedule->finish_ps - schedule->bound_ps;
	uint32_t changes = morph_schedule_changes(schedule, &circuits);

	put(writer, LM_LOCAL_SCHEDULE_FINISH_NS, finish);
	put(writer, LM_LOCAL_SCHEDULE_BOUND_NS, bound);
	put_text(writer, LM_LOCAL_SCHEDULE_BOUND_KIND, bound_names[schedule->bound_kind]);
	put(writer, LM_LOCAL_SCHEDULE_CHANGES, changes);
	put(writer, LM_LOCAL_SCHEDULE_CIRCUITS_SET, circuits);
	/* Of what is not rounded: two times that are the same have no gap. */
	put(writer, LM_LOCAL_SCHEDULE_GAP_NS,
	    schedule->finish_ps > schedule->bound_ps ? lm_edge_ns(gap_ps) : 0);
}

MORPH_API int morph_schedule_describe(const struct morph_schedule *schedule,
				      struct morph_object **out)
{
	bool feasible = schedule->verdict == MORPH_FEASIBLE;
	struct writer writer;

	*out = NULL;
	if (!schedule->verdict)
		return lm_fail(schedule->ctx, EINVAL, "the schedule was not planned");
	writer = writer_begin(MORPH_OBJECT_SCHEDULE);
	put_text(&writer, LM_LOCAL_SCHEDULE_VERDICT, lm_verdict_text(schedule->verdict));
	put_text(&writer, LM_LOCAL_SCHEDULE_POLICY, policy_names[schedule->policy]);
	if (!feasible)
		put_text(&writer, LM_LOCAL_SCHEDULE_TEXT, schedule->why);
	put(&writer, LM_LOCAL_SCHEDULE_RANKS_COUNT, schedule->ranks);
	put(&writer, LM_LOCAL_SCHEDULE_PLANES_COUNT, schedule->planes);
	if (feasible)
		put_times(&writer, schedule);
	for (uint32_t policy = 0; policy < MORPH_POLICIES; policy++)
		put_alternative(&writer, schedule, policy);
	if (feasible) {
		put_rounds(&writer, schedule);
		for (uint32_t at = 0; at < schedule->holds.count; at++)
			put_hold(&writer, schedule, at);
		for (uint32_t at = 0; at < schedule->matchings.count; at++)
			put_matching(&writer, schedule, at);
		for (uint32_t at = 0; at < schedule->sends.count; at++)
			put_send(&writer, schedule, at);
	}
	*out = writer_end(&writer);
	return *out ? 0 : lm_no_memory(schedule->ctx, "describe a schedule");
}
