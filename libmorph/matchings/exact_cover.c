// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Covers of all pairs by a number of candidates: a search in depth with a bound.
 *
 * Each pair has a weight, and a candidate weighs as much as its pairs that are not yet covered. If
 * no candidate is heavier than H, then R rounds cover at most the weight R * H. The difference to
 * the weight of all pairs is slack. A candidate that is lighter than H uses some of it, and fits
 * only if the slack lasts. So the weights prove a bound without any search where the slack is
 * negative.
 *
 * The best weights solve a linear program, the dual of the fractional cover. lm_exact_weigh()
 * approximates them by multiplicative weights (Plotkin, Shmoys and Tardos, 1995), in integers.
 *
 * For directed circuits at any ports, exact_split.c chooses which ports send and which receive, but
 * not yet which two ports an endpoint has. Then the pairs are all pairs of a sender and a receiver.
 * Each sender may miss one receiver, and each receiver one sender: both are the ports of one
 * endpoint. So a cover consists of the rounds and of these own pairs, one for each sender at most.
 */
#include "exact.h"

/* ------------------------------------------------------------------ weights */

/* Halvings of the step, and passes over all pairs with each step. */
#define FIRST_SHIFT 3
#define LAST_SHIFT 9
#define MOST_LENGTH (1u << 22)
#define MOST_WEIGHT 1000

/* Visits of each candidate, before a cover gets weights. */
#define BRIEF 8

/* Weights, and what they prove: at least sum / heaviest rounds. */
struct weights {
	uint32_t weight[EXACT_MOST_PAIRS]; /* by pair */
	uint32_t sum, heaviest; /* sum: without the most that own pairs can weigh */
};

/* The sum of the weights of a candidate's pairs that are not covered. */
static uint32_t weigh_new(const struct exact_cover *cover, const uint64_t *key)
{
	uint32_t sum = 0, word;
	uint64_t left;

	for (word = 0; word < cover->words; word++) {
		for (left = key[word] & ~cover->covered[word]; left; left &= left - 1)
			sum += cover->weight[64 * word + (uint32_t)__builtin_ctzll(left)];
	}
	return sum;
}

static const uint64_t *key_of(const struct exact_cover *cover, uint32_t candidate)
{
	return &cover->keys[(size_t)candidate * cover->words];
}

/* Return the heaviest candidate of a list. Sets cover->heaviest. */
static uint32_t find_heaviest(struct exact_cover *cover, const uint32_t *list, uint32_t count)
{
	uint32_t best = 0, weight, i;

	cover->heaviest = 0;
	for (i = 0; i < count; i++) {
		weight = weigh_new(cover, key_of(cover, list[i]));
		if (weight > cover->heaviest) {
			cover->heaviest = weight;
			best = list[i];
		}
	}
	return best;
}

/* List all candidates in live[], then behind them the heavy ones. Returns their number. */
static uint32_t list_heavy(struct exact_cover *cover, uint32_t count)
{
	uint32_t heavy = 0, i;

	for (i = 0; i < count; i++) {
		if (weigh_new(cover, key_of(cover, i)) >= cover->heaviest - cover->heaviest / 16)
			cover->live[count + heavy++] = i;
	}
	return heavy;
}

static uint32_t sum_weights(const struct exact_cover *cover)
{
	uint32_t sum = 0, pair;

	for (pair = 0; pair < cover->pairs; pair++)
		sum += cover->weight[pair];
	return sum;
}

/*
 * The most that own pairs can weigh: the heaviest pair of each sender. Sets cover->own_most, and
 * these pairs in @key.
 */
static uint32_t weigh_own(struct exact_cover *cover, uint64_t *key)
{
	uint32_t sum = 0, row, pair, best;

	memset(key, 0, EXACT_MOST_WORDS * sizeof(*key));
	for (row = 0; row < cover->side; row++) {
		best = row * cover->side;
		for (pair = best + 1; pair < (row + 1) * cover->side; pair++)
			best = cover->weight[pair] > cover->weight[best] ? pair : best;
		key[best / 64] |= 1ull << best % 64;
		cover->own_most[row] = cover->weight[best];
		sum += cover->weight[best];
	}
	return sum;
}

