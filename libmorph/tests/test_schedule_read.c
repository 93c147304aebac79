// SPDX-License-Identifier: LGPL-2.1-or-later
/* Input of the schedule checker: indices, size limits, and memory. */
#include "by_hand.h"

/*
 * Ranks 0 and 1 send a chunk to each other over one matching. A byte takes 1 ps, and a round 100
 * ps.
 */
static struct hand swap(void)
{
	return (struct hand){
		.planes = 1,
		.collective = {
			.form = { MORPH_WIRE_COLLECTIVE, 0 },
			.ranks = 2,
			.chunks_count = 2, .chunks = { { 0, 1, 40 }, { 1, 0, 40 } },
			.rounds_count = 1, .rounds = { { 0, 2 } },
			.transfers_count = 2,
			.transfers = { { 0, 1, 0, { 0, 1 } }, { 1, 0, 0, { 1, 1 } } },
			.runs_count = 2, .runs = { { 0, 1 }, { 1, 1 } },
		},
		.delay = { .form = { MORPH_WIRE_DELAY, 0 }, .scope = MORPH_DELAY_PORT_SCOPE,
			   .round_ps = 100, .mbps = 8000000 },
		.schedule = {
			.form = { MORPH_WIRE_SCHEDULE, 0 },
			.verdict = MORPH_FEASIBLE, .ranks = 2, .planes = 1,
			.finish = 140, .bound_kind = MORPH_BOUND_PORTS, .bound = 140,
			.matchings_count = 1, .matchings = { { 0, 2 } },
			.circuits_count = 2, .circuits = { { 0, 1 }, { 1, 0 } },
			.holds_count = 1, .holds = { { 0, 0, 0, 0, 140 } },
			.sends_count = 2,
			.sends = { { 0, { 0, 1 }, { 0, 1 }, 40, 0, 140 },
				   { 0, { 1, 1 }, { 1, 1 }, 40, 0, 140 } },
			.hops_count = 2, .hops = { 0, 0 },
		},
	};
}

static void a_delay_is_read(void **state)
{
	static const char *const malformed = "the delay is malformed";

	(void)state;
	TAKES(swap(), );
	REJECTS(swap(), malformed, it.delay.form.kind = 0);
	REJECTS(swap(), malformed, it.delay.form.more = 1);
	REJECTS(swap(), malformed, it.delay.form.more = -1);
	REJECTS(swap(), malformed, it.delay.scope = 3);
	REJECTS(swap(), malformed, it.delay.mbps = 0);
}

/* -------------------------------------------------------------- collectives */

static void a_collective_has_its_size(void **state)
{
	static const char *const size = "the collective differs from its declared size";

	(void)state;
	REJECTS(swap(), "the collective is malformed", it.collective.form.kind = 0);
	REJECTS(swap(), "the collective is malformed",
		it.collective.form.more = -2 * 4 - 2 - 2 * 5 - 2 * 2 - 1);
	REJECTS(swap(), size, it.collective.form.more = 1);
	REJECTS(swap(), size, it.collective.form.more = -1);
	REJECTS(swap(), "the collective has 0 ranks", it.collective.ranks = 0);
	REJECTS(swap(), "the collective has 4097 ranks", it.collective.ranks = 4097);
}

