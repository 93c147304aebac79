// SPDX-License-Identifier: LGPL-2.1-or-later
/* All states of small meshes, and exact and greedy covers of all pairs by them. */
#include <stdio.h>

#include "../model/model.h"
#include "small_meshes.h"

struct mesh meshes[] = { { .width = 1, .height = 1 },
			 { .width = 1, .height = 2 },
			 { .width = 3, .height = 1 } };
const char *const *mesh_paths;
struct answer *base;
struct answer mutant;
char report[256];

/* ---------------------------------------------------------------------- meshes */

static uint32_t guide_end(const struct optics_graph *graph, uint32_t code)
{
	const struct optics_end *end = &graph->guides[code >> 1].end[code & 1];

	switch (end->type) {
	case MORPH_END_TX:
		return AT_PORT | 2 * end->index;
	case MORPH_END_RX:
		return AT_PORT | (2 * end->index + 1);
	}
	return 4 * end->index + end->port;
}

static void read_mesh(struct mesh *mesh, const struct optics_graph *graph)
{
	mesh->elements = graph->elements_count;
	mesh->ports = 2 * graph->accelerators_count;
	assert_true(mesh->elements <= ELEMENTS && mesh->ports <= PORTS);
	assert_int_equal(graph->guides_count, 2 * mesh->elements + mesh->ports / 2);
	for (uint32_t code = 0; code < 2 * graph->guides_count; code++) {
		uint32_t from = guide_end(graph, code), to = guide_end(graph, code ^ 1);

		if (from & AT_PORT)
			mesh->entry[from & ~AT_PORT] = to;
		else
			mesh->next[from] = to;
	}
}

static void *read_file(const char *path, size_t *bytes)
{
	FILE *in = fopen(path, "r");
	void *data = malloc(1 << 16);

	assert_non_null(in);
	assert_non_null(data);
	*bytes = fread(data, 1, 1 << 16, in);
	fclose(in);
	return data;
}

uint32_t follow(const struct mesh *mesh, uint32_t setting, uint32_t port, uint32_t *places,
		uint32_t *count)
{
	uint32_t at = mesh->entry[port];

	*count = 0;
	while (!(at & AT_PORT)) {
		assert_true(*count < PLACES);
		places[(*count)++] = at;
		at = mesh->next[at ^ (setting >> at / 4 & 1 ? 2 : 1)];
	}
	return at & ~AT_PORT;
}

static void read_meshes(void)
{
	uint32_t places[PLACES], count;

	for (uint32_t number = 0; number < 3; number++) {
		struct mesh *mesh = &meshes[number];
		struct morph_model *model;

		assert_int_equal(morph_model_load(ctx, mesh_paths[number], &model), 0);
		read_mesh(mesh, lm_model_graph(model));
		morph_model_put(model);
		mesh->profile = read_file(mesh_paths[number], &mesh->bytes);
		for (uint32_t setting = 0; setting < 1U << mesh->elements; setting++)
			for (uint32_t port = 0; port < mesh->ports; port++)
				mesh->partner[setting][port] =
					(uint8_t)follow(mesh, setting, port, places, &count);
	}
}

/* --------------------------------------------------------------------- answers */

int check(struct answer *answer)
{
	struct morph_check_matchings_input *in = &answer->in;

	in->tx = answer->tx;
	in->rx = answer->rx;
	in->failed = &answer->failed;
	in->stuck = &answer->stuck;
	in->stuck_states = &answer->stuck_state;
	in->round_first = answer->round_first;
	in->circuits = answer->circuits;
	in->elements = answer->elements;
	in->states = answer->states;
	return morph_check_matchings(in, report, sizeof(report));
}

void accepted(struct answer *answer)
{
	if (check(answer))
		fail_msg("%s", report);
}

void refused(struct answer *answer, int error, const char *text)
{
	int ret = check(answer);

	assert_string_equal(report, text);
	assert_int_equal(ret, -error);
}

