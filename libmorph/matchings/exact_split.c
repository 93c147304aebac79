// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Exact search of ports for directed circuits: those that send, then those that receive. The cover
 * decides which two of them belong to one endpoint (exact_cover.c). A sender and a receiver that no
 * matching joins are such two ports, so each has one at most.
 */
#include "../util/sort.h"
#include "exact_any.h"

/* A list of ports as a mask. */
static uint32_t mask_of(const uint32_t *list, uint32_t count)
{
	uint32_t mask = 0, i;

	for (i = 0; i < count; i++)
		mask |= 1u << list[i];
	return mask;
}

static uint32_t image_of_mask(const uint8_t *image, uint32_t mask)
{
	uint32_t all = 0;

	for (; mask; mask &= mask - 1)
		all |= 1u << image[__builtin_ctz(mask)];
	return all;
}

/* Whether the sorted ports of a mask precede those of another one with as many. */
static bool is_mask_less(uint32_t one, uint32_t other)
{
	uint32_t differ = one ^ other;

	return one & differ & -differ;
}

static bool is_split_less(uint32_t tx, uint32_t rx, const uint32_t *other)
{
	return is_mask_less(tx, other[0]) || (tx == other[0] && is_mask_less(rx, other[1]));
}

/* Whether no image of the ports precedes them, with or without an exchange of the directions. */
static bool is_first_split(const struct ports *ports)
{
	const uint32_t all[] = { mask_of(ports->tx, ports->endpoints),
				 mask_of(ports->rx, ports->endpoints) };
	uint32_t i, tx, rx;

	if (is_split_less(all[1], all[0], all))
		return false;
	for (i = 0; i < ports->symmetries; i++) {
		tx = image_of_mask(ports->image[i], all[0]);
		rx = image_of_mask(ports->image[i], all[1]);
		if (is_split_less(tx, rx, all) || is_split_less(rx, tx, all))
			return false;
	}
	return true;
}

/* Whether no image of the ports that send precedes them. */
static bool is_first_mask(const struct ports *ports)
{
	uint32_t mask = mask_of(ports->tx, ports->count), i;

	for (i = 0; i < ports->symmetries; i++) {
		if (is_mask_less(image_of_mask(ports->image[i], mask), mask))
			return false;
	}
	return true;
}

/*
 * List the matchings of a list where enough senders reach ports that can receive. Sets the senders
 * that reach the last receiver, if there is one. 0, or a noted -ENOMEM. While all endpoints can be
 * idle in a round, it keeps the list.
 */
static int keep_open(struct ports *ports, struct list list, uint32_t open, uint32_t *senders,
		     struct list *kept)
{
	uint32_t last = ports->receivers ? ports->rx[ports->receivers - 1] : EXACT_ALONE;
	uint32_t idle, from, end, i, j;
	const uint8_t *partner;
	uint32_t *live;
	int error;

	*kept = list;
	*senders = 0;
	for (j = 0; j < ports->count && last != EXACT_ALONE; j++)
		*senders |= (ports->joined[last] >> ports->tx[j] & 1) << j;
	if (ports->count <= ports->most_idle)
		return 0;
	error = lm_exact_reserve_part(ports, list);
	if (error)
		return error;
	live = &ports->live[list.first];
	*kept = (struct list){ list.first + list.count, 0 };
	*senders = 0;
	for (i = 0; i < list.count; i++) {
		partner = exact_partners(ports->exact, live[i]);
		for (j = 0, idle = 0, from = 0; j < ports->count && idle <= ports->most_idle; j++) {
			end = partner[ports->tx[j]];
			idle += end == EXACT_ALONE || !(open >> end & 1);
			from |= end == last && end != EXACT_ALONE ? 1u << j : 0;
		}
		if (idle > ports->most_idle)
			continue;
		*senders |= from;
		live[list.count + kept->count++] = live[i];
	}
	return 0;
}