static void malformed_collectives_are_rejected(void **state)
{
	(void)state;
	REJECTS(swap(), "chunk 1 is malformed", it.collective.chunks[1].begins = 2);
	REJECTS(swap(), "chunk 1 is malformed", it.collective.chunks[1].ends = 2);
	REJECTS(swap(), "chunk 1 is malformed", it.collective.chunks[1].bytes = (1ULL << 60) + 1);
	REJECTS(swap(), "round 0 is malformed", it.collective.rounds[0].first = 1);
	REJECTS(swap(), "round 0 is malformed", it.collective.rounds[0].count = 3);
	REJECTS(swap(), "round 1 is malformed",
		it.collective.rounds_count = 2); /* its first is not behind those of the other */
	REJECTS(swap(), "a transfer belongs to no round", it.collective.rounds[0].count = 1);
	REJECTS(swap(), "transfer 1 is malformed", it.collective.transfers[1].src = 2);
	REJECTS(swap(), "transfer 1 is malformed", it.collective.transfers[1].dst = 2);
	REJECTS(swap(), "transfer 1 is malformed", it.collective.transfers[1].dst = 1);
	REJECTS(swap(), "transfer 1 is malformed", it.collective.transfers[1].reduce = 2);
	REJECTS(swap(), "transfer 1 is malformed", it.collective.transfers[1].runs.first = 0);
	REJECTS(swap(), "transfer 1 is malformed", it.collective.transfers[1].runs.count = 2);
	REJECTS(swap(), "run 1 is malformed", it.collective.runs[1].first = 3);
	REJECTS(swap(), "run 1 is malformed", it.collective.runs[1].count = 2);
	/* Each chunk has the largest permitted size, and both together exceed the limit. */
	REJECTS(swap(), "transfer 0 has too many bytes",
		(it.collective.chunks[0].bytes = 1ULL << 60, it.collective.runs[0].count = 2));
}

/* ---------------------------------------------------------------- schedules */

static void a_schedule_has_its_size(void **state)
{
	static const char *const size = "the schedule differs from its declared size";
	static const char *const malformed = "the schedule is malformed";

	(void)state;
	REJECTS(swap(), malformed, it.schedule.form.kind = 0);
	REJECTS(swap(), malformed, it.schedule.form.more = -2 * (1 + 2) - 8 - 2 * 11 - 2 - 1);
	REJECTS(swap(), size, it.schedule.form.more = 1);
	REJECTS(swap(), size, it.schedule.form.more = -1);
	REJECTS(swap(), malformed, it.schedule.ranks = 4097);
	REJECTS(swap(), malformed, it.schedule.planes = 0);
	REJECTS(swap(), malformed, it.planes = it.schedule.planes = 65);
	REJECTS(swap(), malformed, it.schedule.residents = 2);
	/* The schedule before is malformed, too. */
	REJECTS(swap(), malformed,
		(it.follows = true, it.after = it.schedule, it.after.form.kind = 0));
}

static void malformed_schedules_are_rejected(void **state)
{
	(void)state;
	REJECTS(swap(), "matching 0 is malformed", it.schedule.matchings[0].first = 1);
	REJECTS(swap(), "matching 0 is malformed", it.schedule.matchings[0].count = 0);
	REJECTS(swap(), "matching 0 is malformed", it.schedule.matchings[0].count = 3);
	REJECTS(swap(), "matching 1 is malformed",
		(it.schedule.matchings_count = 2, it.schedule.matchings[1].count = 1));
	REJECTS(swap(), "a circuit belongs to no matching", it.schedule.matchings[0].count = 1);
	REJECTS(swap(), "circuit 1 is malformed", it.schedule.circuits[1].src = 2);
	REJECTS(swap(), "circuit 1 is malformed", it.schedule.circuits[1].dst = 2);
	REJECTS(swap(), "hold 0 is malformed", it.schedule.holds[0].plane = 1);
	REJECTS(swap(), "hold 0 is malformed", it.schedule.holds[0].matching = 1);
	REJECTS(swap(), "send 1 is malformed", it.schedule.sends[1].transfers.count = 0);
	REJECTS(swap(), "send 1 is malformed", it.schedule.sends[1].hops.count = 0);
	REJECTS(swap(), "send 1 is malformed", it.schedule.sends[1].hops.first = 0);
	REJECTS(swap(), "send 1 is malformed", it.schedule.sends[1].hops.count = 2);
	REJECTS(swap(), "send 1 is malformed", it.schedule.sends[1].bytes = (1ULL << 60) + 1);
	REJECTS(swap(), "hop 1 is malformed", it.schedule.hops[1] = 1);
}

