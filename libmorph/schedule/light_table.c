// SPDX-License-Identifier: LGPL-2.1-or-later
/* From holds to steps: the circuits that are lit from one change to the next. */
#include "light.h"

/* The receiver of a rank on a plane, and until when. */
struct sending {
	uint32_t dst; /* or NO_LIT */
	uint64_t dark_ps;
};

struct filling {
	const struct morph_schedule *schedule;
	struct lit_table *table;
	struct sending *now; /* by plane and rank */
	uint32_t *heads; /* by plane and rank: the first circuit, or NO_LIT */
	bool split;
};

static const char what[] = "steps of a schedule";

void lm_lit_table_free(struct lit_table *table)
{
	free(table->circuits.list);
	free(table->steps.list);
	free(table->held.list);
	free(table->used_in);
	free(table->hold_steps);
	free(table->hops);
	memset(table, 0, sizeof(*table));
}

/* The index of the circuit in the table, or NO_LIT with a noted -ENOMEM. */
static uint32_t find_circuit(struct filling *filling, uint32_t port, uint32_t dst, uint32_t step)
{
	struct lit_table *table = filling->table;
	uint32_t at = filling->heads[port];
	struct lit *lit;

	for (; at != NO_LIT; at = table->circuits.list[at].next) {
		lit = &table->circuits.list[at];
		if (lit->dst == dst && (!filling->split || lit->last + 1 >= step))
			break;
	}
	if (at == NO_LIT) {
		if (ARRAY_GROW(filling->schedule->ctx, table->circuits, 1, what))
			return NO_LIT;
		at = table->circuits.count++;
		table->circuits.list[at] = (struct lit){ .plane = port / table->ranks,
							 .src = port % table->ranks,
							 .dst = dst,
							 .next = filling->heads[port] };
		filling->heads[port] = at;
	}
	table->circuits.list[at].last = step;
	return at;
}

