// SPDX-License-Identifier: LGPL-2.1-or-later
/* The checker rejects each corrupted protection and each corrupted refusal of spares. */
#include "protecting.h"

#define HEAD 5 /* words of the wire form */

/* Positions of the parts of a written protection and its ledger. */
struct parts {
	uint32_t *head, *ranks, *ways, *strands, *refusals, *chips, *guides;
};

static struct parts find_parts(const struct shield *shield)
{
	uint32_t *ledger = (uint32_t *)shield->blobs[0] + HEAD;
	struct parts it = { .head = (uint32_t *)shield->blobs[3] + HEAD };

	it.ranks = it.head + 5;
	it.ways = it.ranks + 6 * it.head[1];
	it.strands = it.ways + 3 * it.head[2];
	it.refusals = it.strands + MORPH_WIRE_STRAND * it.head[3];
	it.chips = ledger + 3;
	it.guides = it.chips + 2 * ledger[0] + ledger[1];
	return it;
}

/* One of the ranks that are protected by fibres. */
static uint32_t any_rank(const struct morph_protection *protection, uint64_t *seed)
{
	for (;;) {
		uint32_t rank = random_below(seed, protection->ranks_count);

		if (protection->ranks[rank].strands_count)
			return rank;
	}
}

/* Corrupt a protection or its ledger, so that the protection is invalid. */
static void corrupt(const struct shield *shield, const struct morph_protection *protection,
		    const struct morph_plan *plan, uint64_t *seed)
{
	struct parts it = find_parts(shield);
	uint32_t number = any_rank(protection, seed), other;
	const struct protected_rank *rank = &protection->ranks[number];
	uint32_t one = rank->strands_first + random_below(seed, rank->strands_count);
	uint32_t way = rank->ways_first + random_below(seed, rank->ways_count);
	uint32_t *words = it.ranks + 6 * number, *strand = it.strands + MORPH_WIRE_STRAND * one;
	uint32_t *guide = it.guides + 3 * (strand[1] >> 1);

	switch (random_below(seed, 18)) {
	case 0: /* spares */
		words[1] = plan->accelerators[random_below(seed, plan->ranks)];
		break;
	case 1:
		words[1] = 72 + random_below(seed, 1000);
		break;
	case 2:
		it.chips[2 * rank->spare] = 1000; /* another's */
		break;
	case 3:
		it.chips[2 * rank->spare + 1] |= 1; /* unusable */
		break;
	case 4:
		it.chips[2 * rank->spare + 1] = 0; /* no spare */
		break;
	case 5: /* fibres */
		guide[0] |= 1; /* unusable */
		break;
	case 6: /* lit by somebody else; what is the rank's own is not lit any more */
		guide[1] = guide[1] ? 0 : 1;
		guide[2] = 0;
		break;
	case 7:
		strand[1] ^= 1; /* against the light */
		break;
	case 8:
		strand[1] = random_below(seed, 1000) | 0x40000000U;
		break;
	case 9:
		strand[0] += 1;
		break;
	case 10: /* by the rank twice, or where light can't come from there */
		other = rank->strands_first + random_below(seed, rank->strands_count);
		if (other == one)
			strand[0] = 0;
		else
			memcpy(strand, it.strands + MORPH_WIRE_STRAND * other,
			       4 * MORPH_WIRE_STRAND);
		break;
	case 11: /* ways */
		it.ways[3 * way] += 1 + random_below(seed, plan->circuits_count);
		break;
	case 12:
		it.ways[3 * way + 1 + random_below(seed, 2)] += 1;
		break;
	case 13:
		words[2 + random_below(seed, 4)] += 1;
		break;
	case 14: /* verdicts */
		words[0] = 2 + random_below(seed, 3);
		break;
	case 15:
		it.head[0] = it.head[0] % 3 + 1;
		break;
	case 16: /* the slice */
		it.chips[2 * plan->accelerators[random_below(seed, plan->ranks)]] = 1000;
		break;
	default:
		it.head[-2] += 1; /* another profile */
		break;
	}
}

static void mutants_of_protections_are_rejected(void **state)
{
	struct morph_protection *protection;
	struct corner corner;
	uint32_t mutants = 0;
	uint64_t seed = 5;
	char report[256];

	corner_begin(&corner, *state);
	protection = new_protection(corner.bench);
	while (mutants < 1000) {
		protecting_run(&corner, &seed);
		for (uint32_t at = 0; at < corner.count; at++) {
			protected(corner.bench, corner.plans[at], protection);
			for (uint32_t round = 0; protection->strands.count && round < 10;
			     round++, mutants++) {
				struct shield shield;

				shield_write(corner.bench, corner.plans[at], protection, &shield);
				corrupt(&shield, protection, corner.plans[at], &seed);
				if (!morph_check_protection(&shield.input, report, sizeof(report)))
					fail_msg("mutant %u was taken for a protection", mutants);
				assert_string_not_equal(report, "");
				shield_free(&shield);
			}
		}
	}
	morph_protection_free(protection);
	corner_end(&corner);
}