static void a_matching_is_one(void **state)
{
	(void)state;
	REJECTS(swap(), "matching 0 connects rank 1 to itself", it.schedule.circuits[1].dst = 1);
	REJECTS(swap(), "matching 0 uses a port of rank 0 twice",
		(it.schedule.ranks = 3, it.schedule.circuits[1].src = 0,
		 it.schedule.circuits[1].dst = 2));
	REJECTS(swap(), "matching 0 uses a port of rank 1 twice",
		(it.schedule.ranks = it.schedule.circuits_count = it.schedule.matchings[0].count =
			 3,
		 it.schedule.circuits[1].dst = 2, it.schedule.circuits[2].src = 1));
	/* The report names the positions in another order, too. */
	REJECTS(swap(), "matching 0 uses a port of rank 0 twice",
		(it.schedule.circuits[0].src = it.schedule.circuits[1].dst = 1,
		 it.schedule.circuits[1].src = it.schedule.circuits[0].dst = 0,
		 it.schedule.circuits[1].dst = 1));
	REJECTS(swap(), "matching 0 has two circuits to rank 1",
		(it.schedule.ranks = 3, it.schedule.circuits[1].src = 2,
		 it.schedule.circuits[1].dst = 1));
}

static void times_are_in_order(void **state)
{
	(void)state;
	REJECTS(swap(), "hold 0 ends before it begins", it.schedule.holds[0].set = 1);
	REJECTS(swap(), "hold 0 ends before it begins", it.schedule.holds[0].lit = 141);
	REJECTS(swap(), "send 1 ends before it begins", it.schedule.sends[1].from = 141);
	REJECTS(swap(), "hold 1 is out of time order",
		(it.schedule.holds_count = 2, it.schedule.holds[1] = it.schedule.holds[0],
		 it.schedule.holds[0].set = it.schedule.holds[0].lit = 1));
}

/* --------------------------------------------------------------------- much */

/* A collective, a delay or a schedule with many entries, in the wire form. The head is valid. */
static uint32_t *words_for(uint32_t kind, size_t count)
{
	uint32_t *words = calloc(MORPH_WIRE_HEAD + count, sizeof(*words));

	assert_non_null(words);
	words[0] = MORPH_WIRE_MAGIC;
	words[1] = MORPH_WIRE_VERSION;
	words[2] = kind;
	words[4] = (uint32_t)(MORPH_WIRE_HEAD + count);
	return words;
}

static size_t bytes_of(const uint32_t *words)
{
	return words[4] * sizeof(*words);
}

/* Chunks without bytes, from rank 0 and to it. Each run has all of them. */
static uint32_t *collective_of(uint32_t ranks, uint32_t chunks, uint32_t runs)
{
	const uint32_t head[] = { ranks, chunks, runs ? 1 : 0, runs ? 1 : 0, runs };
	uint32_t *words =
		words_for(MORPH_WIRE_COLLECTIVE,
			  5 + 4 * (size_t)chunks + 7 * (size_t)head[2] + 2 * (size_t)runs);
	uint32_t *at = words + MORPH_WIRE_HEAD;

	memcpy(at, head, sizeof(head));
	at += 5;
	at += 4 * (size_t)chunks;
	if (runs) {
		const uint32_t round[] = { 0, 1, 0, 1, 0, 0, runs };

		memcpy(at, round, sizeof(round));
		at += 7;
	}
	for (uint32_t run = 0; run < runs; run++, at += 2)
		at[1] = chunks;
	return words;
}

