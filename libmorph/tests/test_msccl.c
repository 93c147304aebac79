// SPDX-License-Identifier: LGPL-2.1-or-later
/* MSCCL's XML: files as other programs write them, files of our own, and files that are refused. */
#include <morph/formats.h>
#include <stdio.h>

#include "../bench/random.h"
#include "faults.h"
#include "moving.h"
#include "scheduling.h"

static const char *directory;

static char *read_file(const char *name, size_t *length)
{
	char path[512];
	char *text = calloc(1, 1 << 20);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(text);
	*length = fread(text, 1, 1 << 20, file);
	fclose(file);
	return text;
}

static struct morph_collective *empty(void)
{
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_non_null(collective);
	return collective;
}

/* -------------------------------------------------------------- files of others */

static struct morph_collective *read_whole(const char *name, uint64_t bytes)
{
	struct morph_collective *collective = empty();
	size_t length;
	char *text = read_file(name, &length);
	char why[256] = "";

	if (morph_msccl_read(collective, text, length, bytes, why, sizeof(why)))
		fail_msg("%s: %s", name, why);
	free(text);
	assert_done(collective);
	return collective;
}

/* Fused steps of one threadblock, in place: the ring that is built by hand, chunk by chunk. */
static void a_ring_in_fused_steps_is_the_ring(void **state)
{
	struct morph_collective *read = read_whole("msccl-ring4.xml", 4096);
	struct morph_collective *built = ring(4, 1024);

	(void)state;
	assert_same_words(read, built);
	morph_collective_free(read);
	morph_collective_free(built);
}

/* Parts lie in scratch until they are summed: in the collective they are summed as they arrive. */
static void parts_in_scratch_are_summed_where_they_arrive(void **state)
{
	struct morph_collective *read = read_whole("msccl-allpairs4.xml", 4096);
	struct morph_transfer transfer;

	(void)state;
	assert_int_equal(morph_collective_chunks(read), 4);
	assert_int_equal(morph_collective_rounds(read), 2);
	for (uint32_t round = 0; round < 2; round++) {
		assert_int_equal(morph_collective_transfers(read, round), 12);
		for (uint32_t at = 0; at < 12; at++) {
			assert_int_equal(morph_collective_transfer(read, round, at, &transfer), 0);
			assert_int_equal(transfer.reduce, !round);
			assert_int_equal(transfer.bytes, 1024);
		}
	}
	morph_collective_free(read);
}

/* What goes by way of another gpu keeps what it is; on two channels, with what is sent in a round as one transfer. */
static void what_is_passed_on_keeps_what_it_is(void **state)
{
	struct morph_collective *read = read_whole("msccl-twostep4.xml", 4000);
	struct morph_transfer transfer;

	(void)state;
	assert_int_equal(morph_collective_chunks(read), 16);
	assert_int_equal(morph_collective_rounds(read), 2);
	for (uint32_t round = 0; round < 2; round++) {
		assert_int_equal(morph_collective_transfers(read, round), 4);
		for (uint32_t at = 0; at < 4; at++) {
			assert_int_equal(morph_collective_transfer(read, round, at, &transfer), 0);
			assert_int_equal(transfer.bytes, 2000);
			assert_int_equal(transfer.src ^ transfer.dst, round ? 2 : 1);
		}
	}
	morph_collective_free(read);
}

/* ------------------------------------------------------------------- round trips */

/* With a NUL behind it. */
static char *write_text(const struct morph_collective *collective, size_t *length)
{
	char why[256] = "";
	ssize_t bytes = morph_msccl_write(collective, "some_name-1.0", NULL, 0, why, sizeof(why));
	char *text;

	if (bytes < 0)
		fail_msg("%s", why);
	text = calloc(1, (size_t)bytes + 1);
	assert_non_null(text);
	assert_int_equal(morph_msccl_write(collective, "some_name-1.0", text, (size_t)bytes - 1,
					   why, sizeof(why)),
			 -ENOSPC);
	assert_int_equal(morph_msccl_write(collective, "some_name-1.0", text, (size_t)bytes, why,
					   sizeof(why)),
			 bytes);
	*length = (size_t)bytes;
	return text;
}