/* Open a path to the spare: make any fibre that leaves the cut usable. */
static void open_cut(const struct morph_ledger *ledger, const struct parts *it,
		     const struct spare_refusal *refusal)
{
	const struct sites *sites = &ledger->sites;

	for (uint32_t at = 0; at < sites->strands_count; at++) {
		const struct strand *strand = &sites->strands[at];
		uint32_t *guide = it->guides + 3 * (strand->guides[0] >> 1);

		if (refusal->departs >> sites->host_seat[strand->from] & 1 &&
		    !(refusal->arrives >> sites->host_seat[strand->to] & 1))
			guide[0] = guide[1] = guide[2] = 0;
	}
}

static void corrupt_refusal(const struct shield *shield, const struct morph_protection *protection,
			    const struct morph_ledger *ledger, uint64_t *seed)
{
	uint32_t one = random_below(seed, protection->refusals.count);
	const struct spare_refusal *refusal = &protection->refusals.list[one];
	struct parts it = find_parts(shield);
	uint32_t *words = it.refusals + 6 * one;

	switch (random_below(seed, 8)) {
	case 0:
		words[0] = random_below(seed, 72) == words[0] ? 72 : 1000;
		break;
	case 1:
		words[1] = MORPH_WIRE_SPARE_DOUBT;
		break;
	case 2:
		words[1] = 3;
		break;
	case 3: /* sets out of which nothing leads */
		words[2] = words[3] = 0;
		words[1] = MORPH_WIRE_SPARE_CUT;
		break;
	case 4:
		words[1] = MORPH_WIRE_SPARE_CUT;
		words[4] = words[5] = UINT32_MAX;
		break;
	case 5: /* the ledger; for a refusal by search, another part is corrupted */
		if (refusal->reason == MORPH_WIRE_SPARE_CUT) {
			open_cut(ledger, &it, refusal);
			break;
		}
		/* fallthrough */
	case 6:
		it.chips[2 * refusal->spare] = 1000;
		break;
	default:
		it.head[0] = MORPH_FEASIBLE;
		break;
	}
}

static void mutants_of_refusals_are_rejected(void **state)
{
	struct morph_protection *protection;
	struct corner corner;
	uint32_t mutants = 0;
	uint64_t seed = 6;
	char report[256];

	corner_begin(&corner, *state);
	protection = new_protection(corner.bench);
	while (mutants < 200) {
		protecting_run(&corner, &seed);
		for (uint32_t at = 0; at < corner.count; at++) {
			struct shield shield;

			protected(corner.bench, corner.plans[at], protection);
			if (!protection->refusals.count)
				continue;
			shield_write(corner.bench, corner.plans[at], protection, &shield);
			corrupt_refusal(&shield, protection, corner.bench->ledger, &seed);
			if (!morph_check_protection(&shield.input, report, sizeof(report)))
				fail_msg("the checker accepted mutant %u as a proof", mutants);
			shield_free(&shield);
			mutants++;
		}
	}
	morph_protection_free(protection);
	corner_end(&corner);
}

static void bytes_that_are_no_protection_are_refused(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	struct shield shield;
	char report[256];

	place_torus(bench, bench->plan, HALF_RACK, 7);
	protected(bench, bench->plan, protection);
	shield_write(bench, bench->plan, protection, &shield);
	for (uint32_t word = 0; word < 10; word++) {
		uint32_t *words = shield.blobs[3], was = words[word];

		words[word] += 1;
		/* The checker reads the checksum and the verdict. */
		assert_int_equal(morph_check_protection(&shield.input, report, sizeof(report)),
				 word == 3 || word == 5 ? -EBADMSG : -EINVAL);
		words[word] = was;
	}
	shield.input.protection.bytes -= 4;
	assert_int_equal(morph_check_protection(&shield.input, NULL, 0), -EINVAL);
	shield.input.protection.data = NULL;
	assert_int_equal(morph_check_protection(&shield.input, report, sizeof(report)), -EINVAL);
	assert_string_equal(report, "the protection is malformed");
	shield_free(&shield);
	morph_protection_free(protection);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(mutants_of_protections_are_rejected),
		TEST(mutants_of_refusals_are_rejected),
		TEST(bytes_that_are_no_protection_are_refused),
#undef TEST
	};

	return placing_run(argc, argv, "protect_check", tests, ARRAY_SIZE(tests));
}