/* Make the pairs of a candidate lighter. */
static void lighten(struct exact_cover *cover, const uint64_t *key, uint32_t shift)
{
	uint32_t most = 0, pair;

	for (pair = 0; pair < cover->pairs; pair++) {
		if (key[pair / 64] >> pair % 64 & 1)
			cover->weight[pair] -= cover->weight[pair] >> shift;
		most = cover->weight[pair] > most ? cover->weight[pair] : most;
	}
	for (pair = 0; pair < cover->pairs && most < MOST_LENGTH / 2; pair++)
		cover->weight[pair] *= 2;
}

/* Whether the present weights prove more than the best so far. Then they become the best. */
static bool keep_better(struct exact_cover *cover, struct weights *best)
{
	uint64_t own[EXACT_MOST_WORDS];
	uint32_t sum = sum_weights(cover) - weigh_own(cover, own);

	if ((uint64_t)sum * best->heaviest <= (uint64_t)best->sum * cover->heaviest)
		return false;
	memcpy(best->weight, cover->weight, sizeof(best->weight));
	best->sum = sum;
	best->heaviest = cover->heaviest;
	return true;
}

/*
 * Improve the weights by steps of one size. All candidates are weighed once per 2^(shift-2) steps,
 * else those that were heavy then.
 */
static void improve(struct exact *exact, struct weights *best, uint32_t shift)
{
	struct exact_cover *cover = &exact->cover;
	const uint32_t count = exact->candidates.count, period = 1u << (shift - 2);
	uint32_t n = cover->rounds << shift, heavy = count, candidate, i;
	uint64_t own[EXACT_MOST_WORDS];

	memcpy(cover->weight, best->weight, sizeof(best->weight));
	for (i = 0; i < n; i++) {
		if (i % period == 0) {
			if (exact->steps <= 2 * (uint64_t)count)
				return;
			exact->steps -= 2 * (uint64_t)count;
			candidate = find_heaviest(cover, cover->live, count);
			keep_better(cover, best);
			heavy = list_heavy(cover, count);
		} else {
			if (exact->steps <= heavy)
				return;
			exact->steps -= heavy;
			candidate = find_heaviest(cover, &cover->live[count], heavy);
		}
		lighten(cover, key_of(cover, candidate), shift);
		if (cover->side && i % cover->rounds == 0) {
			weigh_own(cover, own);
			lighten(cover, own, shift);
		}
	}
}

/* Set the weights, as far as the budget lasts. 0, or a noted -ENOMEM. */
static int weigh(struct exact *exact)
{
	struct exact_cover *cover = &exact->cover;
	const uint32_t count = exact->candidates.count;
	const uint64_t reserve = exact->steps - exact->steps / 4;
	struct weights best = { .heaviest = 1 };
	uint32_t shift, most = 1, i;
	int error = lm_exact_reserve(exact, &cover->live_block,
				     2 * (size_t)(count + 1) * sizeof(*cover->live));

	if (error)
		return error;
	exact->steps -= reserve;
	cover->live = cover->live_block.memory;
	for (i = 0; i < count; i++)
		cover->live[i] = i;
	for (i = 0; i < cover->pairs; i++)
		best.weight[i] = MOST_LENGTH;
	for (shift = FIRST_SHIFT; shift <= LAST_SHIFT; shift++) {
		if (best.sum > (uint64_t)cover->rounds * best.heaviest)
			break;
		improve(exact, &best, shift);
	}
	for (i = 0; i < cover->pairs; i++)
		most = best.weight[i] > most ? best.weight[i] : most;
	for (i = 0; i < cover->pairs; i++)
		cover->weight[i] = (uint32_t)((uint64_t)best.weight[i] * MOST_WEIGHT / most);
	find_heaviest(cover, cover->live, count);
	exact->steps += reserve;
	return 0;
}

/* ------------------------------------------------------------------ covers */

/* The uncovered pair that the fewest live candidates have, EXACT_MOST_PAIRS if none is left. */
static uint32_t rarest_pair(const struct exact_cover *cover, const uint32_t *live, uint32_t count)
{
	uint32_t counts[EXACT_MOST_PAIRS] = { 0 }, best = EXACT_MOST_PAIRS, i, word, pair;
	const uint64_t *key;
	uint64_t left;

	for (i = 0; i < count; i++) {
		key = key_of(cover, live[i]);
		for (word = 0; word < cover->words; word++) {
			for (left = key[word] & ~cover->covered[word]; left; left &= left - 1)
				counts[64 * word + (uint32_t)__builtin_ctzll(left)]++;
		}
	}
	for (pair = 0; pair < cover->pairs; pair++) {
		if (cover->covered[pair / 64] >> pair % 64 & 1)
			continue;
		if (best == EXACT_MOST_PAIRS || counts[pair] < counts[best])
			best = pair;
	}
	return best;
}