/* Written and read, with chunks of @unit bytes in the file. */
static struct morph_collective *trip(const struct morph_collective *collective, uint64_t unit,
				     const char *coll)
{
	struct morph_collective *back = empty();
	char why[256] = "", wanted[64];
	size_t length;
	char *text = write_text(collective, &length), *shares;
	unsigned long per_loop;

	snprintf(wanted, sizeof(wanted), "coll=\"%s\"", coll);
	assert_non_null(strstr(text, wanted));
	shares = strstr(text, "nchunksperloop=\"");
	assert_non_null(shares);
	per_loop = strtoul(shares + strlen("nchunksperloop=\""), NULL, 10);
	if (morph_msccl_read(back, text, length, unit * per_loop, why, sizeof(why)))
		fail_msg("%s: %s", coll, why);
	free(text);
	assert_done(back);
	return back;
}

static void assert_trip(struct morph_collective *collective, uint64_t unit, const char *coll,
			bool rounds)
{
	struct morph_collective *back = trip(collective, unit, coll);

	assert_done(collective);
	assert_same_sent(collective, back, rounds);
	morph_collective_free(collective);
	morph_collective_free(back);
}

static void move(struct morph_collective *collective, uint32_t src, uint32_t dst, bool reduce,
		 uint32_t first, uint32_t count)
{
	assert_true(morph_collective_add_transfer(collective, src, dst, reduce) >= 0);
	assert_int_equal(morph_collective_add_run(collective, first, count), 0);
}

static void chunk(struct morph_collective *collective, uint32_t begins, uint32_t ends,
		  uint64_t bytes)
{
	assert_true(morph_collective_add_chunk(collective, begins, ends, bytes) >= 0);
}

static struct morph_collective *begin_with(uint32_t ranks)
{
	struct morph_collective *collective = empty();

	assert_int_equal(morph_collective_begin(collective, ranks), 0);
	return collective;
}

static void next_round(struct morph_collective *collective)
{
	assert_true(morph_collective_add_round(collective) >= 0);
}

static void rings_come_back_as_they_were(void **state)
{
	(void)state;
	for (uint32_t ranks = 2; ranks <= 9; ranks++)
		assert_trip(ring(ranks, 3000), 3000, "allreduce", true);
}

/* Both send what they sum into, in each round; whole buffers, and halves of them. */
static void exchanges_come_back_as_they_were(void **state)
{
	struct morph_collective *whole = begin_with(8), *halves = begin_with(8);

	(void)state;
	for (uint32_t at = 0; at < 8; at++) {
		chunk(whole, MORPH_EACH_RANK, MORPH_EACH_RANK, 100);
		chunk(halves, MORPH_EACH_RANK, at, 100);
	}
	for (uint32_t bit = 4; bit; bit /= 2) {
		next_round(whole);
		next_round(halves);
		for (uint32_t rank = 0; rank < 8; rank++) {
			uint32_t other = rank ^ bit;

			move(whole, rank, other, true, 0, 8);
			move(halves, rank, other, true, other & ~(bit - 1), bit);
		}
	}
	assert_trip(whole, 100, "allreduce", true);
	assert_trip(halves, 100, "reduce_scatter", true);
}

/* All that are summed at a rank in one round are. */
static void many_sums_in_a_round_stay_in_it(void **state)
{
	struct morph_collective *collective = begin_with(5);

	(void)state;
	for (uint32_t at = 0; at < 5; at++)
		chunk(collective, MORPH_EACH_RANK, MORPH_EACH_RANK, 8);
	next_round(collective);
	for (uint32_t rank = 0; rank < 5; rank++)
		for (uint32_t other = 0; other < 5; other++)
			if (other != rank)
				move(collective, rank, other, true, 0, 5);
	assert_trip(collective, 8, "allreduce", true);
}