/* Give each sender the receiver of its own pair, or any that is left. */
static void give_ports(struct ports *ports)
{
	struct exact_cover *cover = &ports->exact->cover;
	uint32_t receivers[EXACT_MOST_ENDS], i, column;

	memcpy(receivers, ports->rx, sizeof(receivers));
	for (i = 0; i < ports->endpoints; i++) {
		column = cover->own_row[i];
		if (column == EXACT_ALONE) {
			column = (uint32_t)__builtin_ctz(~cover->own_columns);
			cover->own_columns |= 1u << column;
		}
		ports->rx[i] = receivers[column];
	}
}

/* Likewise, where the own pairs are those that no matching joins. */
static int give_joined(struct ports *ports)
{
	struct exact_cover *cover = &ports->exact->cover;
	uint32_t i, column;

	memset(cover->own_row, EXACT_ALONE, sizeof(cover->own_row));
	cover->own_columns = 0;
	for (i = 0; i < ports->endpoints; i++) {
		for (column = 0; column < ports->endpoints; column++) {
			if (ports->joined[ports->tx[i]] >> ports->rx[column] & 1)
				continue;
			cover->own_row[i] = (uint8_t)column;
			cover->own_columns |= 1u << column;
		}
	}
	give_ports(ports);
	return EXACT_FOUND;
}

/* Cover the pairs of all senders and receivers but one for each, and give the endpoints ports. */
static int cover_split(struct ports *ports, struct list list)
{
	struct exact *exact = ports->exact;
	struct exact_cover *cover = &exact->cover;
	const uint32_t n = ports->endpoints, pairs = cover->pairs;
	uint32_t i, j, end, pair;
	uint64_t key[EXACT_MOST_WORDS];
	const uint8_t *partner;
	int result;

	if (!lm_exact_spend(ports, list.count))
		return EXACT_UNDECIDED;
	result = lm_exact_clear(exact, &exact->candidates, (n * n + 63) / 64);
	for (i = 0; i < list.count && result >= 0; i++) {
		partner = exact_partners(exact, ports->live[list.first + i]);
		memset(key, 0, sizeof(key));
		for (j = 0; j < n; j++) {
			end = partner[ports->tx[j]];
			if (end == EXACT_ALONE || ports->owner[end] == EXACT_ALONE)
				continue;
			pair = n * j + ports->owner[end];
			key[pair / 64] |= 1ull << pair % 64;
		}
		result = lm_exact_add(exact, &exact->candidates, key);
	}
	if (result < 0)
		return result;
	cover->pairs = n * n;
	cover->side = n;
	result = lm_exact_cover_briefly(exact, exact->rounds->rounds);
	cover->pairs = pairs;
	cover->side = 0;
	if (result != EXACT_FOUND)
		return result;
	give_ports(ports);
	return result;
}

/*
 * Let a port from @first on receive, then further ones. All senders reach it, but one at most. This
 * one reaches all other receivers.
 */
static int receive(struct ports *ports, struct list list, uint32_t first)
{
	const uint32_t all = (1u << ports->endpoints) - 1, missed = ports->missed;
	const uint32_t tx = mask_of(ports->tx, ports->count);
	uint32_t rx, open, senders;
	int result = EXACT_REFUTED;
	struct list kept;

	if (ports->receivers == ports->endpoints) {
		if (!is_first_split(ports))
			return EXACT_REFUTED;
		ports->complete = true;
		return ports->first ? give_joined(ports) : cover_split(ports, list);
	}
	for (rx = first; rx < ports->ends && result == EXACT_REFUTED; rx++) {
		senders = tx & ~ports->joined[rx];
		if (tx >> rx & 1 || senders & (senders - 1))
			continue;
		if (!lm_exact_spend(ports, count_visits(ports, list)))
			return EXACT_UNDECIDED;
		ports->owner[rx] = (uint8_t)ports->receivers;
		ports->rx[ports->receivers++] = rx;
		open = (mask_of(ports->rx, ports->receivers) | ~0u << rx) & ~tx;
		result = keep_open(ports, list, open, &senders, &kept);
		senders ^= all;
		if (!result) {
			result = EXACT_REFUTED;
			if (!(senders & (senders - 1)) && !(senders & missed)) {
				ports->missed = missed | senders;
				result = receive(ports, kept, rx + 1);
				ports->missed = missed;
			}
		}
		if (result != EXACT_FOUND) {
			ports->receivers--;
			ports->owner[rx] = EXACT_ALONE;
		}
	}
	return result;
}