static struct answer *new_answer(const struct mesh *mesh, uint32_t kind, uint32_t endpoints)
{
	struct answer *answer = calloc(1, sizeof(*answer));

	assert_non_null(answer);
	answer->mesh = mesh;
	answer->in = (struct morph_check_matchings_input){
		.kind = kind,
		.width = mesh->width,
		.height = mesh->height,
		.endpoints = endpoints,
		.bound = kind == MORPH_CHECK_DIRECTED ? endpoints - 1 : (endpoints - 1) | 1,
	};
	return answer;
}

static void add_round(struct answer *answer)
{
	size_t elements = answer->mesh->elements;

	assert_true(answer->in.rounds < ROUNDS);
	memset(answer->states + answer->in.rounds * elements, 0xff,
	       elements * sizeof(*answer->states));
	answer->round_first[++answer->in.rounds] = answer->circuits_count;
}

uint32_t put_route(struct answer *answer, uint32_t setting, uint32_t port)
{
	uint32_t places[PLACES], count;

	follow(answer->mesh, setting, port, places, &count);
	for (uint32_t hop = 0; hop < count; hop++) {
		assert_true(answer->hops_count < MOST_HOPS);
		answer->elements[answer->hops_count++] = places[hop] / 4;
	}
	return count;
}

/* Add a circuit to the last round. Its elements get their states. */
static void add_circuit(struct answer *answer, uint32_t setting, uint32_t src, uint32_t dst)
{
	size_t round = answer->in.rounds - 1;
	uint16_t *states = answer->states + round * answer->mesh->elements;
	uint32_t first = answer->hops_count, count;

	count = put_route(answer, setting, answer->tx[src]);

	for (uint32_t hop = first; hop < first + count; hop++) {
		uint32_t element = answer->elements[hop];

		states[element] = setting >> element & 1;
	}
	answer->circuits[answer->circuits_count++] =
		(struct morph_check_matchings_circuit){ src, dst, first, count };
	answer->round_first[answer->in.rounds] = answer->circuits_count;
	answer->in.total += count;
	if (count > answer->in.longest)
		answer->in.longest = count;
}

/* ----------------------------------------------------------------- exact cover */

#define MATCHINGS 128

struct matchings {
	uint32_t endpoints, count;
	uint64_t pairs[MATCHINGS]; /* bit 8 * a + b for each pair a < b */
	uint32_t setting[MATCHINGS];
	uint32_t chosen[8]; /* by round */
};

/* All matchings of endpoints at these ports that some setting of the mesh has. */
static void find_matchings(struct matchings *all, const struct mesh *mesh, const uint32_t *ports,
			   uint32_t endpoints)
{
	*all = (struct matchings){ .endpoints = endpoints };
	for (uint32_t setting = 0; setting < 1U << mesh->elements; setting++) {
		uint32_t met = 0, known = 0;
		uint64_t pairs = 0;

		for (uint32_t a = 0; a < endpoints; a++)
			for (uint32_t b = a + 1; b < endpoints; b++)
				if (mesh->partner[setting][ports[a]] == ports[b]) {
					pairs |= 1ULL << (8 * a + b);
					met += 2;
				}
		while (known < all->count && all->pairs[known] != pairs)
			known++;
		if (met < endpoints || known < all->count)
			continue;
		assert_true(known < MATCHINGS);
		all->pairs[known] = pairs;
		all->setting[known] = setting;
		all->count++;
	}
}

/* Endpoint 0 meets endpoint @round + 1 in round @round. */
static bool cover(struct matchings *all, uint32_t round, uint64_t met)
{
	if (round == all->endpoints - 1)
		return true;
	for (uint32_t at = 0; at < all->count; at++) {
		if (!(all->pairs[at] >> (round + 1) & 1) || all->pairs[at] & met)
			continue;
		all->chosen[round] = at;
		if (cover(all, round + 1, met | all->pairs[at]))
			return true;
	}
	return false;
}

