// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules of segments, in the format of Harvest. */
#include <morph/formats.h>
#include <stdio.h>

#include "../internal/planner.h"
#include "faults.h"
#include "scheduling.h"

/* The number of links of a step. */
static uint32_t count_links(const struct morph_segments *segments, uint32_t step)
{
	struct morph_link link;
	uint32_t count = 0;

	while (!morph_segments_link(segments, step, count, &link))
		count++;
	return count;
}

static const char published[] =
	"{\"alpha_r\": 1000.0, \"collective\": \"direct1\", \"cost\": 134649.6, \"num_of_reconfigs\": 1,\n"
	"\"reconf_cost_total\": 1000.0, \"steps\": [\n"
	"{\"step\": 1, \"topology\": [[0, 1, 1], [1, 0, 1]]},\n"
	"{\"step\": 2, \"topology\": [[0, 1, 0.5], [1, 2, 2], [2, 0, 1]]}]}\n";

static void published_files_are_read(void **state)
{
	struct morph_segments *segments = NULL;
	struct morph_segments_about about;
	struct morph_link link;
	char why[256] = "";

	(void)state;
	if (morph_segments_read(published, sizeof(published) - 1, &segments, why, sizeof(why)))
		fail_msg("%s", why);
	morph_segments_about(segments, &about);
	assert_string_equal(about.collective, "direct1");
	assert_int_equal(about.ranks, 3);
	assert_int_equal(about.steps, 2);
	assert_int_equal(about.reconfigurations, 1);
	assert_true(about.reconfiguration_ns == 1000);
	assert_true(about.all_reconfigurations_ns == 1000);
	assert_true(about.cost_ns == 134649.6);
	assert_int_equal(count_links(segments, 0), 2);
	assert_int_equal(count_links(segments, 1), 3);
	assert_int_equal(count_links(segments, 2), 0);
	assert_int_equal(morph_segments_link(segments, 1, 0, &link), 0);
	assert_int_equal(link.src, 0);
	assert_int_equal(link.dst, 1);
	assert_true(link.capacity == 0.5);
	assert_int_equal(morph_segments_link(segments, 1, 3, &link), -ENOENT);
	morph_segments_free(segments);
}

static char *write_text(const struct morph_schedule *schedule,
			const struct morph_collective *collective, const struct morph_delay *delay,
			size_t *length)
{
	char why[256] = "";
	ssize_t bytes =
		morph_segments_write(schedule, collective, delay, "x", NULL, 0, why, sizeof(why));
	char *text;

	if (bytes < 0)
		fail_msg("%s", why);
	text = malloc((size_t)bytes);
	assert_non_null(text);
	assert_int_equal(morph_segments_write(schedule, collective, delay, "x", text,
					      (size_t)bytes - 1, NULL, 0),
			 -ENOSPC);
	assert_int_equal(morph_segments_write(schedule, collective, delay, "x", text, (size_t)bytes,
					      NULL, 0),
			 bytes);
	*length = (size_t)bytes;
	return text;
}

/* Each transfer has its own circuit in each round: on two planes, each of capacity 2. */
static void assert_round(const struct morph_segments *segments,
			 const struct morph_collective *collective, uint32_t round)
{
	uint32_t count = morph_collective_transfers(collective, round);

	assert_int_equal(count_links(segments, round), count);
	for (uint32_t at = 0; at < count; at++) {
		struct morph_transfer transfer;
		bool found = false;

		morph_collective_transfer(collective, round, at, &transfer);
		for (uint32_t other = 0; other < count; other++) {
			struct morph_link link;

			assert_int_equal(morph_segments_link(segments, round, other, &link), 0);
			found |= link.src == transfer.src && link.dst == transfer.dst &&
				 link.capacity == 2;
		}
		assert_true(found);
	}
}