/* Whether each sender misses one of the receivers at most, and each receiver one sender. */
static bool can_own(const struct ports *ports)
{
	const uint32_t tx = mask_of(ports->tx, ports->count);
	uint32_t missed = 0, senders = 0, i;

	for (i = 0; i < ports->receivers && !(senders & (senders - 1)); i++) {
		senders = tx & ~ports->joined[ports->rx[i]];
		if (senders & missed)
			return false;
		missed |= senders;
	}
	return !(senders & (senders - 1));
}

/* Let the ports of a mask receive. */
static int receive_mask(struct ports *ports, struct list list, uint32_t mask)
{
	int result = EXACT_REFUTED;
	uint32_t left;

	for (left = mask; left; left &= left - 1) {
		ports->owner[__builtin_ctz(left)] = (uint8_t)ports->receivers;
		ports->rx[ports->receivers++] = (uint32_t)__builtin_ctz(left);
	}
	if (can_own(ports) && is_first_split(ports)) {
		ports->complete = true;
		result = cover_split(ports, list);
	}
	if (result == EXACT_FOUND)
		return result;
	for (left = mask; left; left &= left - 1)
		ports->owner[__builtin_ctz(left)] = EXACT_ALONE;
	ports->receivers = 0;
	return result;
}

static int by_number(const void *one, const void *other, void *context)
{
	const uint64_t *a = one, *b = other;

	(void)context;
	return *a < *b ? -1 : *a > *b;
}

/*
 * If no endpoint may lack a circuit, each round joins all senders to all receivers. So the
 * receivers are those of as many matchings as there are rounds.
 */
static int receive_all(struct ports *ports, struct list list)
{
	struct exact *exact = ports->exact;
	uint32_t *live = &ports->live[list.first], mask, i, j;
	int result = lm_exact_reserve(exact, &exact->seen_block, list.count * sizeof(uint64_t));
	uint64_t *keys = exact->seen_block.memory;
	const uint8_t *partner;

	if (result)
		return result;
	if (!lm_exact_spend(ports, list.count))
		return EXACT_UNDECIDED;
	for (i = 0; i < list.count; i++) {
		partner = exact_partners(exact, live[i]);
		for (j = 0, mask = 0; j < ports->count; j++)
			mask |= 1u << partner[ports->tx[j]];
		keys[i] = (uint64_t)mask << 32 | live[i];
	}
	lm_sort(keys, list.count, sizeof(*keys), by_number, NULL);
	for (i = 0; i < list.count; i++)
		live[i] = (uint32_t)keys[i];
	result = EXACT_REFUTED;
	for (i = 0; i < list.count && result == EXACT_REFUTED; i = j) {
		mask = (uint32_t)(keys[i] >> 32);
		j = i + 1;
		while (j < list.count && keys[j] >> 32 == mask)
			j++;
		if (j - i >= exact->rounds->rounds)
			result = receive_mask(ports, (struct list){ list.first + i, j - i }, mask);
	}
	return result;
}

int lm_exact_send(struct ports *ports, struct list list, uint32_t first)
{
	int result = EXACT_REFUTED;
	struct list kept;
	uint32_t tx, senders;

	if (ports->count == ports->endpoints)
		return ports->most_idle ? receive(ports, list, 0) : receive_all(ports, list);
	for (tx = first; tx < ports->ends && result == EXACT_REFUTED; tx++) {
		ports->tx[ports->count++] = tx;
		if (is_first_mask(ports)) {
			if (!lm_exact_spend(ports, count_visits(ports, list)))
				return EXACT_UNDECIDED;
			result = keep_open(ports, list, ~mask_of(ports->tx, ports->count), &senders,
					   &kept);
			if (!result)
				result = lm_exact_send(ports, kept, tx + 1);
		}
		ports->count -= result != EXACT_FOUND;
	}
	return result;
}
