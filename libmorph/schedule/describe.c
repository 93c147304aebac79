// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules as objects, with all their data, for people and programs. */
#include "../place/writer.h"
#include "schedule.h"

static const char *const bound_names[] = {
	[MORPH_BOUND_PORTS] = "ports",
	[MORPH_BOUND_CHAIN] = "chain",
	[MORPH_BOUND_CIRCUITS] = "circuits",
};

static void put_alternative(struct writer *writer, const struct morph_schedule *schedule,
			    uint32_t policy)
{
	struct morph_alternative tried;
	struct writer inner;

	if (!schedule->tried[policy].verdict)
		return;
	morph_schedule_alternative(schedule, policy, &tried);
	inner = writer_begin(MORPH_OBJECT_SCHEDULE_ALTERNATIVE);
	put_text(&inner, "policy", morph_enum_name(MORPH_ENUM_POLICY, policy));
	put_text(&inner, "verdict", lm_verdict_text(tried.verdict));
	if (tried.verdict == MORPH_FEASIBLE) {
		put(&inner, "finish-ns", tried.ns);
		put(&inner, "changes", tried.changes);
		put(&inner, "circuits-set", tried.circuits);
	} else {
		put_text(&inner, "text", tried.why);
	}
	put_inner(writer, "alternative", &inner);
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
		put(&inner, "round", first->round);
		put(&inner, "from-ns", lm_edge_ns(from));
		put(&inner, "until-ns", lm_edge_ns(until));
		put(&inner, "hops", hops);
		put_inner(writer, "round", &inner);
	}
}

static void put_hold(struct writer *writer, const struct morph_schedule *schedule, uint32_t number)
{
	struct writer inner = writer_begin(MORPH_OBJECT_SCHEDULE_HOLD);
	struct morph_hold hold;

	morph_schedule_hold(schedule, number, &hold);
	put(&inner, "plane", hold.plane);
	put(&inner, "matching", hold.matching);
	put(&inner, "set-ns", hold.set_ns);
	put(&inner, "lit-ns", hold.lit_ns);
	put(&inner, "dark-ns", hold.dark_ns);
	put(&inner, "circuits-count", hold.circuits);
	put_inner(writer, "hold", &inner);
}

static void put_send(struct writer *writer, const struct morph_schedule *schedule, uint32_t number)
{
	struct writer inner = writer_begin(MORPH_OBJECT_SCHEDULE_SEND);
	struct morph_send send;

	morph_schedule_send(schedule, number, &send);
	put(&inner, "round", send.round);
	put(&inner, "first-transfer", send.first);
	put(&inner, "transfers-count", send.count);
	put(&inner, "bytes", send.bytes);
	put(&inner, "from-ns", send.from_ns);
	put(&inner, "until-ns", send.until_ns);
	for (uint32_t hop = 0; hop < send.hops; hop++)
		put(&inner, "hold", morph_schedule_hop(schedule, number, hop));
	put_inner(writer, "send", &inner);
}

static void put_matching(struct writer *writer, const struct morph_schedule *schedule,
			 uint32_t number)
{
	const struct matching *matching = &schedule->matchings.list[number];
	struct writer inner = writer_begin(MORPH_OBJECT_SCHEDULE_MATCHING);

	put(&inner, "matching", number);
	for (uint32_t at = matching->first; at < matching->first + matching->count; at++) {
		struct writer circuit = writer_begin(MORPH_OBJECT_SCHEDULE_CIRCUIT);

		put(&circuit, "src-rank", schedule->circuits.list[at].src);
		put(&circuit, "dst-rank", schedule->circuits.list[at].dst);
		put_inner(&inner, "circuit", &circuit);
	}
	put_inner(writer, "matching", &inner);
}

static void put_times(struct writer *writer, const struct morph_schedule *schedule)
{
	uint64_t bound, circuits, finish = morph_schedule_ns(schedule, &bound);
	uint64_t gap_ps = schedule->finish_ps - schedule->bound_ps;
	uint32_t changes = morph_schedule_changes(schedule, &circuits);

	put(writer, "finish-ns", finish);
	put(writer, "bound-ns", bound);
	put_text(writer, "bound-kind", bound_names[schedule->bound_kind]);
	put(writer, "changes", changes);
	put(writer, "circuits-set", circuits);
	/* Compute it from unrounded times, so that equal times have no gap. */
	put(writer, "gap-ns", schedule->finish_ps > schedule->bound_ps ? lm_edge_ns(gap_ps) : 0);
}

MORPH_API int morph_schedule_describe(const struct morph_schedule *schedule,
				      struct morph_object **out)
{
	bool feasible = schedule->verdict == MORPH_FEASIBLE;
	struct writer writer;

	*out = NULL;
	if (!schedule->verdict)
		return lm_fail(schedule->ctx, EINVAL, "the schedule has no plan");
	writer = writer_begin(MORPH_OBJECT_SCHEDULE);
	put_text(&writer, "verdict", lm_verdict_text(schedule->verdict));
	put_text(&writer, "policy", morph_enum_name(MORPH_ENUM_POLICY, schedule->policy));
	if (!feasible)
		put_text(&writer, "text", schedule->why);
	put(&writer, "ranks-count", schedule->ranks);
	put(&writer, "planes-count", schedule->planes);
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
