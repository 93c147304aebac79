// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader refuses invalid MSCCL XML, and names the line of the error. */
#include <morph/formats.h>
#include <stdio.h>

#include "faults.h"
#include "moving.h"
#include "scheduling.h"

/* Two GPUs that sum a chunk: GPU 1 sends its part, GPU 0 sends the sum. */
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

struct corrupted {
	long line; /* on which the first @old is */
	const char *old, *new;
	long ret;
	const char *why;
};

static const struct corrupted corrupted[] = {
	/* the form */
	{ 1, "<algo", "algo", -EINVAL, "line 1: syntax error" },
	{ 1, "<algo", "<!DOCTYPE x [<!ENTITY a 'b'>]><algo", -EINVAL,
	  "line 1: document type not supported" },
	{ 1, "algo", "gpu", -EINVAL, "line 1: found <gpu>, expected <algo>" },
	{ 2, "<gpu", "<tb/><gpu", -EINVAL, "line 2: found <tb>, expected <gpu>" },
	{ 4, "/>", "><x/></step>", -EINVAL, "line 4: found <x>, expected </step>" },
	{ 14, "</algo>", "", -EINVAL, "line 15: no element found" },
	{ 4, "cnt='1'", "cnt='1' cnt='1'", -EINVAL, "line 4: duplicate attribute" },
	/* algo */
	{ 1, "ngpus='2'", "", -EINVAL, "line 1: algo has no ngpus" },
	{ 1, "ngpus='2'", "ngpus='0'", -EINVAL, "line 1: no gpu element" },
	{ 1, "ngpus='2'", "ngpus='4097'", -EINVAL,
	  "line 1: ngpus=\"4097\" is not a number from 0 to 4096" },
	{ 1, "ngpus='2'", "ngpus='3'", -EINVAL, "line 1: ngpus=\"3\", the file has 2" },
	{ 1, "ngpus='2'", "ngpus='99999999999999999999999'", -EINVAL,
	  "line 1: ngpus=\"99999999999999999999\" is not a number from 0 to 4096" },
	{ 1, "coll='allreduce'", "", -EINVAL, "line 1: algo lacks coll" },
	{ 1, "nchunksperloop='1'", "nchunksperloop='4'", -EINVAL,
	  "line 1: nchunksperloop=\"4\", the largest buffer has 1 chunk" },
	{ 1, "coll='allreduce'", "coll='other'", -EINVAL,
	  "line 1: coll=\"other\" is unknown, and with inplace=\"1\" the file does not show its result" },
	{ 1, "inplace='1'", "inplace='2'", -EINVAL,
	  "line 1: inplace=\"2\" is not a number from 0 to 1" },
	/* gpus */
	{ 8, "id='1'", "id='2'", -EINVAL, "line 8: id=\"2\" is not a number from 0 to 1" },
	{ 8, "id='1'", "id='0'", -EINVAL, "line 8: gpu 0 appears twice" },
	{ 8, "i_chunks='1'", "i_chunks='-1'", -EINVAL,
	  "line 8: i_chunks=\"-1\" is not a number from 0 to 4194304" },
	{ 8, "i_chunks='1'", "i_chunks='2'", -EINVAL,
	  "line 8: gpu 1 has i_chunks=\"2\", the collective requires 1" },
	{ 8, "s_chunks='1'", "s_chunks='4194304'", -E2BIG,
	  "line 8: the buffers have more than 2^22 chunks" },
	/* threadblocks */
	{ 3, "id='0'", "id='1'", -EINVAL,
	  "line 3: the threadblock has id 1, the next id of gpu 0 is 0" },
	{ 3, "send='1'", "send='2'", -EINVAL, "line 3: send=\"2\" is not a number from 0 to 1" },
	{ 3, "send='1'", "send='0'", -EINVAL, "line 3: gpu 0 sends to itself" },
	{ 3, "send='1'", "send='-1'", -EINVAL,
	  "line 5: the step sends, but the threadblock has send=\"-1\"" },
	{ 3, "recv='1'", "recv='-1'", -EINVAL,
	  "line 4: the step receives, but the threadblock has recv=\"-1\"" },
	{ 3, "chan='0'", "chan='x'", -EINVAL,
	  "line 3: chan=\"x\" is not a number from 0 to 4194304" },
	{ 3, "<tb", "<tb id='0' send='1' recv='-1'/>\n<tb", -EINVAL,
	  "line 4: the threadblock has id 0, the next id of gpu 0 is 1" },
	{ 7, "</gpu>", "<tb id='1' send='1' recv='-1'/></gpu>", -EINVAL,
	  "line 7: another threadblock of gpu 0 sends to gpu 1 on channel 0" },
	/* steps */
	{ 4, "s='0'", "s='1'", -EINVAL,
	  "line 4: the step has number 1, the next number of the threadblock is 0" },
	{ 4, "type='rrc'", "type='rrx'", -EINVAL, "line 4: type=\"rrx\" is unknown" },
	{ 4, "type='rrc'", "", -EINVAL, "line 4: step has no type" },
	{ 4, "srcbuf='i'", "srcbuf='x'", -EINVAL, "line 4: srcbuf=\"x\" is unknown" },
	{ 4, "srcoff='0'", "srcoff='1'", -EINVAL,
	  "line 4: srcoff=\"1\" and cnt=\"1\" are beyond the 1 chunks of buffer i" },
	{ 4, "dstoff='0'", "dstoff='7'", -EINVAL,
	  "line 4: dstoff=\"7\" and cnt=\"1\" are beyond the 1 chunks of buffer i" },
	{ 4, "cnt='1'", "cnt='0'", -EINVAL, "line 4: cnt=\"0\": the step does nothing" },
	{ 4, "cnt='1'", "cnt='2'", -EINVAL,
	  "line 4: srcoff=\"0\" and cnt=\"2\" are beyond the 1 chunks of buffer i" },
	{ 4, "depid='-1'", "depid='0'", -EINVAL,
	  "line 4: depid and deps must both be -1, or neither" },
	{ 4, "depid='-1' deps='-1'", "depid='4' deps='0'", -EINVAL,
	  "line 4: depid=\"4\", gpu 0 has 1 threadblocks" },
	{ 4, "depid='-1' deps='-1'", "depid='0' deps='2'", -EINVAL,
	  "line 4: deps=\"2\", threadblock 0 has 2 steps" },
	/* what is done */
	{ 4, "depid='-1' deps='-1'", "depid='0' deps='1'", -EBADMSG,
	  "line 4: the step waits for itself through other steps" },
	{ 11, "type='r'", "type='nop'", -EBADMSG,
	  "line 5: the step sends data that gpu 1 never receives on that channel" },
	{ 10, "type='s'", "type='nop'", -EBADMSG,
	  "line 4: the step receives data that gpu 1 never sends on that channel" },
	{ 9, "chan='0'", "chan='1'", -EBADMSG,
	  "line 5: the step sends data that gpu 1 never receives on that channel" },
	{ 10, "srcbuf='o'", "srcbuf='s'", -EBADMSG, "line 10: no data at s 0 of gpu 1 yet" },
	{ 4, "type='rrc'", "type='r'", -EBADMSG,
	  "line 2: output 0 of gpu 0 has wrong data at the end" },
	{ 11, "dstbuf='o'", "dstbuf='s'", -EBADMSG,
	  "line 8: gpu 1 has this chunk in another buffer with another sum" },
	{ 4, "dstbuf='i'", "dstbuf='s'", -EBADMSG,
	  "line 2: gpu 0 has this chunk in another buffer with another sum" },
	{ 1, "inplace='1'", "inplace='0'", -EBADMSG, "line 10: no data at o 0 of gpu 1 yet" },
	{ 1, "coll='allreduce'", "coll='allgather'", -EINVAL,
	  "line 2: the number of chunks of gpu 0 must be a multiple of 2 gpus" },
	{ 1, "coll='allreduce'", "coll='broadcast'", -EBADMSG,
	  "line 2: output 0 of gpu 0 has wrong data at the end" },
};

