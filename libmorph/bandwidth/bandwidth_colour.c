// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Wavelengths for circuits: colouring, with resources that take several of one colour. A circuit
 * gets the first wavelength that all of its resources have left. Where there is none, two
 * wavelengths are exchanged along a chain of circuits, as in Kempe's proof: the new one takes
 * the first, those that are too many then take the second, and so on. Where circuits use two
 * resources each, one of either kind, as ports without guides, chains always come to an end
 * (König's theorem), here if they are not too long. Else they may fail; then all is begun anew, in
 * other orders, and in between all ways are looked at.
 */
#include "bandwidth.h"
#include "../util/mix.h"

#define MOST_MOVES 256 /* of a chain */
#define ORDERS 4
#define MORE_ORDERS 64

struct bw_chain {
	uint32_t count;
	struct {
		uint32_t type;
		uint32_t to;
	} moves[MOST_MOVES];
	uint32_t order[]; /* types */
};

struct bw_chain *lm_bw_chain_new(const struct morph_bw *bw)
{
	struct bw_chain *chain;

	return calloc(1, sizeof(*chain) + bw->types_count * sizeof(chain->order[0]));
}

void lm_bw_copy(const struct morph_bw *bw, struct bw_colours *to, const struct bw_colours *from)
{
	memcpy(to->taken, from->taken,
	       (size_t)bw->types_count * bw->wavelengths * sizeof(*to->taken));
	memcpy(to->load, from->load,
	       (size_t)bw->resources.count * bw->wavelengths * sizeof(*to->load));
	memcpy(to->placed, from->placed, bw->types_count * sizeof(*to->placed));
}

void lm_bw_clear(const struct morph_bw *bw, struct bw_colours *colours)
{
	memset(colours->taken, 0,
	       (size_t)bw->types_count * bw->wavelengths * sizeof(*colours->taken));
	memset(colours->load, 0,
	       (size_t)bw->resources.count * bw->wavelengths * sizeof(*colours->load));
	memset(colours->placed, 0, bw->types_count * sizeof(*colours->placed));
}

static const uint32_t *way_of(const struct morph_bw *bw, uint32_t type)
{
	return bw->ways.list + bw->types[type].first;
}

static uint16_t *taken(const struct morph_bw *bw, uint32_t type, uint32_t wavelength)
{
	return &bw->now.taken[(size_t)type * bw->wavelengths + wavelength];
}

static uint16_t *load(const struct morph_bw *bw, uint32_t resource, uint32_t wavelength)
{
	return &bw->now.load[(size_t)resource * bw->wavelengths + wavelength];
}

void lm_bw_shift(struct morph_bw *bw, uint32_t type, uint32_t wavelength, int circuits)
{
	const uint32_t *way = way_of(bw, type);

	for (uint32_t at = 0; at < bw->types[type].count; at++)
		*load(bw, way[at], wavelength) += (uint16_t)circuits;
	*taken(bw, type, wavelength) += (uint16_t)circuits;
	bw->now.placed[type] += (uint32_t)circuits;
}

uint32_t lm_bw_room(const struct morph_bw *bw, uint32_t type, uint32_t wavelength)
{
	const uint32_t *way = way_of(bw, type);
	uint32_t room = UINT32_MAX;

	for (uint32_t at = 0; room && at < bw->types[type].count; at++) {
		uint32_t left = bw->resources.list[way[at]].fibres - *load(bw, way[at], wavelength);

		if (left < room)
			room = left;
	}
	return room;
}

/* ------------------------------------------------------------------- chains */

/* Resources of a type that have nothing left of that wavelength. */
static uint32_t blocked(const struct morph_bw *bw, uint32_t type, uint32_t wavelength)
{
	const uint32_t *way = way_of(bw, type);
	uint32_t count = 0;

	for (uint32_t at = 0; at < bw->types[type].count; at++)
		count += *load(bw, way[at], wavelength) >= bw->resources.list[way[at]].fibres;
	return count;
}

/* Circuits of a type that have got that wavelength in this chain: they stay. */
static uint32_t arrived(const struct bw_chain *chain, uint32_t type, uint32_t wavelength)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < chain->count; at++)
		count += chain->moves[at].type == type && chain->moves[at].to == wavelength;
	return count;
}

static bool move(struct morph_bw *bw, uint32_t type, uint32_t to)
{
	struct bw_chain *chain = bw->chain;

	if (chain->count == MOST_MOVES)
		return false;
	lm_bw_shift(bw, type, to, 1);
	chain->moves[chain->count].type = type;
	chain->moves[chain->count++].to = to;
	return true;
}

/* A resource has one too many of @from: something there is to have @to, which hurts least. */
static bool relieve(struct morph_bw *bw, uint32_t number, uint32_t from, uint32_t to)
{
	const struct bw_resource *resource = &bw->resources.list[number];
	uint32_t best = UINT32_MAX, least = UINT32_MAX;

	for (uint32_t at = 0; least && at < resource->count; at++) {
		uint32_t type = bw->users[resource->first + at], hurts;

		if (!*taken(bw, type, from))
			continue;
		hurts = blocked(bw, type, to);
		if (hurts >= least || *taken(bw, type, from) <= arrived(bw->chain, type, from))
			continue;
		least = hurts;
		best = type;
	}
	if (best == UINT32_MAX || !move(bw, best, to))
		return false;
	lm_bw_shift(bw, best, from, -1);
	return true;
}

