// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shared by tests of protection and of its checker. */
#include "../internal/planner.h"
#include "protecting.h"

static struct morph_check_bytes blob(void **to, ssize_t bytes)
{
	assert_true(bytes > 0);
	*to = malloc((size_t)bytes);
	assert_non_null(*to);
	return (struct morph_check_bytes){ *to, (size_t)bytes };
}

static void ask_again(struct morph_request *request, const struct morph_plan *plan)
{
	assert_int_equal(morph_request_set_count(request, plan->ranks), 0);
	for (uint32_t at = 0; at < plan->circuits_count; at++)
		assert_int_equal(morph_request_add_circuit(request, plan->circuits[at].src,
							   plan->circuits[at].dst),
				 0);
	assert_int_equal(morph_request_set_transit(request, plan->transit), 0);
}

void shield_write(const struct bench *bench, const struct morph_plan *plan,
		  const struct morph_protection *protection, struct shield *shield)
{
	struct morph_check_protection_input *input = &shield->input;
	void **blobs = shield->blobs;

	*input = (struct morph_check_protection_input){ .profile = { rack_profile, rack_bytes } };
	ask_again(bench->request, plan);
	input->ledger = blob(&blobs[0], morph_ledger_write(bench->ledger, NULL, 0));
	input->request =
		blob(&blobs[1], morph_request_write(bench->request, bench->ledger, NULL, 0));
	input->plan = blob(&blobs[2], morph_plan_write(plan, bench->ledger, NULL, 0));
	input->protection = blob(&blobs[3], morph_protection_write(protection, NULL, 0));
	morph_ledger_write(bench->ledger, blobs[0], input->ledger.bytes);
	morph_request_write(bench->request, bench->ledger, blobs[1], input->request.bytes);
	morph_plan_write(plan, bench->ledger, blobs[2], input->plan.bytes);
	assert_int_equal(morph_protection_write(protection, blobs[3], input->protection.bytes),
			 input->protection.bytes);
	assert_int_equal(morph_protection_write(protection, blobs[3], input->protection.bytes - 4),
			 -ENOSPC);
	morph_protection_write(protection, blobs[3], input->protection.bytes);
}

void shield_free(struct shield *shield)
{
	for (uint32_t at = 0; at < ARRAY_SIZE(shield->blobs); at++)
		free(shield->blobs[at]);
}

uint32_t protected(const struct bench *bench, const struct morph_plan *plan,
		   struct morph_protection *protection)
{
	size_t bytes = (size_t)morph_ledger_write(bench->ledger, NULL, 0);
	void *before = malloc(bytes);
	struct shield shield;
	char report[256];

	assert_non_null(before);
	morph_ledger_write(bench->ledger, before, bytes);
	if (morph_protect(bench->ledger, plan, protection))
		fail_msg("%s", morph_error_text(bench->ctx));
	shield_write(bench, plan, protection, &shield);
	assert_memory_equal(before, shield.blobs[0], bytes);
	if (morph_check_protection(&shield.input, report, sizeof(report)))
		fail_msg("%s", report);
	shield_free(&shield);
	free(before);
	return morph_protection_verdict(protection);
}

/* Leave so few fibres that circuits to a spare and circuits from it compete. */
static void thin_out(const struct corner *corner, uint64_t *seed)
{
	struct morph_ledger *ledger = corner->bench->ledger;
	uint32_t percent = random_below(seed, 2) * 40;

	for (uint32_t at = 0; at < ledger->sites.strands_count; at++)
		if (random_below(seed, 100) < percent)
			morph_ledger_load(ledger, ledger->sites.strands[at].guides[0] >> 1, 1);
}

void protecting_run(struct corner *corner, uint64_t *seed)
{
	struct morph_ledger *ledger = corner->bench->ledger;
	bool all = false; /* that is left of a server */
	uint32_t fibres;

	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_ledger_set_spare(ledger, at, false);
	corner_clear(corner);
	corner_choose(corner, 4 + random_below(seed, 3));
	fibres = 1 + random_below(seed, 2);
	corner_fence(corner, seed, 2 + random_below(seed, 3), fibres);
	thin_out(corner, seed);
	corner_run(corner, seed, 1 + random_below(seed, 4));
	for (uint32_t at = 0; at < ACCELERATORS; at++) {
		if (at % 4 == 0)
			all = random_below(seed, 2);
		if (!ledger->owner[at] && (all || random_below(seed, 3) == 0))
			morph_ledger_set_spare(ledger, at, true);
	}
	/* As if other tenants had moved into the servers of these slices. */
	for (uint32_t at = 0; at < corner->count; at++)
		if (random_below(seed, 3) == 0)
			corner->plans[at]->transit = MORPH_TRANSIT_OWN;
}

/* ------------------------------------------------------------------- by force */

struct morph_protection *new_protection(const struct bench *bench)
{
	struct morph_protection *protection = morph_protection_new(bench->ctx);

	assert_non_null(protection);
	return protection;
}

void place_torus(struct bench *bench, struct morph_plan *plan, const uint32_t extent[3],
		 uint32_t slice)
{
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, extent[0],
						 extent[1], extent[2]),
			 0);
	assert_int_equal(placed(bench, plan), MORPH_FEASIBLE);
	assert_int_equal(morph_ledger_take(bench->ledger, plan, slice), 0);
}