static bool has_pair(const struct exact_cover *cover, uint32_t candidate, uint32_t pair)
{
	return key_of(cover, candidate)[pair / 64] >> pair % 64 & 1;
}

/* Whether each pair that a candidate covers newly is also one of another candidate. */
static bool is_within(const struct exact_cover *cover, uint32_t one, uint32_t other)
{
	const uint64_t *inner = key_of(cover, one), *outer = key_of(cover, other);
	uint32_t word;

	for (word = 0; word < cover->words; word++) {
		if (inner[word] & ~cover->covered[word] & ~outer[word])
			return false;
	}
	return true;
}

static void exchange(uint32_t *live, uint32_t one, uint32_t other)
{
	uint32_t candidate = live[one];

	live[one] = live[other];
	live[other] = candidate;
}

/* Bring the candidates with a pair to the front. Returns their number. */
static uint32_t gather(const struct exact_cover *cover, uint32_t *live, uint32_t count,
		       uint32_t pair)
{
	uint32_t front = 0, i;

	for (i = 0; i < count; i++) {
		if (has_pair(cover, live[i], pair))
			exchange(live, front++, i);
	}
	return front;
}

/* Bring the heaviest candidate to the front. */
static void bring_heaviest(const struct exact_cover *cover, uint32_t *live, uint32_t count)
{
	uint32_t best = 0, most = 0, weight, i;

	for (i = 0; i < count; i++) {
		weight = weigh_new(cover, key_of(cover, live[i]));
		if (weight > most) {
			most = weight;
			best = i;
		}
	}
	exchange(live, 0, best);
}

/* Whether a candidate of the list covers what the last one covers. */
static bool is_last_redundant(const struct exact_cover *cover, const uint32_t *live, uint32_t last)
{
	uint32_t i = 0;

	while (i < last && !is_within(cover, live[last], live[i]))
		i++;
	return i < last;
}

/*
 * Copy the live candidates of a list that waste at most @slack behind it, for the next round.
 * Returns their number, or a noted -ENOMEM.
 */
static int64_t filter(struct exact *exact, size_t first, uint32_t count, uint32_t slack)
{
	struct exact_cover *cover = &exact->cover;
	uint32_t kept = 0, i;
	uint32_t *live;
	int error = lm_exact_reserve(exact, &cover->live_block,
				     (first + 2 * (size_t)count) * sizeof(*live));

	if (error)
		return error;
	cover->live = cover->live_block.memory;
	live = &cover->live[first];
	for (i = 0; i < count; i++) {
		if (weigh_new(cover, key_of(cover, live[i])) + slack >= cover->heaviest)
			live[count + kept++] = live[i];
	}
	return kept;
}

static int choose(struct exact *exact, size_t first, uint32_t count, uint32_t round,
		  uint32_t slack);

/* Choose the first candidate of a list for a round, and candidates behind it for the later ones. */
static int choose_first(struct exact *exact, size_t first, uint32_t count, uint32_t round,
			uint32_t slack)
{
	struct exact_cover *cover = &exact->cover;
	uint32_t candidate = cover->live[first], word;
	uint64_t covered[EXACT_MOST_WORDS];
	int64_t kept;
	int result;

	if (exact->steps <= count)
		return EXACT_UNDECIDED;
	exact->steps -= count;
	cover->chosen[round] = candidate;
	slack -= cover->heaviest - weigh_new(cover, key_of(cover, candidate));
	memcpy(covered, cover->covered, sizeof(covered));
	for (word = 0; word < cover->words; word++)
		cover->covered[word] |= key_of(cover, candidate)[word];
	kept = filter(exact, first + 1, count - 1, slack);
	result = kept < 0 ? (int)kept :
			    choose(exact, first + count, (uint32_t)kept, round + 1, slack);
	memcpy(cover->covered, covered, sizeof(covered));
	return result;
}