static void gathers_come_back_as_they_were(void **state)
{
	struct morph_collective *gather = begin_with(6), *tree = begin_with(8);

	(void)state;
	for (uint32_t at = 0; at < 12; at++)
		chunk(gather, at / 2, MORPH_EACH_RANK, 50);
	for (uint32_t round = 0; round < 5; round++) {
		next_round(gather);
		for (uint32_t rank = 0; rank < 6; rank++)
			move(gather, rank, (rank + 1) % 6, false, 2 * ((rank + 6 - round) % 6), 2);
	}
	assert_trip(gather, 50, "allgather", true);
	chunk(tree, 3, MORPH_EACH_RANK, 64);
	for (uint32_t bit = 1; bit < 8; bit *= 2) {
		next_round(tree);
		for (uint32_t rank = 0; rank < bit; rank++)
			move(tree, rank ^ 3, rank ^ bit ^ 3, false, 0, 1);
	}
	assert_trip(tree, 64, "broadcast", true);
}

/* What each rank has for each, itself too; shift by shift, and by way of one other. */
static void all_to_alls_come_back_as_they_were(void **state)
{
	struct morph_collective *shifts = begin_with(5), *relayed = begin_with(4);

	(void)state;
	for (uint32_t at = 0; at < 25; at++)
		chunk(shifts, at / 5, at % 5, 10);
	for (uint32_t shift = 1; shift < 5; shift++) {
		next_round(shifts);
		for (uint32_t rank = 0; rank < 5; rank++)
			move(shifts, rank, (rank + shift) % 5, false, 5 * rank + (rank + shift) % 5,
			     1);
	}
	assert_trip(shifts, 10, "alltoall", true);
	for (uint32_t at = 0; at < 16; at++)
		chunk(relayed, at / 4, at % 4, 10);
	for (uint32_t bit = 1; bit < 4; bit *= 2) {
		next_round(relayed);
		for (uint32_t rank = 0; rank < 4; rank++) {
			assert_true(morph_collective_add_transfer(relayed, rank, rank ^ bit,
								  false) >= 0);
			for (uint32_t at = 0; at < 16; at++) {
				/* Bits below are right already, those above are not. */
				uint32_t here = (at / 4 & ~(bit - 1)) | (at % 4 & (bit - 1));

				if (here == rank && (at % 4 ^ rank) & bit)
					assert_int_equal(morph_collective_add_run(relayed, at, 1),
							 0);
			}
		}
	}
	assert_trip(relayed, 10, "alltoall", true);
}

/* Some of each kind, of several sizes, at once over the same pair. */
static void mixed_collectives_come_back_as_they_were(void **state)
{
	struct morph_collective *collective = begin_with(3);

	(void)state;
	chunk(collective, 0, 1, 30);
	chunk(collective, MORPH_EACH_RANK, MORPH_EACH_RANK, 20);
	chunk(collective, 1, MORPH_EACH_RANK, 50);
	chunk(collective, MORPH_EACH_RANK, 2, 10);
	next_round(collective);
	move(collective, 0, 1, false, 0, 1);
	move(collective, 0, 1, true, 1, 1);
	move(collective, 1, 2, false, 2, 1);
	move(collective, 1, 2, true, 3, 1);
	next_round(collective);
	move(collective, 1, 2, true, 1, 1);
	move(collective, 0, 2, true, 3, 1);
	move(collective, 2, 0, false, 2, 1);
	next_round(collective);
	move(collective, 2, 0, false, 1, 1);
	move(collective, 2, 1, false, 1, 1);
	assert_trip(collective, 10, "custom", true);
}

/* Ranks that were idle may be earlier; all is sent as before, and arrives. */
static void random_rounds_come_back(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int trial = 0; trial < 40; trial++) {
		uint32_t ranks = 2 + random_below(&seed, 7);
		struct morph_collective *collective = begin_with(ranks);
		struct morph_collective *back;

		for (uint32_t round = 0; round < 6; round++) {
			next_round(collective);
			for (uint32_t at = 0; at < 4; at++) {
				uint32_t src = random_below(&seed, ranks);
				uint32_t dst = (src + 1 + random_below(&seed, ranks - 1)) % ranks;
				uint64_t bytes = 8 * (1 + random_below(&seed, 9));

				chunk(collective, src, dst, 8 * bytes);
				move(collective, src, dst, false, 4 * round + at, 1);
			}
		}
		/* One that makes the unit what it is taken for. */
		chunk(collective, 0, 1, 8);
		move(collective, 0, 1, false, 24, 1);
		back = trip(collective, 8, "custom");
		assert_true(morph_collective_rounds(back) <= 6);
		assert_int_equal(morph_collective_bytes(back), morph_collective_bytes(collective));
		morph_collective_free(back);
		morph_collective_free(collective);
	}
}