void *copy_of(const struct morph_ledger *ledger, size_t *bytes)
{
	void *copy;

	*bytes = (size_t)morph_ledger_write(ledger, NULL, 0);
	copy = malloc(*bytes);
	assert_non_null(copy);
	assert_int_equal(morph_ledger_write(ledger, copy, *bytes), *bytes);
	return copy;
}

/* Check that the ledger is unchanged. */
void ledger_is(const struct morph_ledger *ledger, void *copy, size_t bytes)
{
	void *now = copy_of(ledger, &bytes);

	assert_memory_equal(now, copy, bytes);
	free(now);
	free(copy);
}

/* The fibres of a rack without those of a failed rank, and the rank's circuits between servers. */
struct trial {
	const struct corner *corner;
	const struct morph_plan *plan;
	uint32_t rank, slice;
	uint32_t seats, fibres[NET_SITES][NET_SITES];
	bool stops[NET_SITES];
	uint32_t circuits, from[DEMANDS], to[DEMANDS];
};

static bool concerns(const struct trial *trial, uint32_t circuit)
{
	return trial->plan->circuits[circuit].src == trial->rank ||
	       trial->plan->circuits[circuit].dst == trial->rank;
}

/* Check whether the failed rank gives up a guide. */
static bool left_alone(const struct trial *trial, uint32_t guide)
{
	for (uint32_t at = 0; at < trial->plan->circuits_count; at++) {
		const struct circuit_way *way = &trial->plan->ways[at];

		for (uint32_t hop = way->first;
		     concerns(trial, at) && hop < way->first + way->count; hop++)
			if (trial->plan->strands[hop].guides[0] >> 1 == guide)
				return true;
	}
	return false;
}

static void count_fibres(struct trial *trial)
{
	const struct morph_ledger *ledger = trial->corner->bench->ledger;
	const struct sites *sites = &ledger->sites;

	assert_true(sites->racks_count == 1);
	trial->seats = sites->graph->hosts_count;
	memset(trial->fibres, 0, sizeof(trial->fibres));
	for (uint32_t at = 0; at < sites->strands_count; at++) {
		const struct strand *strand = &sites->strands[at];
		uint32_t guide = strand->guides[0] >> 1;

		assert_true(strand->guides_count == 1);
		trial->fibres[sites->host_seat[strand->from]][sites->host_seat[strand->to]] +=
			!ledger->guide_marked[guide] &&
			(!ledger->guide_lanes[guide] || left_alone(trial, guide));
	}
	for (uint32_t at = 0; at < sites->graph->accelerators_count; at++) {
		uint32_t seat = sites->host_seat[sites->graph->accelerators[at].host];

		if (!(at && sites->graph->accelerators[at - 1].host ==
				    sites->graph->accelerators[at].host))
			trial->stops[seat] = false;
		trial->stops[seat] |= trial->plan->transit == MORPH_TRANSIT_OWN &&
				      ledger->owner[at] != trial->slice &&
				      (ledger->owner[at] || !ledger->spare[at]);
	}
}

/* Try each path of a circuit, with each path of the circuits after it. */
static bool lead(struct trial *trial, uint32_t circuit, uint32_t at, uint64_t seen)
{
	if (circuit == trial->circuits)
		return true;
	if (at == trial->to[circuit])
		return lead(trial, circuit + 1, trial->from[circuit + 1],
			    1ULL << trial->from[circuit + 1]);
	if (trial->stops[at] && at != trial->from[circuit])
		return false;
	for (uint32_t next = 0; next < trial->seats; next++) {
		bool led;

		if (seen >> next & 1 || !trial->fibres[at][next])
			continue;
		trial->fibres[at][next]--;
		led = lead(trial, circuit, next, seen | 1ULL << next);
		trial->fibres[at][next]++;
		if (led)
			return true;
	}
	return false;
}

static uint32_t seat_of(const struct trial *trial, uint32_t rank, uint32_t spare)
{
	const struct sites *sites = &trial->corner->bench->ledger->sites;
	uint32_t chip = rank == trial->rank ? spare : trial->plan->accelerators[rank];

	return sites->host_seat[sites->graph->accelerators[chip].host];
}

static bool spare_does(struct trial *trial, uint32_t spare)
{
	trial->circuits = 0;
	for (uint32_t at = 0; at < trial->plan->circuits_count; at++) {
		if (!concerns(trial, at))
			continue;
		trial->from[trial->circuits] = seat_of(trial, trial->plan->circuits[at].src, spare);
		trial->to[trial->circuits++] = seat_of(trial, trial->plan->circuits[at].dst, spare);
	}
	trial->from[trial->circuits] = 0;
	return lead(trial, 0, trial->from[0], 1ULL << trial->from[0]);
}

bool any_spare_does(const struct corner *corner, uint32_t plan, uint32_t rank)
{
	const struct morph_ledger *ledger = corner->bench->ledger;
	struct trial trial = {
		.corner = corner, .plan = corner->plans[plan], .rank = rank, .slice = plan + 1
	};

	count_fibres(&trial);
	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++)
		if (ledger->spare[at] && !ledger->chip_marked[at] && !ledger->owner[at] &&
		    spare_does(&trial, at))
			return true;
	return false;
}