static struct answer *write_cover(const struct mesh *mesh, const struct matchings *all,
				  const uint32_t *ports)
{
	struct answer *answer = new_answer(mesh, MORPH_CHECK_PAIRS, all->endpoints);

	memcpy(answer->tx, ports, all->endpoints * sizeof(*ports));
	for (uint32_t round = 0; round < all->endpoints - 1; round++) {
		uint32_t chosen = all->chosen[round];

		add_round(answer);
		for (uint32_t bit = 0; bit < 64; bit++)
			if (all->pairs[chosen] >> bit & 1)
				add_circuit(answer, all->setting[chosen], bit / 8, bit % 8);
	}
	return answer;
}

struct answer *join_pairs(const struct mesh *mesh, const uint32_t *ports, uint32_t endpoints)
{
	static struct matchings all;

	find_matchings(&all, mesh, ports, endpoints);
	return cover(&all, 0, 0) ? write_cover(mesh, &all, ports) : NULL;
}

/* -------------------------------------------------------------------- directed */

/* Whether a setting lights a circuit, without the failed element. */
static bool lights(const struct answer *answer, uint32_t setting, uint32_t src, uint32_t dst)
{
	uint32_t places[PLACES], count;

	if (answer->mesh->partner[setting][answer->tx[src]] != answer->rx[dst])
		return false;
	follow(answer->mesh, setting, answer->tx[src], places, &count);
	for (uint32_t hop = 0; hop < count && answer->in.failed_count; hop++)
		if (places[hop] / 4 == answer->failed)
			return false;
	return true;
}

/* The pairs that a setting lights for the first time. Adds them to the last round if @add. */
static uint32_t new_pairs(struct answer *answer, uint32_t setting, bool met[8][8], bool add)
{
	bool duplex = answer->in.kind == MORPH_CHECK_DUPLEX;
	uint32_t count = 0;

	if (answer->in.stuck_count && (setting >> answer->stuck & 1) != answer->stuck_state)
		return 0;
	for (uint32_t src = 0; src < answer->in.endpoints; src++)
		for (uint32_t dst = 0; dst < answer->in.endpoints; dst++) {
			if (src == dst || met[src][dst] || !lights(answer, setting, src, dst) ||
			    (duplex && !lights(answer, setting, dst, src)))
				continue;
			count++;
			met[src][dst] = add;
			if (add)
				add_circuit(answer, setting, src, dst);
		}
	return count;
}

/* Each round has the setting that lights most new pairs. */
void cover_greedily(struct answer *answer)
{
	uint32_t left = answer->in.endpoints * (answer->in.endpoints - 1);
	bool met[8][8] = { { false } };

	while (left) {
		uint32_t best = 0, most = 0;

		for (uint32_t setting = 0; setting < 1U << answer->mesh->elements; setting++) {
			uint32_t count = new_pairs(answer, setting, met, false);

			if (count > most) {
				best = setting;
				most = count;
			}
		}
		assert_true(most > 0);
		add_round(answer);
		left -= new_pairs(answer, best, met, true);
	}
}

struct answer *new_set(const struct mesh *mesh, uint32_t kind, const uint32_t *accelerators,
		       uint32_t endpoints)
{
	struct answer *answer = new_answer(mesh, kind, endpoints);

	for (uint32_t at = 0; at < endpoints; at++) {
		answer->tx[at] = 2 * accelerators[at];
		answer->rx[at] = 2 * accelerators[at] + 1;
	}
	return answer;
}

int begin_meshes(void **state)
{
	/* Nodes 3 1 17 30 40 29. */
	static const uint32_t ports[] = { 11, 0, 1, 3, 6, 8 };

	begin(state);
	read_meshes();
	base = join_pairs(&meshes[1], ports, 6);
	return base ? 0 : -1;
}

int end_meshes(void **state)
{
	free(base);
	for (uint32_t number = 0; number < 3; number++)
		free(meshes[number].profile);
	return end(state);
}