static void what_has_no_file_is_refused(void **state)
{
	struct morph_collective *collective = begin_with(2);
	char why[256];

	(void)state;
	chunk(collective, 0, 1, 1);
	assert_int_equal(morph_msccl_write(collective, "a b", NULL, 0, why, sizeof(why)), -EINVAL);
	assert_string_equal(why,
			    "a name has 1 to 128 letters, digits, underlines, hyphens and dots");
	assert_int_equal(morph_msccl_write(collective, "", NULL, 0, NULL, 0), -EINVAL);
	chunk(collective, 0, 1, 1ULL << 40);
	assert_int_equal(morph_msccl_write(collective, "a", NULL, 0, why, sizeof(why)), -E2BIG);
	assert_string_equal(
		why, "chunks have 1 bytes in common, and are more than 1048576 times as much");
	assert_int_equal(morph_collective_begin(collective, 2), 0);
	chunk(collective, 0, 1, 1);
	chunk(collective, 0, 1, 0);
	assert_int_equal(morph_msccl_write(collective, "a", NULL, 0, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "chunk 1 has no bytes, and others have");
	morph_collective_free(collective);
	collective = empty();
	assert_int_equal(morph_msccl_write(collective, "a", NULL, 0, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "the collective has no ranks");
	morph_collective_free(collective);
}

/* ---------------------------------------------------------------------- refusals */

/* Two gpus that sum one chunk: gpu 1 sends its part, gpu 0 the sum. */
static const char small[] =
	"<algo name='a' proto='LL' nchannels='1' nchunksperloop='1' ngpus='2' coll='allreduce' inplace='1'>\n"
	"<gpu id='0' i_chunks='1' o_chunks='1' s_chunks='1'>\n"
	"<tb id='0' send='1' recv='1' chan='0'>\n"
	"<step s='0' type='rrc' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='1' depid='-1' deps='-1' hasdep='0'/>\n"
	"<step s='1' type='s' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='1' depid='-1' deps='-1' hasdep='0'/>\n"
	"</tb>\n"
	"</gpu>\n"
	"<gpu id='1' i_chunks='1' o_chunks='1' s_chunks='1'>\n"
	"<tb id='0' send='0' recv='0' chan='0'>\n"
	"<step s='0' type='s' srcbuf='o' srcoff='0' dstbuf='i' dstoff='0' cnt='1' depid='-1' deps='-1' hasdep='0'/>\n"
	"<step s='1' type='r' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='1' depid='-1' deps='-1' hasdep='0'/>\n"
	"</tb>\n"
	"</gpu>\n"
	"</algo>\n";

struct spoilt {
	long line; /* on which the first @old is */
	const char *old, *new;
	long ret;
	const char *why;
};

static const struct spoilt spoilt[] = {
	/* the form */
	{ 1, "<algo", "algo", -EINVAL, "line 1: syntax error" },
	{ 1, "<algo", "<!DOCTYPE x [<!ENTITY a 'b'>]><algo", -EINVAL,
	  "line 1: there is a document type, which such files don't have" },
	{ 1, "algo", "gpu", -EINVAL, "line 1: there is a <gpu>, not a <algo>" },
	{ 2, "<gpu", "<tb/><gpu", -EINVAL, "line 2: there is a <tb>, not a <gpu>" },
	{ 4, "/>", "><x/></step>", -EINVAL, "line 4: there is a <x>, not a </step>" },
	{ 14, "</algo>", "", -EINVAL, "line 15: no element found" },
	{ 4, "cnt='1'", "cnt='1' cnt='1'", -EINVAL, "line 4: duplicate attribute" },
	/* algo */
	{ 1, "ngpus='2'", "", -EINVAL, "line 1: algo has no ngpus" },
	{ 1, "ngpus='2'", "ngpus='0'", -EINVAL, "line 1: there is no gpu" },
	{ 1, "ngpus='2'", "ngpus='4097'", -EINVAL,
	  "line 1: ngpus=\"4097\" is no number from 0 to 4096" },
	{ 1, "ngpus='2'", "ngpus='3'", -EINVAL, "line 1: ngpus=\"3\", there are 2" },
	{ 1, "ngpus='2'", "ngpus='99999999999999999999999'", -EINVAL,
	  "line 1: ngpus=\"99999999999999999999\" is no number from 0 to 4096" },
	{ 1, "coll='allreduce'", "", -EINVAL, "line 1: algo has no coll" },
	{ 1, "nchunksperloop='1'", "nchunksperloop='4'", -EINVAL,
	  "line 1: nchunksperloop=\"4\", the largest buffer has 1 chunk" },
	{ 1, "coll='allreduce'", "coll='other'", -EINVAL,
	  "line 1: coll=\"other\" is not known, and in place it is not seen what ends where" },
	{ 1, "inplace='1'", "inplace='2'", -EINVAL,
	  "line 1: inplace=\"2\" is no number from 0 to 1" },
	/* gpus */
	{ 8, "id='1'", "id='2'", -EINVAL, "line 8: id=\"2\" is no number from 0 to 1" },
	{ 8, "id='1'", "id='0'", -EINVAL, "line 8: gpu 0 is there a second time" },
	{ 8, "i_chunks='1'", "i_chunks='-1'", -EINVAL,
	  "line 8: i_chunks=\"-1\" is no number from 0 to 4194304" },
	{ 8, "i_chunks='1'", "i_chunks='2'", -EINVAL,
	  "line 8: gpu 1 has i_chunks=\"2\", what is to be done wants 1" },
	{ 8, "s_chunks='1'", "s_chunks='4194304'", -E2BIG,
	  "line 8: the buffers have more than 2^22 chunks" },
	/* threadblocks */
	{ 3, "id='0'", "id='1'", -EINVAL,
	  "line 3: the threadblock has id 1, the next of gpu 0 is 0" },
	{ 3, "send='1'", "send='2'", -EINVAL, "line 3: send=\"2\" is no number from 0 to 1" },
	{ 3, "send='1'", "send='0'", -EINVAL, "line 3: gpu 0 sends to itself" },
	{ 3, "send='1'", "send='-1'", -EINVAL,
	  "line 5: the step sends, and the threadblock has send=\"-1\"" },
	{ 3, "recv='1'", "recv='-1'", -EINVAL,
	  "line 4: the step receives, and the threadblock has recv=\"-1\"" },
	{ 3, "chan='0'", "chan='x'", -EINVAL, "line 3: chan=\"x\" is no number from 0 to 4194304" },
	{ 3, "<tb", "<tb id='0' send='1' recv='-1'/>\n<tb", -EINVAL,
	  "line 4: the threadblock has id 0, the next of gpu 0 is 1" },
	{ 7, "</gpu>", "<tb id='1' send='1' recv='-1'/></gpu>", -EINVAL,
	  "line 7: another threadblock of gpu 0 sends to gpu 1 on channel 0" },
	/* steps */
	{ 4, "s='0'", "s='1'", -EINVAL,
	  "line 4: the step has number 1, the next of the threadblock is 0" },
	{ 4, "type='rrc'", "type='rrx'", -EINVAL, "line 4: type=\"rrx\" is none that is known" },
	{ 4, "type='rrc'", "", -EINVAL, "line 4: step has no type" },
	{ 4, "srcbuf='i'", "srcbuf='x'", -EINVAL, "line 4: srcbuf=\"x\" is none that is known" },
	{ 4, "srcoff='0'", "srcoff='1'", -EINVAL,
	  "line 4: srcoff=\"1\" and cnt=\"1\" are beyond the 1 chunks of buffer i" },
	{ 4, "dstoff='0'", "dstoff='7'", -EINVAL,
	  "line 4: dstoff=\"7\" and cnt=\"1\" are beyond the 1 chunks of buffer i" },
	{ 4, "cnt='1'", "cnt='0'", -EINVAL, "line 4: cnt=\"0\": the step does nothing" },
	{ 4, "cnt='1'", "cnt='2'", -EINVAL,
	  "line 4: srcoff=\"0\" and cnt=\"2\" are beyond the 1 chunks of buffer i" },
	{ 4, "depid='-1'", "depid='0'", -EINVAL,
	  "line 4: of depid and deps one is -1 and the other is not" },
	{ 4, "depid='-1' deps='-1'", "depid='4' deps='0'", -EINVAL,
	  "line 4: depid=\"4\", gpu 0 has 1 threadblocks" },
	{ 4, "depid='-1' deps='-1'", "depid='0' deps='2'", -EINVAL,
	  "line 4: deps=\"2\", threadblock 0 has 2 steps" },
	/* what is done */
	{ 4, "depid='-1' deps='-1'", "depid='0' deps='1'", -EBADMSG,
	  "line 4: the step waits for itself, by way of others" },
	{ 11, "type='r'", "type='nop'", -EBADMSG,
	  "line 5: the step sends what gpu 1 never receives on that channel" },
	{ 10, "type='s'", "type='nop'", -EBADMSG,
	  "line 4: the step receives what gpu 1 never sends on that channel" },
	{ 9, "chan='0'", "chan='1'", -EBADMSG,
	  "line 5: the step sends what gpu 1 never receives on that channel" },
	{ 10, "srcbuf='o'", "srcbuf='s'", -EBADMSG,
	  "line 10: there is nothing at s 0 of gpu 1 yet" },
	{ 4, "type='rrc'", "type='r'", -EBADMSG,
	  "line 2: output 0 of gpu 0 is not what it should be in the end" },
	{ 11, "dstbuf='o'", "dstbuf='s'", -EBADMSG,
	  "line 8: gpu 1 has this chunk at another place, otherwise summed" },
	{ 4, "dstbuf='i'", "dstbuf='s'", -EBADMSG,
	  "line 2: gpu 0 has this chunk at another place, otherwise summed" },
	{ 1, "inplace='1'", "inplace='0'", -EBADMSG,
	  "line 10: there is nothing at o 0 of gpu 1 yet" },
	{ 1, "coll='allreduce'", "coll='allgather'", -EINVAL,
	  "line 2: the chunks of gpu 0 can't be shared by 2 gpus without rest" },
	{ 1, "coll='allreduce'", "coll='broadcast'", -EBADMSG,
	  "line 2: output 0 of gpu 0 is not what it should be in the end" },
};

/* The text with @old on that line replaced. */
static char *spoil(const struct spoilt *how, size_t *length)
{
	const char *line = small, *found;
	char *text = malloc(sizeof(small) + 256);

	assert_non_null(text);
	for (int at = 1; at < how->line; at++)
		line = strchr(line, '\n') + 1;
	found = strstr(line, how->old);
	assert_non_null(found);
	*length = (size_t)sprintf(text, "%.*s%s%s", (int)(found - small), small, how->new,
				  found + strlen(how->old));
	return text;
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
	struct morph_collective *collective = empty();
	unsigned int wrong = 0;
	char why[256];

	(void)state;
	assert_int_equal(
		morph_msccl_read(collective, small, sizeof(small) - 1, 8, why, sizeof(why)), 0);
	assert_done(collective);
	for (size_t at = 0; at < sizeof(spoilt) / sizeof(*spoilt); at++) {
		size_t length;
		char *text = spoil(&spoilt[at], &length);
		int ret;

		strcpy(why, "");
		ret = morph_msccl_read(collective, text, length, 8, why, sizeof(why));
		if (ret != spoilt[at].ret || strcmp(why, spoilt[at].why) != 0)
			wrong += printf("'%s': %d, %s\n", spoilt[at].new, ret, why) > 0;
		assert_int_equal(morph_msccl_read(collective, text, length, 8, NULL, 0), ret);
		free(text);
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(morph_msccl_read(collective, small, (64U << 20) + 1, 8, why, sizeof(why)),
			 -E2BIG);
	morph_collective_free(collective);
}

#define STEP(number, type, src, dst)                                                      \
	"<step s='" #number "' type='" type "' srcbuf='i' srcoff='" #src "' dstbuf='" dst \
	"' dstoff='0' cnt='1'/>\n"

/* What a program may do, and a collective not: gpu 0 sends on its lines 4 and on. */
static const struct {
	const char *text, *why;
} beyond[] = {
	{ "<algo ngpus='2' coll='mine'>\n"
	  "<gpu id='0' i_chunks='2' o_chunks='0' s_chunks='0'>\n"
	  "<tb id='0' send='1'>\n" STEP(0, "s", 0, "o")
		  STEP(1, "s", 1, "o") "</tb></gpu>\n"
				       "<gpu id='1' i_chunks='1' o_chunks='0' s_chunks='0'>\n"
				       "<tb id='0' recv='0'>\n" STEP(0, "rrc", 0, "i")
					       STEP(1, "rrc", 0, "i") "</tb></gpu></algo>",
	  "line 5: inputs 1 and others of gpu 0 are summed" },
	{ "<algo ngpus='2' coll='allreduce' inplace='1'>\n"
	  "<gpu id='0' i_chunks='2' o_chunks='2' s_chunks='0'>\n"
	  "<tb id='0' send='1'>\n" STEP(
		  0, "s", 1, "o") "</tb></gpu>\n"
				  "<gpu id='1' i_chunks='2' o_chunks='2' s_chunks='0'>\n"
				  "<tb id='0' recv='0'>\n" STEP(0, "rrc", 0,
								"i") "</tb></gpu></algo>",
	  "line 8: input 0 of gpu 1 is summed with input 1 of gpu 0" },
	{ "<algo ngpus='3' coll='mine'>\n"
	  "<gpu id='0' i_chunks='1' o_chunks='0' s_chunks='0'>\n"
	  "<tb id='0' send='1'>\n" STEP(
		  0, "s", 0,
		  "o") "</tb></gpu>\n"
		       "<gpu id='1' i_chunks='1' o_chunks='0' s_chunks='0'>\n"
		       "<tb id='0' recv='0'>\n" STEP(
			       0, "rrc", 0,
			       "i") "</tb></gpu>\n"
				    "<gpu id='2' i_chunks='1' o_chunks='0' s_chunks='0'/></algo>",
	  "line 4: input 0 of gpu 0 is summed with that of 1 of the other 2 gpus" },
	{ "<algo ngpus='3' coll='mine'>\n"
	  "<gpu id='0' i_chunks='1' o_chunks='0' s_chunks='0'>\n"
	  "<tb id='0' send='1'>\n" STEP(0, "s", 0, "o") "</tb><tb id='1' send='2'>\n" STEP(
		  0, "s", 0,
		  "o") "</tb></gpu>\n"
		       "<gpu id='1' i_chunks='0' o_chunks='1' s_chunks='0'>\n"
		       "<tb id='0' recv='0'>\n" STEP(
			       0, "r", 0,
			       "o") "</tb></gpu>\n"
				    "<gpu id='2' i_chunks='0' o_chunks='1' s_chunks='0'>\n"
				    "<tb id='0' recv='0'>\n" STEP(0, "r", 0,
								  "o") "</tb></gpu></algo>",
	  "line 4: input 0 of gpu 0 ends at 2 of 3 gpus" },
};

static void what_collectives_do_not_do_is_told_with_its_line(void **state)
{
	struct morph_collective *collective = empty();
	char why[256];

	(void)state;
	for (size_t at = 0; at < sizeof(beyond) / sizeof(*beyond); at++) {
		assert_int_equal(morph_msccl_read(collective, beyond[at].text,
						  strlen(beyond[at].text), 8, why, sizeof(why)),
				 -EBADMSG);
		assert_string_equal(why, beyond[at].why);
	}
	morph_collective_free(collective);
}

/* No part of a file is a whole one. */
static void what_is_cut_off_is_refused(void **state)
{
	struct morph_collective *collective = empty();
	char why[256];

	(void)state;
	for (size_t length = 0; length < sizeof(small) - 2; length++) {
		char *text = malloc(length + 1);

		assert_non_null(text);
		memcpy(text, small, length);
		assert_int_equal(morph_msccl_read(collective, text, length, 8, why, sizeof(why)),
				 -EINVAL);
		assert_true(!strncmp(why, "line ", 5));
		free(text);
	}
	morph_collective_free(collective);
}

/* A chunk that is summed with itself, and others that a collective can't do, though a program may. */
static void what_is_summed_twice_is_refused(void **state)
{
	static const char *const steps[] = {
		"<step s='0' type='cpy' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' cnt='1'/>"
		"<step s='1' type='re' srcbuf='s' srcoff='0' dstbuf='i' dstoff='0' cnt='1'/>",
		"<step s='0' type='re' srcbuf='i' srcoff='1' dstbuf='i' dstoff='0' cnt='1'/>",
		"<step s='0' type='re' srcbuf='s' srcoff='0' dstbuf='i' dstoff='0' cnt='1'/>",
		"<step s='0' type='re' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' cnt='1'/>",
	};
	static const char *const why_not[] = {
		"line 1: the step sums a chunk with what is in it already",
		"line 1: the step sums two chunks of the gpu's own input",
		"line 1: there is nothing at s 0 of gpu 0 yet",
		"line 1: there is nothing at s 0 of gpu 0 yet",
	};
	struct morph_collective *collective = empty();
	char text[1024], why[256];

	(void)state;
	for (int at = 0; at < 4; at++) {
		int length = sprintf(text,
				     "<algo ngpus='1' coll='mine'><gpu id='0' i_chunks='2' "
				     "o_chunks='1' s_chunks='1'><tb id='0'>%s</tb></gpu></algo>",
				     steps[at]);

		assert_int_equal(morph_msccl_read(collective, text, (size_t)length, 8, why,
						  sizeof(why)),
				 -EBADMSG);
		assert_string_equal(why, why_not[at]);
	}
	morph_collective_free(collective);
}

static void memory_that_is_missing_is_told(void **state)
{
	struct morph_collective *collective = empty(), *built = ring(3, 10);
	char why[256] = "";
	unsigned int failed = 0;
	int ret = -ENOMEM;

	(void)state;
	for (unsigned int nth = 1; ret; nth++) {
		fault_at("memory", nth, ENOMEM);
		ret = morph_msccl_read(collective, small, sizeof(small) - 1, 8, why, sizeof(why));
		failed += fault_struck();
		assert_true(!ret || ret == -ENOMEM);
		if (ret)
			assert_string_equal(why, "out of memory");
	}
	assert_true(failed > 20);
	failed = 0;
	ret = -ENOMEM;
	for (unsigned int nth = 1; ret < 0; nth++) {
		fault_at("memory", nth, ENOMEM);
		ret = (int)morph_msccl_write(built, "a", NULL, 0, why, sizeof(why));
		failed += fault_struck();
		assert_true(ret > 0 || ret == -ENOMEM);
		if (ret < 0)
			assert_string_equal(why, "out of memory");
	}
	assert_true(failed > 8);
	morph_collective_free(collective);
	morph_collective_free(built);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_in_fused_steps_is_the_ring),
		cmocka_unit_test(parts_in_scratch_are_summed_where_they_arrive),
		cmocka_unit_test(what_is_passed_on_keeps_what_it_is),
		cmocka_unit_test(rings_come_back_as_they_were),
		cmocka_unit_test(exchanges_come_back_as_they_were),
		cmocka_unit_test(many_sums_in_a_round_stay_in_it),
		cmocka_unit_test(gathers_come_back_as_they_were),
		cmocka_unit_test(all_to_alls_come_back_as_they_were),
		cmocka_unit_test(mixed_collectives_come_back_as_they_were),
		cmocka_unit_test(random_rounds_come_back),
		cmocka_unit_test(what_has_no_file_is_refused),
		cmocka_unit_test(what_is_wrong_is_told_with_its_line),
		cmocka_unit_test(what_collectives_do_not_do_is_told_with_its_line),
		cmocka_unit_test(what_is_cut_off_is_refused),
		cmocka_unit_test(what_is_summed_twice_is_refused),
		cmocka_unit_test(memory_that_is_missing_is_told),
	};

	if (argc != 2)
		return 2;
	directory = argv[1];
	return cmocka_run_group_tests(tests, begin, end);
}
