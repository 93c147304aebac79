// SPDX-License-Identifier: LGPL-2.1-or-later
/* Graphs of circuits between slots, and their symmetries. */
#include <string.h>

#include "pattern.h"

#define BOUND_SLOTS 16 /* limit for the exact bounds over all sets of slots */
#define TWIST_STEPS 4096 /* of the search for one map */

void lm_pattern_init(struct pattern *pattern, uint32_t slots)
{
	memset(pattern, 0, sizeof(*pattern));
	pattern->slots = slots;
}

void lm_pattern_add(struct pattern *pattern, uint32_t from, uint32_t to, uint32_t units)
{
	pattern->units[from][to] = (uint8_t)(pattern->units[from][to] + units);
	pattern->units_total += units;
	pattern->near[from] |= 1ULL << to;
	pattern->near[to] |= 1ULL << from;
}

void lm_pattern_join(struct pattern *pattern, uint32_t slot, uint32_t other, uint32_t units)
{
	lm_pattern_add(pattern, slot, other, units);
	lm_pattern_add(pattern, other, slot, units);
}

void lm_pattern_torus(struct pattern *pattern, uint32_t x, uint32_t y, uint32_t z, uint32_t units)
{
	const uint32_t extent[3] = { x, y, z };
	const uint32_t stride[3] = { 1, x, x * y };

	lm_pattern_init(pattern, x * y * z);
	for (uint32_t slot = 0; slot < pattern->slots; slot++) {
		for (int axis = 0; axis < 3; axis++) {
			uint32_t at = slot / stride[axis] % extent[axis];
			uint32_t next = (at + 1) % extent[axis];

			if (next > at || (next < at && extent[axis] > 2))
				lm_pattern_join(pattern, slot, slot + (next - at) * stride[axis],
						units);
		}
	}
}

/* ------------------------------------------------------------------- order */

/* Order slots by the number of demands to slots that precede them. */
static void find_order(struct pattern *pattern)
{
	uint64_t left = net_all(pattern->slots), placed = 0;

	memset(pattern->steps, 0, sizeof(pattern->steps));

	for (uint32_t at = 0; at < pattern->slots; at++) {
		struct pattern_step *step = &pattern->steps[at];
		uint32_t best = net_first(left);

		for (uint64_t rest = left; rest; rest &= rest - 1) {
			uint32_t slot = net_first(rest);
			uint32_t mine = net_count(pattern->near[slot] & placed);
			uint32_t its = net_count(pattern->near[best] & placed);

			if (mine > its || (mine == its && net_count(pattern->near[slot]) >
								  net_count(pattern->near[best])))
				best = slot;
		}
		step->slot = (uint8_t)best;
		step->before = pattern->near[best] & placed;
		for (uint64_t rest = step->before; rest; rest &= rest - 1)
			step->units += pattern->units[best][net_first(rest)] +
				       pattern->units[net_first(rest)][best];
		placed |= 1ULL << best;
		left &= ~(1ULL << best);
	}
}

/* -------------------------------------------------------------------- alike */

/* A partial map of the pattern onto itself. */
struct twist {
	const struct pattern *pattern;
	uint8_t to[PATTERN_SLOTS]; /* by slot; valid for the first @count in order */
	uint64_t taken;
};

static bool twist_fits(const struct twist *twist, uint32_t count, uint32_t slot, uint32_t image)
{
	const struct pattern *pattern = twist->pattern;

	if (net_count(pattern->near[slot]) != net_count(pattern->near[image]))
		return false;
	for (uint32_t at = 0; at < count; at++) {
		uint32_t other = pattern->steps[at].slot;
		uint32_t its = twist->to[other];

		if (pattern->units[slot][other] != pattern->units[image][its] ||
		    pattern->units[other][slot] != pattern->units[its][image])
			return false;
	}
	return true;
}

/*
 * Whether a map keeps the first @fixed slots in order and sends the next one to @image. Search with
 * an explicit stack. Patterns are small, and their symmetries show early or not at all.
 */
static bool twist_exists(struct twist *twist, uint32_t fixed, uint32_t image)
{
	const struct pattern *pattern = twist->pattern;
	uint64_t choices[PATTERN_SLOTS];
	uint32_t count = fixed;

	twist->taken = 0;
	for (uint32_t at = 0; at < fixed; at++) {
		twist->to[pattern->steps[at].slot] = pattern->steps[at].slot;
		twist->taken |= 1ULL << pattern->steps[at].slot;
	}
	choices[fixed] = 1ULL << image;
	for (uint32_t steps = 0; steps < TWIST_STEPS; steps++) {
		uint32_t slot = pattern->steps[count].slot, next;

		if (!choices[count]) {
			if (count == fixed)
				return false;
			count--;
			twist->taken &= ~(1ULL << twist->to[pattern->steps[count].slot]);
			continue;
		}
		next = net_first(choices[count]);
		choices[count] &= choices[count] - 1;
		if (!twist_fits(twist, count, slot, next))
			continue;
		if (count + 1 == pattern->slots)
			return true;
		twist->to[slot] = (uint8_t)next;
		twist->taken |= 1ULL << next;
		count++;
		choices[count] = net_all(pattern->slots) & ~twist->taken;
	}
	return false;
}

static void find_alike(struct pattern *pattern)
{
	struct twist twist = { .pattern = pattern };

	for (uint32_t fixed = 0; fixed + 1 < pattern->slots; fixed++) {
		for (uint32_t at = fixed + 1; at < pattern->slots; at++)
			if (twist_exists(&twist, fixed, pattern->steps[at].slot))
				pattern->steps[at].below |= 1ULL << pattern->steps[fixed].slot;
	}
}

/* ------------------------------------------------------------------- bounds */

static uint32_t units_out(const struct pattern *pattern, uint64_t set)
{
	uint32_t units = 0;

	for (uint64_t left = set; left; left &= left - 1) {
		uint32_t from = net_first(left);

		for (uint64_t to = pattern->near[from] & ~set; to; to &= to - 1)
			units += pattern->units[from][net_first(to)];
	}
	return units;
}

static void find_bounds(struct pattern *pattern)
{
	bool known = pattern->slots <= BOUND_SLOTS;

	for (uint32_t count = 0; count <= pattern->slots; count++) {
		pattern->least_out[count] = known ? UINT32_MAX : 0;
		pattern->most_out[count] = known ? 0 : pattern->units_total;
	}
	for (uint64_t set = 0; known && set <= net_all(pattern->slots); set++) {
		uint32_t count = net_count(set), units = units_out(pattern, set);

		if (units < pattern->least_out[count])
			pattern->least_out[count] = units;
		if (units > pattern->most_out[count])
			pattern->most_out[count] = units;
	}
}

void lm_pattern_arrange(struct pattern *pattern)
{
	pattern->demands_count = 0;
	for (uint32_t from = 0; from < pattern->slots; from++)
		for (uint32_t to = 0; to < pattern->slots; to++)
			if (pattern->units[from][to])
				pattern->demands[pattern->demands_count++] = (struct demand){
					.from = (uint8_t)from,
					.to = (uint8_t)to,
					.units = pattern->units[from][to],
				};
	find_order(pattern);
	find_alike(pattern);
}

void lm_pattern_prepare(struct pattern *pattern)
{
	lm_pattern_arrange(pattern);
	find_bounds(pattern);
}