static void planned_schedules_come_back(void **state)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_segments *segments = NULL;
	struct morph_segments_about about;
	char why[256] = "";
	size_t length;
	char *text;

	(void)state;
	/* Shifts by 1, 1, and 2. */
	assert_int_equal(morph_collective_begin(collective, 5), 0);
	for (uint32_t round = 0; round < 3; round++) {
		assert_int_equal(morph_collective_add_round(collective), round);
		for (uint32_t rank = 0; rank < 5; rank++) {
			uint32_t dst = (rank + 1 + (round == 2)) % 5;
			int chunk = morph_collective_add_chunk(collective, rank, dst, 1 << 20);

			assert_true(morph_collective_add_transfer(collective, rank, dst, false) >=
				    0);
			assert_int_equal(morph_collective_add_run(collective, (uint32_t)chunk, 1),
					 0);
		}
	}
	assert_int_equal(morph_segments_write(schedule, collective, delay, "x", NULL, 0, why,
					      sizeof(why)),
			 -EINVAL);
	assert_string_equal(why, "no feasible schedule");
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND, .planes = 2);
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_valid(collective, delay, 2, NULL, schedule);
	text = write_text(schedule, collective, delay, &length);
	if (morph_segments_read(text, length, &segments, why, sizeof(why)))
		fail_msg("%s", why);
	morph_segments_about(segments, &about);
	assert_string_equal(about.collective, "x");
	assert_int_equal(about.ranks, 5);
	assert_int_equal(about.steps, 3);
	assert_int_equal(about.reconfigurations, 1);
	assert_true(about.reconfiguration_ns == 3750);
	assert_true(about.cost_ns == (double)morph_schedule_ns(schedule, NULL) - 3750);
	for (uint32_t round = 0; round < 3; round++)
		assert_round(segments, collective, round);
	assert_int_equal(morph_collective_begin(collective, 5), 0);
	assert_int_equal(morph_segments_write(schedule, collective, delay, "x", NULL, 0, why,
					      sizeof(why)),
			 -EINVAL);
	assert_string_equal(why, "the schedule belongs to another collective");
	free(text);
	morph_segments_free(segments);
	morph_schedule_free(schedule);
	morph_delay_free(delay);
	morph_collective_free(collective);
}

struct refused {
	const char *text, *why;
};

#define HEAD "{\"collective\": \"a\",\n \"steps\": "

static const struct refused refused[] = {
	{ "{\n\"a\":", "line 2: unexpected token near end of file" },
	{ "\n [1]", "line 2: not an object" },
	{ "{}", "line 1: 'collective' must be a text of at most 128 bytes" },
	{ "{\"cost\": 1,\n\"collective\": 5}",
	  "line 2: 'collective' must be a text of at most 128 bytes" },
	{ "{\"collective\": \"a\", \"collective\": \"b\"}",
	  "line 1: duplicate object key near '\"collective\"'" },
	{ "\n{\"collective\": \"a\"}",
	  "line 2: 'steps' must be a list of steps, numbered from 0 or 1" },
	{ "{\"collective\": \"a\",\n\"steps\": {}}",
	  "line 2: 'steps' must be a list of steps, numbered from 0 or 1" },
	{ "{\"collective\": \"cost\",\n\"x\": {\"cost\": [[1, 2],\n3]},\n\"cost\":\n-1}",
	  "line 4: cost is not a number from 0 to 1e+18" },
	{ "{\"collective\": \"a\",\r\n\"alpha_r\": \"x\"}",
	  "line 2: alpha_r is not a number from 0 to 1e+18" },
	{ "{\"collective\": \"a\",\n\"num_of_reconfigs\": 1e9}",
	  "line 2: num_of_reconfigs is not a number from 0 to 65536" },
	{ HEAD "[{\"step\": 2}]}",
	  "line 2: 'steps' must be a list of steps, numbered from 0 or 1" },
	{ HEAD "[\n{\"step\": 1}]}", "line 3: the topology of step 1 must be a list" },
	{ HEAD "[{\"step\": 1, \"a\": \"]}\\\"\",\n\"topology\": 1}]}",
	  "line 3: the topology of step 1 must be a list" },
	{ HEAD "[{\"step\": 1, \"topology\": []},\n5]}",
	  "line 3: the key 'step' of step 2 must have the next number" },
	{ HEAD "[{\"step\": 1, \"topology\": []},\n{\"topology\": [],\n\"step\": 3}]}",
	  "line 4: the key 'step' of step 2 must have the next number" },
	{ HEAD "[{\"step\": 1, \"topology\": [[0, 1, 1],\n\n [0, 0, 1]]}]}",
	  "line 4: link 2 of step 1 is not [rank, other rank, capacity], with ranks below 4096" },
	{ HEAD "[{\"step\": 1, \"topology\": [[1, 0, 1]]},\n"
	       "{\"step\": 2, \"topology\":\n[[0, 1, 1], [0, 1]]}]}",
	  "line 4: link 2 of step 2 is not [rank, other rank, capacity], with ranks below 4096" },
	{ HEAD "[{\"step\": 1, \"topology\": [[0, 4096, 1]]}]}",
	  "line 2: link 1 of step 1 is not [rank, other rank, capacity], with ranks below 4096" },
	{ HEAD "[{\"step\": 1, \"topology\": [\n\n[0,\n1, 0]]}]}",
	  "line 4: the capacity of link 1 of step 1 must be above 0, at most 4096" },
};

