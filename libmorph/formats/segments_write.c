// SPDX-License-Identifier: LGPL-2.1-or-later
/* From schedules to schedules of segments. */
#include "formats.h"

/* A round is sent over a hold. */
struct use {
	uint32_t round, hold;
};

/* A link of a topology on a plane; afterwards with the number of planes. */
struct link {
	uint32_t src, dst, plane;
};

struct topology {
	LIST_OF(struct link) links;
};

struct writer {
	const struct why *why;
	const struct morph_schedule *schedule;
	struct morph_schedule_result info;
	uint32_t rounds;
	LIST_OF(struct use) uses;
	struct topology *topologies; /* by round */
};

static int find_uses(struct writer *writer, const struct morph_collective *collective)
{
	for (uint32_t at = 0; at < writer->info.sends; at++) {
		struct morph_send send;

		morph_schedule_send(writer->schedule, at, &send);
		if (send.round >= writer->rounds ||
		    (uint64_t)send.first + send.count >
			    morph_collective_transfers(collective, send.round))
			return lm_format_fail(writer->why, EINVAL,
					      "the schedule belongs to another collective");
		for (uint32_t hop = 0; hop < send.hops; hop++) {
			if (GROW(writer->uses))
				return lm_format_no_memory(writer->why);
			writer->uses.list[writer->uses.count++] =
				(struct use){ send.round, send.holds[hop] };
		}
	}
	return 0;
}

static int by_round(const void *one, const void *other)
{
	const struct use *a = one, *b = other;

	if (a->round != b->round)
		return a->round < b->round ? -1 : 1;
	return a->hold < b->hold ? -1 : a->hold > b->hold;
}

static int by_ends(const void *one, const void *other)
{
	const struct link *a = one, *b = other;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	return a->plane < b->plane ? -1 : a->plane > b->plane;
}

static int add_circuits(struct writer *writer, struct topology *to, uint32_t number)
{
	struct morph_hold hold;

	morph_schedule_hold(writer->schedule, number, &hold);
	for (uint32_t at = 0; at < hold.circuits; at++) {
		if (GROW(to->links))
			return lm_format_no_memory(writer->why);
		to->links.list[to->links.count++] =
			(struct link){ hold.pairs[at].src, hold.pairs[at].dst, hold.plane };
	}
	return 0;
}

/* The same circuit on several planes is one link; a repeated circuit on a plane does not count. */
static void count_planes(struct topology *topology)
{
	struct link *list = topology->links.list;
	uint32_t kept = 0, last = UINT32_MAX;

	if (topology->links.count)
		qsort(list, topology->links.count, sizeof(*list), by_ends);
	for (uint32_t at = 0; at < topology->links.count; at++) {
		struct link link = list[at];
		bool same = kept && list[kept - 1].src == link.src &&
			    list[kept - 1].dst == link.dst;

		if (same && link.plane != last)
			list[kept - 1].plane++;
		if (!same)
			list[kept++] = (struct link){ link.src, link.dst, 1 };
		last = link.plane;
	}
	topology->links.count = kept;
}

static int find_topologies(struct writer *writer)
{
	const struct use *uses = writer->uses.list;
	int ret = 0;

	writer->topologies = calloc((size_t)writer->rounds + 1, sizeof(*writer->topologies));
	if (!writer->topologies)
		return lm_format_no_memory(writer->why);
	if (writer->uses.count)
		qsort(writer->uses.list, writer->uses.count, sizeof(*uses), by_round);
	for (uint32_t at = 0; !ret && at < writer->uses.count; at++)
		if (!at || by_round(&uses[at - 1], &uses[at]) != 0)
			ret = add_circuits(writer, &writer->topologies[uses[at].round],
					   uses[at].hold);
	for (uint32_t round = 0; round < writer->rounds; round++)
		count_planes(&writer->topologies[round]);
	return ret;
}

static bool is_same(const struct topology *a, const struct topology *b)
{
	return a->links.count == b->links.count &&
	       !memcmp(a->links.list, b->links.list, a->links.count * sizeof(*a->links.list));
}

/* The topology of a round, or of the round before if it has none. */
static const struct topology *lit_in(const struct writer *writer, uint32_t round,
				     const struct topology *before)
{
	return before && !writer->topologies[round].links.count ? before :
								  &writer->topologies[round];
}

static uint32_t count_changes(const struct writer *writer)
{
	const struct topology *before = NULL;
	uint32_t changes = 0;

	for (uint32_t round = 0; round < writer->rounds; round++) {
		const struct topology *now = lit_in(writer, round, before);

		if (before && before->links.count && !is_same(now, before))
			changes++;
		before = now;
	}
	return changes;
}

/* The cost of all topologies except the first one, which exists at the begin. */
static uint64_t cost_ns(const struct writer *writer)
{
	uint64_t begin_ns = writer->info.ns;

	for (uint32_t at = 0; at < writer->info.sends; at++) {
		struct morph_send send;

		morph_schedule_send(writer->schedule, at, &send);
		if (send.from_ns < begin_ns)
			begin_ns = send.from_ns;
	}
	return writer->info.ns - begin_ns;
}

static void put(const struct writer *writer, struct output *output, const char *name,
		uint64_t change_ns)
{
	const struct topology *now = NULL;
	uint64_t changes = count_changes(writer), all_ns = changes * change_ns;

	lm_format_put(output,
		      "{\"alpha_r\": %llu, \"collective\": \"%s\", \"cost\": %llu, "
		      "\"num_of_reconfigs\": %llu, \"reconf_cost_total\": %llu, \"steps\": [",
		      (unsigned long long)change_ns, name, (unsigned long long)cost_ns(writer),
		      (unsigned long long)changes, (unsigned long long)all_ns);
	for (uint32_t round = 0; round < writer->rounds; round++) {
		now = lit_in(writer, round, now);
		lm_format_put(output, "%s\n  {\"step\": %u, \"topology\": [", round ? "," : "",
			      round + 1);
		for (uint32_t at = 0; at < now->links.count; at++)
			lm_format_put(output, "%s[%u, %u, %u]", at ? ", " : "",
				      now->links.list[at].src, now->links.list[at].dst,
				      now->links.list[at].plane);
		lm_format_put(output, "]}");
	}
	lm_format_put(output, "\n]}\n");
}

MORPH_API ssize_t morph_segments_write(const struct morph_schedule *schedule,
				       const struct morph_collective *collective,
				       const struct morph_delay *delay, const char *name,
				       char *buffer, size_t bytes, char *why, size_t room)
{
	const struct why told = { why, room };
	MORPH_OPTS(morph_collective_info, about);
	struct writer writer = { .why = &told, .schedule = schedule };
	struct output output = { .at = buffer, .room = bytes };
	int ret = lm_format_check_name(&told, name);

	writer.info.sz = sizeof(writer.info);
	morph_schedule_result(schedule, &writer.info);
	morph_collective_info(collective, &about);
	writer.rounds = about.rounds;
	if (!ret && writer.info.verdict != MORPH_FEASIBLE)
		ret = lm_format_fail(&told, EINVAL, "no feasible schedule");
	if (!ret)
		ret = find_uses(&writer, collective);
	if (!ret)
		ret = find_topologies(&writer);
	if (!ret)
		put(&writer, &output, name, morph_delay_change_ns(delay, about.ranks, about.ranks));
	for (uint32_t round = 0; writer.topologies && round < writer.rounds; round++)
		free(writer.topologies[round].links.list);
	free(writer.topologies);
	free(writer.uses.list);
	return ret ? ret : lm_format_end(&output);
}