/* One more circuit of a type, with wavelength @one, exchanged with @other where need be. */
static bool exchange(struct morph_bw *bw, uint32_t type, uint32_t one, uint32_t other)
{
	struct bw_chain *chain = bw->chain;
	bool fits = true;

	chain->count = 0;
	move(bw, type, one);
	for (uint32_t at = 0; fits && at < chain->count; at++) {
		uint32_t its = chain->moves[at].type, from = chain->moves[at].to;
		const uint32_t *way = way_of(bw, its);

		for (uint32_t use = 0; fits && use < bw->types[its].count; use++)
			while (fits &&
			       *load(bw, way[use], from) > bw->resources.list[way[use]].fibres)
				fits = relieve(bw, way[use], from, one + other - from);
	}
	while (!fits && chain->count--) {
		uint32_t its = chain->moves[chain->count].type;
		uint32_t to = chain->moves[chain->count].to;

		lm_bw_shift(bw, its, to, -1);
		if (chain->count)
			lm_bw_shift(bw, its, one + other - to, 1);
	}
	return fits;
}

/* The new circuit takes a wavelength that fewest of its resources lack. */
static bool place_by_exchange(struct morph_bw *bw, uint32_t type)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t at = 0; at < bw->wavelengths; at++) {
		uint32_t lack = blocked(bw, type, at);

		if (lack < least)
			least = lack;
	}
	for (uint32_t one = 0; one < bw->wavelengths; one++) {
		if (blocked(bw, type, one) > least)
			continue;
		for (uint32_t other = 0; other < bw->wavelengths; other++) {
			if (other == one)
				continue;
			bw->steps++;
			if (exchange(bw, type, one, other))
				return true;
		}
	}
	return false;
}

/* All circuits that a type wants. */
static bool place(struct morph_bw *bw, uint32_t type)
{
	uint32_t wanted = bw->types[type].wanted;

	for (uint32_t at = 0; at < bw->wavelengths && bw->now.placed[type] < wanted; at++) {
		uint32_t missing = wanted - bw->now.placed[type], room = lm_bw_room(bw, type, at);

		lm_bw_shift(bw, type, at, (int)(room < missing ? room : missing));
	}
	while (bw->now.placed[type] < wanted)
		if (!place_by_exchange(bw, type))
			return false;
	return true;
}

/* ---------------------------------------------------------------------- all */

/* From the last wavelengths that fitted. */
static bool colour_on(struct morph_bw *bw)
{
	bool fits = true;

	lm_bw_copy(bw, &bw->now, &bw->good);
	for (uint32_t type = 0; type < bw->types_count; type++) {
		for (uint32_t at = bw->wavelengths;
		     at-- && bw->now.placed[type] > bw->types[type].wanted;) {
			uint32_t more = bw->now.placed[type] - bw->types[type].wanted;
			uint32_t has = *taken(bw, type, at);

			lm_bw_shift(bw, type, at, -(int)(has < more ? has : more));
		}
	}
	for (uint32_t type = 0; fits && type < bw->types_count; type++)
		fits = place(bw, type);
	return fits;
}

/* From nothing: first what is the same for all wavelengths, then the rest in some order. */
static bool colour_anew(struct morph_bw *bw, uint64_t seed)
{
	uint32_t *order = bw->chain->order;
	uint64_t random = seed;
	bool fits = true;

	bw->steps += lm_bw_look(bw);
	lm_bw_clear(bw, &bw->now);
	for (uint32_t type = 0; type < bw->types_count; type++) {
		uint32_t each = bw->types[type].wanted / bw->wavelengths;
		uint32_t other = seed ? mix_below(&random, type + 1) : type;

		for (uint32_t at = 0; each && at < bw->wavelengths; at++)
			lm_bw_shift(bw, type, at, (int)each);
		order[type] = order[other];
		order[other] = type;
	}
	for (uint32_t at = 0; fits && at < bw->types_count; at++)
		fits = place(bw, order[at]);
	return fits;
}

enum bw_answer lm_bw_colour(struct morph_bw *bw)
{
	uint64_t left = bw->limit > bw->steps ? bw->limit - bw->steps : 0;
	uint64_t last = bw->steps + (left < bw->share ? left : bw->share);
	enum bw_answer answer = BW_UNKNOWN;
	bool fits = colour_on(bw);
	uint64_t seed = 0;

	while (!fits && seed < ORDERS && bw->steps < last)
		fits = colour_anew(bw, seed++);
	if (!fits)
		answer = lm_bw_exhaust(bw, last);
	while (!fits && answer == BW_UNKNOWN && seed < MORE_ORDERS && bw->steps < last)
		fits = colour_anew(bw, seed++);
	if (fits)
		answer = BW_YES;
	if (answer == BW_YES)
		lm_bw_copy(bw, &bw->good, &bw->now);
	return answer;
}