/* Replace @old on that line of the text. */
static char *corrupt(const struct corrupted *how, size_t *length)
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

static void errors_name_their_line(void **state)
{
	struct morph_collective *collective = empty_collective();
	unsigned int wrong = 0;
	char why[256];

	(void)state;
	assert_int_equal(
		morph_msccl_read(collective, small, sizeof(small) - 1, 8, why, sizeof(why)), 0);
	assert_done(collective);
	for (size_t at = 0; at < sizeof(corrupted) / sizeof(*corrupted); at++) {
		size_t length;
		char *text = corrupt(&corrupted[at], &length);
		int ret;

		strcpy(why, "");
		ret = morph_msccl_read(collective, text, length, 8, why, sizeof(why));
		if (ret != corrupted[at].ret || strcmp(why, corrupted[at].why) != 0)
			wrong += printf("'%s': %d, %s\n", corrupted[at].new, ret, why) > 0;
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

/* Valid for a program, but not for a collective: GPU 0 sends on lines 4 and later. */
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
	  "line 5: the algorithm sums input 1 and another input of gpu 0" },
	{ "<algo ngpus='2' coll='allreduce' inplace='1'>\n"
	  "<gpu id='0' i_chunks='2' o_chunks='2' s_chunks='0'>\n"
	  "<tb id='0' send='1'>\n" STEP(
		  0, "s", 1, "o") "</tb></gpu>\n"
				  "<gpu id='1' i_chunks='2' o_chunks='2' s_chunks='0'>\n"
				  "<tb id='0' recv='0'>\n" STEP(0, "rrc", 0,
								"i") "</tb></gpu></algo>",
	  "line 8: the algorithm sums input 0 of gpu 1 and input 1 of gpu 0" },
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
	  "line 4: the sum of input 0 of gpu 0 has the input of 1 of the other 2 gpus" },
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

