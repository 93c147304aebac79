// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shared by tests of placement and of its checker. */
#include <stdio.h>
#include <sys/stat.h>

#include "../check/check.h"
#include "../internal/planner.h"
#include "placing.h"

uint8_t *rack_profile;
size_t rack_bytes;

int placing_setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	assert_non_null(bench);
	bench->ctx = fake_ctx(&fake_new()->transport);
	assert_int_equal(morph_model_parse(bench->ctx, rack_profile, rack_bytes, &bench->model), 0);
	assert_int_equal(morph_ledger_new(bench->ctx, bench->model, &bench->ledger), 0);
	bench->request = morph_request_new(bench->ctx);
	bench->plan = morph_plan_new(bench->ctx);
	assert_non_null(bench->request);
	assert_non_null(bench->plan);
	*state = bench;
	return 0;
}

int placing_teardown(void **state)
{
	struct bench *bench = *state;

	morph_plan_free(bench->plan);
	morph_request_free(bench->request);
	morph_ledger_free(bench->ledger);
	morph_model_put(bench->model);
	morph_ctx_free(bench->ctx);
	free(bench);
	return 0;
}

/* ------------------------------------------------------------------ checking */

static uint32_t *room_for(ssize_t bytes, size_t *size)
{
	uint32_t *words;

	assert_true(bytes > 0);
	words = malloc((size_t)bytes);
	assert_non_null(words);
	*size = (size_t)bytes;
	return words;
}

struct written write_all(const struct bench *bench, const struct morph_plan *plan)
{
	struct written all;

	all.ledger = room_for(morph_ledger_write(bench->ledger, NULL, 0), &all.ledger_bytes);
	all.request = room_for(morph_request_write(bench->request, bench->ledger, NULL, 0),
			       &all.request_bytes);
	all.plan = room_for(morph_plan_write(plan, bench->ledger, NULL, 0), &all.plan_bytes);
	assert_int_equal(morph_ledger_write(bench->ledger, all.ledger, all.ledger_bytes),
			 all.ledger_bytes);
	assert_int_equal(morph_request_write(bench->request, bench->ledger, all.request,
					     all.request_bytes),
			 all.request_bytes);
	assert_int_equal(morph_plan_write(plan, bench->ledger, all.plan, all.plan_bytes),
			 all.plan_bytes);
	return all;
}

void written_free(struct written *all)
{
	free(all->ledger);
	free(all->request);
	free(all->plan);
}

int check_written(const struct written *all, char *report, size_t room)
{
	const struct morph_check_input input = {
		.profile = { rack_profile, rack_bytes },
		.ledger = { all->ledger, all->ledger_bytes },
		.request = { all->request, all->request_bytes },
		.plan = { all->plan, all->plan_bytes },
	};

	return morph_check(&input, report, room);
}

/* Place the request, and check that the answer is valid. */
uint32_t placed(struct bench *bench, struct morph_plan *plan)
{
	struct written all;
	char report[256];

	if (morph_place(bench->ledger, bench->request, plan))
		fail_msg("%s", morph_error_text(bench->ctx));
	all = write_all(bench, plan);
	if (check_written(&all, report, sizeof(report)))
		fail_msg("%s", report);
	written_free(&all);
	return morph_plan_verdict(plan);
}

/* -------------------------------------------------------------------- shapes */

void ask_servers(struct morph_request *request, uint64_t *seed, const uint8_t extent[3])
{
	uint32_t even = !(extent[0] % 2) + !(extent[1] % 2) + !(extent[2] % 2);

	assert_int_equal(morph_request_set_servers(request, even > 1 && random_below(seed, 2)), 0);
}

void ask(struct morph_request *request, uint64_t *seed)
{
	static const uint8_t shapes[][3] = { { 2, 2, 1 }, { 2, 2, 2 }, { 2, 2, 4 }, { 2, 4, 4 },
					     { 4, 4, 2 }, { 2, 1, 1 }, { 3, 1, 1 }, { 3, 2, 1 },
					     { 3, 3, 1 }, { 4, 2, 1 }, { 1, 4, 4 }, { 2, 2, 3 } };
	static const uint8_t none[3] = { 1, 1, 1 };
	uint32_t choice = random_below(seed, 16);
	int ret;

	morph_request_set_simplex(request, random_below(seed, 4) == 0);
	if (choice < 12)
		ret = morph_request_set_shape(request, MORPH_SHAPE_TORUS, shapes[choice][0],
					      shapes[choice][1], shapes[choice][2]);
	else if (choice == 12)
		ret = morph_request_set_count(request, 1 + random_below(seed, 20));
	else if (choice == 13)
		ret = morph_request_set_shape(request, MORPH_SHAPE_RING, 2 + random_below(seed, 14),
					      1, 1);
	else if (choice == 14)
		ret = morph_request_set_shape(request, MORPH_SHAPE_MESH, 2 + random_below(seed, 5),
					      1, 1);
	else
		ret = morph_request_set_shape(request, MORPH_SHAPE_TORUS, 2, 2, 4);
	assert_int_equal(ret, 0);
	ask_servers(request, seed, choice < 12 ? shapes[choice] : none);
	assert_int_equal(morph_request_set_objective(request, random_below(seed, 3)), 0);
	assert_int_equal(morph_request_set_tier(request, 1 + (random_below(seed, 4) != 0)), 0);
	assert_int_equal(morph_request_set_transit(request, random_below(seed, 4) == 0), 0);
}

void hold_every_other_server(struct bench *bench)
{
	for (uint32_t at = 0; at < ACCELERATORS; at++)
		if (at / 4 % 2 == 0)
			assert_int_equal(morph_ledger_hold(bench->ledger, at, 1), 0);
}

/* Fibres between servers are guides of class 2 in the profile. Hold each at random. */
void hold_fibres(struct bench *bench, uint64_t *seed, uint32_t percent)
{
	const uint32_t *section = (const uint32_t *)(const void *)(rack_profile + 168 + 3 * 16);
	const uint8_t *guides = rack_profile + section[0];

	for (uint32_t at = 0; at < section[2]; at++) {
		bool held = guides[16 * at + 12] == 2 && random_below(seed, 100) < percent;

		assert_int_equal(morph_ledger_load(bench->ledger, at, held), 0);
	}
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
	FILE *in = fopen(path, "r");
	struct stat status = { 0 };
	uint8_t *data;

	if (!in || fstat(fileno(in), &status) || !(data = malloc((size_t)status.st_size)) ||
	    fread(data, 1, (size_t)status.st_size, in) != (size_t)status.st_size) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	fclose(in);
	*bytes = (size_t)status.st_size;
	return data;
}

int placing_run(int argc, char **argv, const char *name, const struct CMUnitTest *tests,
		size_t count)
{
	int failed;

	if (argc != 2) {
		fprintf(stderr, "usage: test_%s PROFILE\n", name);
		return 2;
	}
	rack_profile = read_file(argv[1], &rack_bytes);
	setvbuf(stdout, NULL, _IOLBF, 0);
	failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
	free(rack_profile);
	return failed;
}
