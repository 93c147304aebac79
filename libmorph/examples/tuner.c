// SPDX-License-Identifier: MIT
/*
 * A tuner of a collective library with libmorph. When a communicator begins, it reads plans from a
 * file, if there is one. For each call it looks up the best algorithm and circuits for the number
 * of bytes. When the communicator ends, it writes the plans for the next time.
 *
 *	printf 'all-reduce 4000000\nall-to-all 65536\n' | tuner PLANS RANKS PLANES
 *
 * cc tuner.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <errno.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tuner {
	struct morph_ctx *ctx;
	struct morph_shim *shim;
	const struct morph_shim_plan *before; /* its circuits are lit */
	const char *path;
};

static const char *const kinds[] = { "all-reduce", "reduce-scatter", "all-gather", "all-to-all",
				     "broadcast" };

/* The content and size of a file; NULL if there is none. */
static void *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	char *data = NULL;
	long size;

	if (!file)
		return NULL;
	if (!fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET)) {
		data = malloc((size_t)size + 1);
		*bytes = data ? fread(data, 1, (size_t)size, file) : 0;
	}
	fclose(file);
	return data;
}

/* Report stale or damaged plans, and rebuild them. */
static void take_plans(struct tuner *tuner)
{
	size_t bytes = 0;
	void *data = read_file(tuner->path, &bytes);
	char why[256];

	if (data && morph_shim_read(tuner->shim, data, bytes)) {
		morph_shim_why(tuner->shim, why, sizeof(why));
		fprintf(stderr, "%s: %s\n", tuner->path, why);
	}
	free(data);
}

/* A real program uses the measured delay (morph_delay_observe()) and the checksum of the fabric. */
static int tuner_begin(struct tuner *tuner, const char *path, uint32_t ranks, uint32_t planes)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = ranks, .planes = planes, .parts = 2);
	MORPH_OPTS(morph_delay_opts, link, .mbps = 800000, .round_ns = 500, .hop_ns = 100,
		   .settle_ns = 3700, .relock_ns = 500);
	struct morph_delay *delay;
	int ret;

	*tuner = (struct tuner){ .path = path };
	ret = morph_ctx_new(NULL, &tuner->ctx);
	if (ret)
		return ret;
	delay = morph_delay_new(tuner->ctx);
	if (!delay)
		return -ENOMEM;
	ret = morph_delay_set(delay, &link);
	if (!ret)
		ret = morph_shim_new(tuner->ctx, delay, &opts, &tuner->shim);
	morph_delay_free(delay);
	if (ret)
		fprintf(stderr, "%s\n", morph_error_text(tuner->ctx));
	else
		take_plans(tuner);
	return ret;
}

/* The library's call for each collective. Without a plan it uses its own algorithm. */
static void tuner_ask(struct tuner *tuner, uint32_t kind, uint64_t bytes)
{
	const struct morph_shim_plan *plan;
	MORPH_OPTS(morph_shim_plan_info, info);
	MORPH_OPTS(morph_schedule_result, schedule);
	char why[256];

	if (morph_shim_lookup(tuner->shim, kind, bytes, tuner->before, &plan)) {
		morph_shim_why(tuner->shim, why, sizeof(why));
		printf("%s of %llu bytes: %s\n", kinds[kind - 1], (unsigned long long)bytes, why);
		return;
	}
	morph_shim_plan_info(plan, &info);
	morph_schedule_result(info.schedule, &schedule);
	printf("%s of %llu bytes: %s", kinds[kind - 1], (unsigned long long)bytes,
	       morph_enum_name(MORPH_ENUM_ALGORITHM, info.choice.algorithm));
	if (info.choice.radix)
		printf(" of radix %u", info.choice.radix);
	if (info.choice.segments)
		printf(" of %u segments", info.choice.segments);
	if (info.choice.extent[1])
		printf(" of %ux%ux%u", info.choice.extent[0], info.choice.extent[1],
		       info.choice.extent[2] ? info.choice.extent[2] : 1);
	printf(", %s, %u changes, %llu ns\n",
	       morph_enum_name(MORPH_ENUM_POLICY, info.choice.policy), schedule.changes,
	       (unsigned long long)info.choice.ns);
	tuner->before = plan;
}

static void tuner_end(struct tuner *tuner)
{
	ssize_t bytes = morph_shim_write(tuner->shim, NULL, 0);
	char *data = bytes > 0 ? malloc((size_t)bytes) : NULL;
	FILE *file = data ? fopen(tuner->path, "wb") : NULL;

	if (file && (morph_shim_write(tuner->shim, data, (size_t)bytes) != bytes ||
		     fwrite(data, 1, (size_t)bytes, file) != (size_t)bytes))
		fprintf(stderr, "%s: not all is written\n", tuner->path);
	if (file && fclose(file))
		perror(tuner->path);
	free(data);
	morph_shim_free(tuner->shim);
	morph_ctx_free(tuner->ctx);
}

int main(int argc, char **argv)
{
	unsigned long long bytes;
	struct tuner tuner;
	char word[32];

	if (argc != 4) {
		fprintf(stderr, "usage: tuner PLANS RANKS PLANES < lines of COLLECTIVE BYTES\n");
		return 2;
	}
	if (tuner_begin(&tuner, argv[1], (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]))) {
		morph_ctx_free(tuner.ctx);
		return 1;
	}
	while (scanf("%31s %llu", word, &bytes) == 2)
		for (uint32_t kind = 1; kind <= 5; kind++)
			if (!strcmp(word, kinds[kind - 1]))
				tuner_ask(&tuner, kind, bytes);
	tuner_end(&tuner);
	return 0;
}
