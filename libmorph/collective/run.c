// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Executes rounds with sets of ranks in place of numbers: the set of a chunk at a rank contains the
 * ranks whose parts are summed in it. Chunks are independent, so one chunk passes all rounds before
 * the next begins.
 *
 * A chunk that begins at one rank has one part. To sum it into nothing is to copy it; to sum it
 * with itself is to sum it twice.
 */
#include "collective.h"

/*
 * The state of the chunk at a rank. If the number is that of another chunk, the state is the
 * initial one.
 */
struct holding {
	uint32_t chunk, round; /* + 1, of the last use; 0: none */
	bool reduced; /* data of that round is summed */
};

struct run {
	const struct morph_collective *collective;
	uint32_t words; /* words of a set of all ranks */
	uint32_t chunk; /* the present chunk */
	uint32_t width; /* words of its sets */
	size_t *first; /* by chunk: first index in sends, and the end of the last */
	uint32_t *sends; /* transfers that carry the chunk, in order */
	uint32_t *rounds; /* by transfer */
	uint32_t *changed; /* ranks that receive the chunk in the round */
	struct holding *holdings; /* by rank */
	uint64_t *sets, *arrived; /* by rank: before and after the round */
	struct morph_collective_fault *fault; /* where to put the first fault, or NULL */
};

static uint64_t *before(const struct run *run, uint32_t rank)
{
	return run->sets + (size_t)rank * run->words;
}

static uint64_t *after(const struct run *run, uint32_t rank)
{
	return run->arrived + (size_t)rank * run->words;
}

/* --------------------------------------------------- transfers, by chunk */

/* Visit the chunks of all transfers: first to count, then to store the transfers of each. */
static void each_send(struct run *run, bool note)
{
	const struct morph_collective *collective = run->collective;

	for (uint32_t at = 0; at < collective->transfers.count; at++) {
		const struct transfer *transfer = &collective->transfers.list[at];

		for (uint32_t part = transfer->first; part < transfer->first + transfer->count;
		     part++) {
			const struct chunk_run *list = &collective->runs.list[part];

			for (uint32_t chunk = list->first; chunk < list->first + list->count;
			     chunk++)
				if (note)
					run->sends[run->first[chunk]++] = at;
				else
					run->first[chunk + 1]++;
		}
	}
}

static int index_sends(struct run *run)
{
	const struct morph_collective *collective = run->collective;
	uint32_t chunks = collective->chunks.count;

	run->first = calloc((size_t)chunks + 1, sizeof(*run->first));
	run->rounds = calloc((size_t)collective->transfers.count + 1, sizeof(*run->rounds));
	if (!run->first || !run->rounds)
		return -ENOMEM;
	each_send(run, false);
	for (uint32_t chunk = 0; chunk < chunks; chunk++)
		run->first[chunk + 1] += run->first[chunk];
	run->sends = calloc(run->first[chunks] + 1, sizeof(*run->sends));
	if (!run->sends)
		return -ENOMEM;
	each_send(run, true);
	/* Each index now is that of the next chunk's begin. */
	memmove(run->first + 1, run->first, chunks * sizeof(*run->first));
	run->first[0] = 0;
	for (uint32_t number = 0; number < collective->rounds.count; number++)
		for (uint32_t at = 0; at < collective->rounds.list[number].count; at++)
			run->rounds[collective->rounds.list[number].first + at] = number;
	return 0;
}

static int prepare(struct run *run)
{
	uint32_t ranks = run->collective->ranks;

	run->words = (ranks + 63) / 64;
	run->changed = calloc((size_t)ranks + 1, sizeof(*run->changed));
	run->holdings = calloc((size_t)ranks + 1, sizeof(*run->holdings));
	run->sets = calloc((size_t)ranks * run->words + 1, sizeof(*run->sets));
	run->arrived = calloc((size_t)ranks * run->words + 1, sizeof(*run->arrived));
	if (!run->changed || !run->holdings || !run->sets || !run->arrived)
		return -ENOMEM;
	return index_sends(run);
}

static void release(struct run *run)
{
	free(run->first);
	free(run->sends);
	free(run->rounds);
	free(run->changed);
	free(run->holdings);
	free(run->sets);
	free(run->arrived);
}

/* -------------------------------------------------------------------- sets */

/* The set of the chunk at the rank; the initial one on first use. */
static uint64_t *set_of(const struct run *run, uint32_t rank)
{
	struct holding *holding = &run->holdings[rank];
	uint32_t begins = run->collective->chunks.list[run->chunk].begins;
	uint64_t *set = before(run, rank);

	if (holding->chunk == run->chunk + 1)
		return set;
	*holding = (struct holding){ .chunk = run->chunk + 1 };
	memset(set, 0, run->width * sizeof(*set));
	if (begins == MORPH_EACH_RANK)
		set[rank / 64] = 1ULL << rank % 64;
	else
		set[0] = begins == rank;
	return set;
}

static bool has_none(const struct run *run, const uint64_t *set)
{
	for (uint32_t word = 0; word < run->width; word++)
		if (set[word])
			return false;
	return true;
}