/* Holds of one matching, from each rank to the next, at the same time. */
static uint32_t *schedule_of(uint32_t ranks, uint32_t holds, uint32_t bound_kind)
{
	const uint32_t circuits = holds ? ranks : 0, matchings = holds ? 1 : 0;
	const uint32_t head[] = { MORPH_FEASIBLE, ranks,    1,	   0, 0, bound_kind, 0, 0, 0,
				  matchings,	  circuits, holds, 0, 0 };
	uint32_t *words = words_for(MORPH_WIRE_SCHEDULE,
				    14 + 2 * ((size_t)matchings + circuits) + 8 * (size_t)holds);
	uint32_t *at = words + MORPH_WIRE_HEAD;

	memcpy(at, head, sizeof(head));
	at += 14;
	if (!holds)
		return words;
	at[1] = ranks;
	at += 2;
	for (uint32_t rank = 0; rank < ranks; rank++, at += 2) {
		at[0] = rank;
		at[1] = (rank + 1) % ranks;
	}
	return words;
}

/* Frees both. */
static void assert_much(uint32_t *collective, uint32_t *schedule, const char *text)
{
	uint32_t *delay = words_for(MORPH_WIRE_DELAY, 11);
	const struct written written = {
		.planes = 1,
		.collective = collective,
		.collective_bytes = bytes_of(collective),
		.delay = delay,
		.delay_bytes = bytes_of(delay),
		.schedule = schedule,
		.schedule_bytes = bytes_of(schedule),
	};
	char report[256];

	delay[MORPH_WIRE_HEAD + 5] = 1; /* Mb/s */
	check_written(&written, report);
	assert_string_equal(report, text);
	free(delay);
	free(collective);
	free(schedule);
}

/* Entries are limited to what the checker can count, and follow in reasonable time. */
static void much_is_too_much(void **state)
{
	(void)state;
	assert_much(collective_of(2, 1 << 14, (1 << 14) + 1), schedule_of(2, 0, MORPH_BOUND_PORTS),
		    "the collective sends more than 2^28 chunks");
	assert_much(collective_of(4096, 1024, 0), schedule_of(4096, 0, MORPH_BOUND_CHAIN), "");
	assert_much(collective_of(4096, 1025, 0), schedule_of(4096, 0, MORPH_BOUND_CHAIN),
		    "too many chunks for that bound");
	assert_much(collective_of(4096, 0, 0), schedule_of(4096, 1 << 20, MORPH_BOUND_PORTS),
		    "too many circuits");
}

/* A failed allocation is reported, and leaves nothing behind. */
static void lack_of_memory_is_reported(void **state)
{
	struct hand base = swap();
	uint32_t failed = 0;
	char report[256];
	int ret;

	(void)state;
	base.delay.port_ps = 1;
	base.schedule.holds[0].lit += 2;
	base.schedule.holds[0].dark += 2;
	for (uint32_t at = 0; at < 2; at++) {
		base.schedule.sends[at].from += 2;
		base.schedule.sends[at].until += 2;
	}
	base.schedule.finish += 2;
	base.schedule.bound_kind = MORPH_BOUND_CHAIN;
	base.schedule.bound += 1;
	base.follows = true;
	base.after = base.schedule;
	assert_legal(&base);
	for (;;) {
		fault_at("memory", failed + 1, ENOMEM);
		ret = check_hand(&base, report);
		if (!fault_struck())
			break;
		assert_int_equal(ret, -ENOMEM);
		assert_string_equal(report, "out of memory");
		failed++;
	}
	assert_int_equal(ret, 0);
	/*
	 * Allocations for the collective, both schedules, circuits, their ports, holds, sends,
	 * chunks, and the chain.
	 */
	assert_true(failed >= 4 + 2 * 6 + 1 + 1 + 1 + 4 + 10 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_delay_is_read),
		cmocka_unit_test(a_collective_has_its_size),
		cmocka_unit_test(malformed_collectives_are_rejected),
		cmocka_unit_test(a_schedule_has_its_size),
		cmocka_unit_test(malformed_schedules_are_rejected),
		cmocka_unit_test(a_matching_is_one),
		cmocka_unit_test(times_are_in_order),
		cmocka_unit_test(much_is_too_much),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests_name("schedule_read", tests, begin, end);
}