/* All lit circuits form a step, unless they equal those of the previous step. */
static int add_step(struct filling *filling, uint64_t set_ps, uint64_t lit_ps)
{
	struct lit_table *table = filling->table;
	struct lit_step step = { .set_ps = set_ps, .lit_ps = lit_ps, .first = table->held.count };
	const struct lit_step *before;
	int error = ARRAY_GROW(filling->schedule->ctx, table->steps, 1, what);

	for (uint32_t port = 0; !error && port < table->planes * table->ranks; port++) {
		if (filling->now[port].dst == NO_LIT)
			continue;
		error = ARRAY_GROW(filling->schedule->ctx, table->held, 1, what);
		if (error)
			break;
		table->held.list[table->held.count] =
			find_circuit(filling, port, filling->now[port].dst, table->steps.count);
		if (table->held.list[table->held.count++] == NO_LIT)
			error = -ENOMEM;
	}
	if (error)
		return error;
	step.count = table->held.count - step.first;
	before = table->steps.count ? &table->steps.list[table->steps.count - 1] : NULL;
	if (before && before->count == step.count &&
	    !memcmp(&table->held.list[before->first], &table->held.list[step.first],
		    step.count * sizeof(uint32_t)))
		table->held.count = step.first;
	else /* There is room for it: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
		table->steps.list[table->steps.count++] = step;
	return 0;
}

/* Apply what is set at one moment. Return the first hold that is set later. */
static uint32_t set_holds(struct filling *filling, uint32_t first, uint64_t *lit_ps)
{
	const struct morph_schedule *schedule = filling->schedule;
	uint64_t now = schedule->holds.list[first].set_ps;
	uint32_t at = first;

	*lit_ps = now;
	for (uint32_t port = 0; port < filling->table->planes * schedule->ranks; port++)
		if (filling->now[port].dark_ps <= now)
			filling->now[port].dst = NO_LIT;
	for (; at < schedule->holds.count && schedule->holds.list[at].set_ps == now; at++) {
		const struct hold *hold = &schedule->holds.list[at];
		const struct matching *matching = &schedule->matchings.list[hold->matching];
		struct sending *row;

		if (hold->plane >= filling->table->planes)
			continue;
		row = &filling->now[(size_t)hold->plane * schedule->ranks];
		for (uint32_t next = 0; next < matching->count; next++) {
			const struct morph_rank_pair *circuit =
				&schedule->circuits.list[matching->first + next];

			row[circuit->src] = (struct sending){ circuit->dst, hold->dark_ps };
		}
		if (hold->lit_ps > *lit_ps)
			*lit_ps = hold->lit_ps;
	}
	return at;
}

static int fill_steps(struct filling *filling)
{
	const struct morph_schedule *schedule = filling->schedule;
	struct lit_table *table = filling->table;
	uint32_t next = 0;
	uint64_t lit_ps;

	while (next < schedule->holds.count) {
		uint32_t first = next;
		int error;

		next = set_holds(filling, first, &lit_ps);
		error = add_step(filling, schedule->holds.list[first].set_ps, lit_ps);
		if (error)
			return error;
		for (; first < next; first++)
			table->hold_steps[first] = table->steps.count - 1;
		if (table->steps.count > MORPH_SCHEDULE_MOST_STEPS ||
		    table->held.count > MORPH_SCHEDULE_MOST_HELD ||
		    table->circuits.count > MORPH_SCHEDULE_MOST_CIRCUITS)
			return lm_fail(
				schedule->ctx, E2BIG,
				"the schedule has more steps or circuits than the driver supports");
	}
	return 0;
}

/* A circuit that stays lit across the end of a loop is the same circuit. */
static void join_ends(struct lit_table *table)
{
	const struct lit_step *first = &table->steps.list[0];
	const struct lit_step *last = &table->steps.list[table->steps.count - 1];

	for (uint32_t a = first->first; a < first->first + first->count; a++)
		for (uint32_t b = last->first; b < last->first + last->count; b++) {
			uint32_t to = table->held.list[a], from = table->held.list[b];
			const struct lit *one = &table->circuits.list[to];
			const struct lit *other = &table->circuits.list[from];

			if (to == from || one->plane != other->plane || one->src != other->src ||
			    one->dst != other->dst)
				continue;
			for (uint32_t at = 0; at < table->held.count; at++)
				if (table->held.list[at] == from)
					table->held.list[at] = to;
		}
}

/* List the steps of each circuit. */
static int fill_uses(struct filling *filling)
{
	struct lit_table *table = filling->table;
	uint32_t next = 0;

	table->used_in = calloc(table->held.count + 1UL, sizeof(*table->used_in));
	table->hops = calloc(table->circuits.count + 1UL, OPTICS_MAX_HOPS * sizeof(*table->hops));
	if (!table->used_in || !table->hops)
		return lm_no_memory(filling->schedule->ctx, "%s", what);
	for (uint32_t at = 0; at < table->held.count; at++)
		table->circuits.list[table->held.list[at]].uses_count++;
	for (uint32_t at = 0; at < table->circuits.count; at++) {
		table->circuits.list[at].uses = next;
		next += table->circuits.list[at].uses_count;
		table->circuits.list[at].uses_count = 0;
	}
	for (uint32_t step = 0; step < table->steps.count; step++)
		for (uint32_t at = 0; at < table->steps.list[step].count; at++) {
			uint32_t which = table->held.list[table->steps.list[step].first + at];
			struct lit *lit = &table->circuits.list[which];

			table->used_in[lit->uses + lit->uses_count++] = step;
		}
	return 0;
}

int lm_lit_table(struct lit_table *table, const struct morph_schedule *schedule, uint32_t planes,
		 bool split, bool loop)
{
	struct filling filling = { .schedule = schedule, .table = table, .split = split };
	size_t ports = (size_t)planes * schedule->ranks;
	int error = 0;

	table->ranks = schedule->ranks;
	table->planes = planes;
	table->hold_steps = calloc(schedule->holds.count + 1UL, sizeof(*table->hold_steps));
	filling.now = calloc(ports + 1, sizeof(*filling.now));
	filling.heads = calloc(ports + 1, sizeof(*filling.heads));
	if (!table->hold_steps || !filling.now || !filling.heads) {
		lm_no_memory(schedule->ctx, "%s", what);
		error = -ENOMEM;
	}
	for (size_t port = 0; !error && port < ports; port++) {
		filling.now[port].dst = NO_LIT;
		filling.heads[port] = NO_LIT;
	}
	if (!error)
		error = fill_steps(&filling);
	if (!error && split && loop && table->steps.count > 1)
		join_ends(table);
	if (!error)
		error = fill_uses(&filling);
	free(filling.now);
	free(filling.heads);
	return error;
}