static void unsupported_collectives_are_refused_with_their_line(void **state)
{
	struct morph_collective *collective = empty_collective();
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

/* No part of a file is a complete file. */
static void truncated_files_are_refused(void **state)
{
	struct morph_collective *collective = empty_collective();
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

/* A chunk that is summed with itself, and other programs that are no collectives. */
static void double_sums_are_refused(void **state)
{
	static const char *const steps[] = {
		("<step s='0' type='cpy' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' cnt='1'/>"
		 "<step s='1' type='re' srcbuf='s' srcoff='0' dstbuf='i' dstoff='0' cnt='1'/>"),
		"<step s='0' type='re' srcbuf='i' srcoff='1' dstbuf='i' dstoff='0' cnt='1'/>",
		"<step s='0' type='re' srcbuf='s' srcoff='0' dstbuf='i' dstoff='0' cnt='1'/>",
		"<step s='0' type='re' srcbuf='i' srcoff='0' dstbuf='s' dstoff='0' cnt='1'/>",
	};
	static const char *const why_not[] = {
		"line 1: the step adds a part that the chunk already contains",
		"line 1: the step sums two chunks of the gpu's own input",
		"line 1: no data at s 0 of gpu 0 yet",
		"line 1: no data at s 0 of gpu 0 yet",
	};
	struct morph_collective *collective = empty_collective();
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

/*
 * A chunk that goes from GPU to GPU in this order. Each GPU has a line for sending and a line for
 * receiving.
 */
struct move {
	unsigned int src, dst;
	bool summed;
};

#define MOST_MOVES 8

/*
 * @lines: by move, the line that receives it; from MOST_MOVES on, by GPU, the line of its
 * beginning.
 */
static void write_moves(char *text, unsigned int gpus, const struct move *moves, unsigned int count,
			unsigned int *lines)
{
	unsigned int line = 1;

	text += sprintf(text, "<algo ngpus='%u' coll='allreduce' inplace='1'>\n", gpus);
	for (unsigned int gpu = 0; gpu < gpus; gpu++) {
		unsigned int blocks = 0;

		lines[MOST_MOVES + gpu] = ++line;
		text += sprintf(text, "<gpu id='%u' i_chunks='1' o_chunks='1' s_chunks='0'>\n",
				gpu);
		for (unsigned int at = 0; at < count; at++) {
			bool sends = moves[at].src == gpu;

			if (!sends && moves[at].dst != gpu)
				continue;
			line++;
			if (!sends)
				lines[at] = line;
			text += sprintf(text,
					"<tb id='%u' %s='%u' chan='%u'><step s='0' type='%s' ",
					blocks, sends ? "send" : "recv",
					sends ? moves[at].dst : moves[at].src, at,
					sends		 ? "s" :
					moves[at].summed ? "rrc" :
							   "r");
			text += sprintf(text,
					"srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='1' "
					"depid='%d' deps='%d'/></tb>\n",
					(int)blocks - 1, blocks ? 0 : -1);
			blocks++;
		}
		line++;
		text += sprintf(text, "</gpu>\n");
	}
	sprintf(text, "</algo>\n");
}

/* The only error is a sum with missing or repeated input. */
static void incomplete_and_double_sums_are_refused_with_their_line(void **state)
{
	static const struct {
		unsigned int gpus, count,
			line; /* of that move, or from MOST_MOVES on of that GPU */
		struct move moves[MOST_MOVES];
		const char *why;
	} programs[] = {
		{ 2,
		  4,
		  2,
		  { { 0, 1, true }, { 1, 0, false }, { 0, 1, true }, { 1, 0, false } },
		  "gpu 1 adds data of gpu 0 to a sum that already contains it" },
		{ 3,
		  4,
		  3,
		  { { 0, 1, true }, { 0, 2, true }, { 1, 0, false }, { 1, 2, true } },
		  "gpu 2 adds data of gpu 1 to a sum that already contains it" },
		{ 3,
		  3,
		  MOST_MOVES,
		  { { 1, 0, true }, { 0, 2, true }, { 2, 1, false } },
		  "gpu 0 ends with a sum of input 0 that lacks parts" },
		{ 3,
		  5,
		  1,
		  { { 0, 1, true },
		    { 2, 0, false },
		    { 1, 2, true },
		    { 2, 0, false },
		    { 2, 1, false } },
		  "data of gpu 2 replaces a sum of which it lacks a part" },
	};
	struct morph_collective *collective = empty_collective();
	unsigned int lines[MOST_MOVES + 3];
	char text[4096], why[256], wanted[256];

	(void)state;
	for (size_t at = 0; at < sizeof(programs) / sizeof(*programs); at++) {
		write_moves(text, programs[at].gpus, programs[at].moves, programs[at].count, lines);
		sprintf(wanted, "line %u: %s", lines[programs[at].line], programs[at].why);
		assert_int_equal(morph_msccl_read(collective, text, strlen(text), 8, why,
						  sizeof(why)),
				 -EBADMSG);
		assert_string_equal(why, wanted);
	}
	morph_collective_free(collective);
}

static void lack_of_memory_is_reported(void **state)
{
	struct morph_collective *collective = empty_collective();
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
	morph_collective_free(collective);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_name_their_line),
		cmocka_unit_test(unsupported_collectives_are_refused_with_their_line),
		cmocka_unit_test(truncated_files_are_refused),
		cmocka_unit_test(double_sums_are_refused),
		cmocka_unit_test(incomplete_and_double_sums_are_refused_with_their_line),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