static bool overlap(const struct run *run, const uint64_t *one, const uint64_t *other)
{
	for (uint32_t word = 0; word < run->width; word++)
		if (one[word] & other[word])
			return true;
	return false;
}

static bool contains(const struct run *run, const uint64_t *whole, const uint64_t *part)
{
	for (uint32_t word = 0; word < run->width; word++)
		if (part[word] & ~whole[word])
			return false;
	return true;
}

/* ------------------------------------------------------------------ rounds */

static int bad(const struct run *run, uint32_t at, uint32_t rank, const char *does, const char *why)
{
	const struct transfer *transfer = &run->collective->transfers.list[at];

	if (run->fault)
		*run->fault = (struct morph_collective_fault){ .round = run->rounds[at],
							       .src = transfer->src,
							       .dst = transfer->dst,
							       .chunk = run->chunk };
	return lm_fail(run->collective->ctx, EBADMSG, "round %u: rank %u %s chunk %u%s",
		       run->rounds[at], rank, does, run->chunk, why);
}

/* @at reads the state before the round. Results wait until all have been read. */
static int arrive(struct run *run, uint32_t at, uint32_t *changed)
{
	const struct transfer *transfer = &run->collective->transfers.list[at];
	const uint64_t *sent = set_of(run, transfer->src), *there = set_of(run, transfer->dst);
	struct holding *holding = &run->holdings[transfer->dst];
	bool again = holding->round == run->rounds[at] + 1;
	uint64_t *now = after(run, transfer->dst);

	if (has_none(run, sent))
		return bad(run, at, transfer->src, "sends", ", but has no part of it");
	if (again && !(transfer->reduce && holding->reduced))
		return bad(run, at, transfer->dst, "gets", " twice in a round, and not as a sum");
	if (!transfer->reduce && !contains(run, sent, there))
		return bad(run, at, transfer->dst, "gets a copy of",
			   ", but the copy lacks parts that the rank has");
	if (!again) {
		memcpy(now, transfer->reduce ? there : sent, run->width * sizeof(*now));
		holding->round = run->rounds[at] + 1;
		holding->reduced = transfer->reduce;
		run->changed[(*changed)++] = transfer->dst;
	}
	if (!transfer->reduce)
		return 0;
	if (overlap(run, now, sent))
		return bad(run, at, transfer->dst, "sums", " with a part that it already contains");
	for (uint32_t word = 0; word < run->width; word++)
		now[word] |= sent[word];
	return 0;
}

static int through_rounds(struct run *run)
{
	size_t at = run->first[run->chunk], end = run->first[run->chunk + 1];

	while (at < end) {
		uint32_t round = run->rounds[run->sends[at]], changed = 0;
		int ret = 0;

		for (; !ret && at < end && run->rounds[run->sends[at]] == round; at++)
			ret = arrive(run, run->sends[at], &changed);
		if (ret)
			return ret;
		while (changed--)
			memcpy(before(run, run->changed[changed]),
			       after(run, run->changed[changed]), run->width * sizeof(*run->sets));
	}
	return 0;
}

/* The number of parts at the rank at the end. */
static uint32_t parts(const struct run *run, uint32_t rank)
{
	const uint64_t *set = set_of(run, rank);
	uint32_t count = 0;

	for (uint32_t word = 0; word < run->width; word++)
		count += (uint32_t)__builtin_popcountll(set[word]);
	return count;
}

static int check_end(const struct run *run, uint32_t rank)
{
	const struct morph_collective *collective = run->collective;
	const struct chunk *chunk = &collective->chunks.list[run->chunk];
	uint32_t wanted = chunk->begins == MORPH_EACH_RANK ? collective->ranks : 1;

	if (parts(run, rank) == wanted)
		return 0;
	if (run->fault)
		*run->fault = (struct morph_collective_fault){ .round = collective->rounds.count,
							       .src = rank,
							       .dst = rank,
							       .chunk = run->chunk };
	return lm_fail(collective->ctx, EBADMSG,
		       "after %u rounds rank %u has %u of %u parts of chunk %u",
		       collective->rounds.count, rank, parts(run, rank), wanted, run->chunk);
}

static int check_ends(const struct run *run)
{
	uint32_t ends = run->collective->chunks.list[run->chunk].ends;
	int ret = 0;

	if (ends != MORPH_EACH_RANK)
		return check_end(run, ends);
	for (uint32_t rank = 0; !ret && rank < run->collective->ranks; rank++)
		ret = check_end(run, rank);
	return ret;
}

MORPH_API int morph_collective_run(const struct morph_collective *collective,
				   struct morph_collective_fault *fault)
{
	struct run run = { .collective = collective, .fault = fault };
	int ret = prepare(&run);

	if (ret)
		lm_no_memory(collective->ctx, "run a collective");
	for (; !ret && run.chunk < collective->chunks.count; run.chunk++) {
		bool each = collective->chunks.list[run.chunk].begins == MORPH_EACH_RANK;

		run.width = each ? run.words : 1;
		ret = through_rounds(&run);
		if (!ret)
			ret = check_ends(&run);
	}
	release(&run);
	return ret;
}