/* No round has a pair: it is an own pair, if its sender and its receiver have no other one. */
static int choose_own(struct exact *exact, size_t first, uint32_t count, uint32_t pair,
		      uint32_t round, uint32_t slack)
{
	struct exact_cover *cover = &exact->cover;
	uint32_t row = pair / cover->side, column = pair % cover->side;
	uint32_t lacks = cover->own_most[row] - cover->weight[pair];
	int64_t kept;
	int result;

	if (cover->own_row[row] != EXACT_ALONE || cover->own_columns >> column & 1 || lacks > slack)
		return EXACT_REFUTED;
	if (exact->steps <= count)
		return EXACT_UNDECIDED;
	exact->steps -= count;
	cover->own_row[row] = (uint8_t)column;
	cover->own_columns |= 1u << column;
	cover->covered[pair / 64] |= 1ull << pair % 64;
	kept = filter(exact, first, count, slack - lacks);
	result = kept < 0 ? (int)kept :
			    choose(exact, first + count, (uint32_t)kept, round, slack - lacks);
	cover->covered[pair / 64] &= ~(1ull << pair % 64);
	if (result == EXACT_FOUND)
		return result;
	cover->own_row[row] = EXACT_ALONE;
	cover->own_columns &= ~(1u << column);
	return result;
}

/*
 * Choose the candidate of a round and of the later ones: one of those that have the rarest pair. A
 * round that covers less than the heaviest candidate wastes the rest; all rounds waste @slack at
 * most. A candidate that failed is of no use with the ones after it either.
 */
static int choose(struct exact *exact, size_t first, uint32_t count, uint32_t round, uint32_t slack)
{
	struct exact_cover *cover = &exact->cover;
	uint32_t pair = rarest_pair(cover, &cover->live[first], count), front = 0, i;
	int result = EXACT_REFUTED;

	if (pair == EXACT_MOST_PAIRS)
		return EXACT_FOUND;
	if (round < cover->rounds)
		front = gather(cover, &cover->live[first], count, pair);
	for (i = 0; i < front && result == EXACT_REFUTED; i++) {
		bring_heaviest(cover, &cover->live[first + i], front - i);
		if (!is_last_redundant(cover, &cover->live[first], i))
			result = choose_first(exact, first + i, count - i, round, slack);
	}
	if (result == EXACT_REFUTED && cover->side)
		result = choose_own(exact, first + front, count - front, pair, round, slack);
	return result;
}

/* Cover all pairs with the present weights. */
static int cover_all(struct exact *exact)
{
	struct exact_cover *cover = &exact->cover;
	uint32_t total = sum_weights(cover), room = cover->rounds * cover->heaviest, i;
	uint64_t own[EXACT_MOST_WORDS];
	int64_t kept;
	int error;

	room += weigh_own(cover, own);
	if (room < total)
		return EXACT_REFUTED;
	error = lm_exact_reserve(exact, &cover->live_block,
				 (exact->candidates.count + 1) * sizeof(*cover->live));
	if (error)
		return error;
	cover->live = cover->live_block.memory;
	for (i = 0; i < exact->candidates.count; i++)
		cover->live[i] = i;
	kept = filter(exact, 0, exact->candidates.count, room - total);
	return kept < 0 ? (int)kept :
			  choose(exact, exact->candidates.count, (uint32_t)kept, 0, room - total);
}

static void begin_cover(struct exact *exact, uint32_t rounds)
{
	struct exact_cover *cover = &exact->cover;

	cover->keys = exact->candidates.keys;
	cover->words = exact->candidates.words;
	cover->rounds = rounds;
	memset(cover->covered, 0, sizeof(cover->covered));
	memset(cover->own_row, EXACT_ALONE, sizeof(cover->own_row));
	cover->own_columns = 0;
}

int lm_exact_cover(struct exact *exact, uint32_t rounds)
{
	struct exact_cover *cover = &exact->cover;
	uint32_t pair;

	begin_cover(exact, rounds);
	for (pair = 0; pair < cover->pairs; pair++)
		cover->weight[pair] = 1;
	cover->heaviest = cover->full;
	return cover_all(exact);
}

int lm_exact_cover_weighed(struct exact *exact, uint32_t rounds)
{
	int error;

	begin_cover(exact, rounds);
	error = weigh(exact);
	return error ? error : cover_all(exact);
}

/* Most covers are refuted soon. Weights cost more than that, but save steps of the others. */
int lm_exact_cover_briefly(struct exact *exact, uint32_t rounds)
{
	uint64_t brief = (uint64_t)BRIEF * (exact->candidates.count + 1), reserve;
	int result;

	reserve = exact->steps > brief ? exact->steps - brief : 0;
	exact->steps -= reserve;
	result = lm_exact_cover(exact, rounds);
	exact->steps += reserve;
	if (result != EXACT_UNDECIDED || !reserve)
		return result;
	return lm_exact_cover_weighed(exact, rounds);
}