/* A list with more steps than the limit. */
static char *too_many(size_t *length)
{
	char *text = malloc(1 << 20), *at = text;

	assert_non_null(text);
	at += sprintf(at, HEAD "[0");
	for (uint32_t step = 0; step < 1U << 16; step++)
		at += sprintf(at, ",0");
	at += sprintf(at, "]}");
	*length = (size_t)(at - text);
	return text;
}

static void errors_name_their_line(void **state)
{
	struct morph_segments *segments = NULL;
	size_t length;
	char why[256], *text = too_many(&length);

	(void)state;
	for (size_t at = 0; at < sizeof(refused) / sizeof(*refused); at++) {
		assert_int_equal(morph_segments_read(refused[at].text, strlen(refused[at].text),
						     &segments, why, sizeof(why)),
				 -EINVAL);
		if (strcmp(why, refused[at].why) != 0)
			fail_msg("%s: %s", refused[at].text, why);
		assert_null(segments);
	}
	assert_int_equal(morph_segments_read("", (64U << 20) + 1, &segments, why, sizeof(why)),
			 -E2BIG);
	assert_int_equal(morph_segments_read(text, length, &segments, why, sizeof(why)), -E2BIG);
	assert_string_equal(why, "line 2: more than 65536 steps");
	assert_null(segments);
	free(text);
}

static void lack_of_memory_is_reported(void **state)
{
	struct morph_collective *collective = ring(4, 100);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_segments *segments = NULL;
	char why[256] = "";
	unsigned int failed = 0;
	int ret = -ENOMEM;

	(void)state;
	for (unsigned int nth = 1; ret; nth++) {
		fault_at("memory", nth, ENOMEM);
		ret = morph_segments_read(published, sizeof(published) - 1, &segments, why,
					  sizeof(why));
		failed += fault_struck();
		assert_true(!ret || ret == -ENOMEM);
		if (ret)
			assert_string_equal(why, "out of memory");
	}
	assert_true(failed >= 3);
	morph_segments_free(segments);
	segments = NULL;
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND, .planes = 1);
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	failed = 0;
	ret = -ENOMEM;
	for (unsigned int nth = 1; ret < 0; nth++) {
		fault_at("memory", nth, ENOMEM);
		ret = (int)morph_segments_write(schedule, collective, delay, "x", NULL, 0, why,
						sizeof(why));
		failed += fault_struck();
		assert_true(ret > 0 || ret == -ENOMEM);
		if (ret < 0)
			assert_string_equal(why, "out of memory");
	}
	assert_true(failed >= 3);
	fault_at("json_loadb", 1, ENOMEM);
	assert_int_equal(morph_segments_read(published, sizeof(published) - 1, &segments, why,
					     sizeof(why)),
			 -ENOMEM);
	assert_true(fault_struck());
	assert_null(segments);
	morph_segments_free(NULL);
	morph_schedule_free(schedule);
	morph_delay_free(delay);
	morph_collective_free(collective);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_files_are_read),
		cmocka_unit_test(planned_schedules_come_back),
		cmocka_unit_test(errors_name_their_line),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
