// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans of a shim in the format of <morph/wire.h>: writing and reading. */
#include <stdio.h>
#include <endian.h>

#include "../place/place.h"
#include "../util/words.h"
#include "shim.h"

#define MOST_FILE (1U << 30) /* bytes */
#define ABOUT 20 /* words after the head that describe the shim */
#define ENTRY 11 /* words of a plan before its schedule */

/* CRC-32 of IEEE 802.3, reflected, as for profiles. */
static uint32_t checksum_of(const uint8_t *data, size_t bytes)
{
	uint32_t table[256], crc = UINT32_MAX;

	for (uint32_t value = 0; value < 256; value++) {
		table[value] = value;
		for (uint32_t bit = 0; bit < 8; bit++)
			table[value] = table[value] >> 1 ^ (table[value] & 1 ? 0xedb88320 : 0);
	}
	while (bytes--)
		crc = crc >> 8 ^ table[(crc ^ *data++) & 0xff];
	return ~crc;
}

static uint32_t word_at(const uint8_t *data, size_t at)
{
	return words_at(data + 4 * at);
}

/* ------------------------------------------------------------------ writing */

/* The common part of all keys. */
static void put_about(struct words *words, const struct morph_shim *shim)
{
	words_put(words, shim->opts.ranks);
	words_put(words, shim->opts.planes);
	words_put(words, shim->opts.policy);
	words_put(words, shim->opts.root);
	words_put_long(words, shim->opts.budget);
	words_put(words, shim->opts.parts);
	words_put_long(words, shim->opts.late_ns);
	words_put(words, shim->costs.scope);
	words_put_long(words, shim->costs.round_ps);
	words_put_long(words, shim->costs.hop_ps);
	words_put_long(words, shim->costs.mbps);
	words_put_long(words, shim->costs.change_ps);
	words_put_long(words, shim->costs.port_ps);
}

/* The number of the predecessor among the written plans. */
static void put_plan(struct words *words, const struct morph_shim_plan *plan,
		     const uint32_t *numbers)
{
	const struct morph_shim_plan *by = plan->shim->states.list[plan->before].by;
	ssize_t bytes = morph_schedule_write(plan->schedule, NULL, 0);

	words_put(words, plan->kind);
	words_put(words, plan->size);
	words_put(words, by ? numbers[by->number] + 1 : 0);
	words_put(words, plan->algorithm);
	words_put(words, plan->radix);
	words_put(words, plan->segments);
	for (uint32_t dim = 0; dim < 3; dim++)
		words_put(words, plan->extent[dim]);
	words_put(words, plan->schedule->policy);
	words_put(words, (uint32_t)(bytes / 4));
	if (words->count <= words->room && words->room - words->count >= (size_t)bytes / 4)
		morph_schedule_write(plan->schedule, words->buffer + 4 * words->count,
				     (size_t)bytes);
	words->count += (size_t)bytes / 4;
}

static ssize_t write_plans(const struct morph_shim *shim, uint32_t *numbers, void *buffer,
			   size_t bytes)
{
	struct words words =
		words_begin(buffer, bytes, MORPH_WIRE_SHIM, shim->opts.profile_checksum);
	uint32_t count = 0;
	ssize_t size;

	for (uint32_t at = 0; at < shim->count; at++)
		if (lm_shim_plan_holds(shim->plans[at]))
			numbers[at] = count++;
	put_about(&words, shim);
	words_put(&words, count);
	for (uint32_t at = 0; at < shim->count; at++)
		if (lm_shim_plan_holds(shim->plans[at]))
			put_plan(&words, shim->plans[at], numbers);
	words_put(&words, 0); /* the checksum, when the rest is written */
	size = words_end(&words);
	if (size > 0 && buffer) {
		uint32_t checksum = htole32(checksum_of(buffer, (size_t)size - 4));

		memcpy((uint8_t *)buffer + size - 4, &checksum, sizeof(checksum));
	}
	return size;
}

MORPH_API ssize_t morph_shim_write(struct morph_shim *shim, void *buffer, size_t bytes)
{
	uint32_t *numbers;
	ssize_t size;

	pthread_mutex_lock(&shim->lock);
	numbers = calloc(shim->count + 1, sizeof(*numbers));
	size = numbers ? write_plans(shim, numbers, buffer, bytes) :
			 lm_no_memory(shim->ctx, "write plans");
	free(numbers);
	pthread_mutex_unlock(&shim->lock);
	return size;
}

/* ------------------------------------------------------------------ reading */

/* Does the length match the file's? */
struct file {
	const uint8_t *data;
	size_t words, next;
};

static int stale(struct morph_shim *shim, const char *what)
{
	return lm_fail(shim->ctx, ESTALE, "the plans are for %s", what);
}

/* Is it complete? */
static int check_whole(struct morph_shim *shim, const struct file *file, size_t bytes)
{
	if (bytes < 4 * (MORPH_WIRE_HEAD + ABOUT + 2) || bytes % 4 || bytes > MOST_FILE)
		return lm_fail(shim->ctx, EINVAL,
			       "it is cut off, or not a file of plans: %zu bytes", bytes);
	if (word_at(file->data, 0) != MORPH_WIRE_MAGIC || word_at(file->data, 2) != MORPH_WIRE_SHIM)
		return lm_fail(shim->ctx, EINVAL, "not a file of plans");
	if (word_at(file->data, 1) != MORPH_WIRE_VERSION)
		return lm_fail(shim->ctx, EINVAL, "it has version %u, this library reads %u",
			       word_at(file->data, 1), MORPH_WIRE_VERSION);
	if (word_at(file->data, 4) != file->words)
		return lm_fail(shim->ctx, EINVAL, "it declares %u words, but has %zu",
			       word_at(file->data, 4), file->words);
	if (word_at(file->data, file->words - 1) != checksum_of(file->data, bytes - 4))
		return lm_fail(shim->ctx, EBADMSG, "its checksum is wrong");
	return 0;
}

/* Is it for this shim? Write the same words again and compare. */
static int check_about(struct morph_shim *shim, struct file *file)
{
	static const struct {
		uint32_t until;
		const char *what;
	} parts[] = { { 1, "another number of ranks" },
		      { 2, "another number of planes" },
		      { 3, "another policy" },
		      { 4, "another root" },
		      { 6, "another budget" },
		      { 7, "other sizes" },
		      { 9, "another delay of the late rank" },
		      { ABOUT, "other delays" } };
	uint8_t about[4 * ABOUT];
	struct words words = { .buffer = about, .room = ABOUT };
	const uint8_t *theirs = file->data + 4 * MORPH_WIRE_HEAD;
	uint32_t from = 0;

	if (word_at(file->data, 3) != shim->opts.profile_checksum)
		return stale(shim, "another profile");
	put_about(&words, shim);
	for (size_t at = 0; at < ARRAY_SIZE(parts); from = parts[at++].until)
		if (memcmp(theirs + 4 * from, about + 4 * from, 4 * (parts[at].until - from)))
			return stale(shim, parts[at].what);
	file->next = MORPH_WIRE_HEAD + ABOUT;
	return 0;
}

static uint32_t take(struct file *file)
{
	return word_at(file->data, file->next++);
}

/* Its initial circuits are exactly those that the previous plan leaves lit. */
static bool begins_right(const struct morph_shim *shim, const struct morph_shim_plan *plan)
{
	const struct state *state = &shim->states.list[plan->before];
	const struct morph_schedule *schedule = plan->schedule;
	uint32_t lit = 0;

	for (uint32_t number = 0; number < schedule->residents; number++) {
		const struct hold *hold = &schedule->holds.list[number];
		const struct matching *matching = &schedule->matchings.list[hold->matching];

		for (uint32_t at = 0; at < matching->count; at++, lit++) {
			const struct morph_rank_pair *circuit =
				&schedule->circuits.list[matching->first + at];
			struct lit wanted = { hold->plane, circuit->src, circuit->dst };
			uint32_t next = 0;

			while (next < state->count &&
			       memcmp(&state->circuits[next], &wanted, sizeof(wanted)))
				next++;
			if (next == state->count)
				return false;
		}
	}
	return lit == state->count;
}

/*
 * Rebuild the rounds, since the same options always give the same. The schedule must belong to
 * them.
 */
static int read_schedule(struct morph_shim *shim, struct file *file, struct morph_shim_plan *plan)
{
	struct morph_collective_opts wanted = lm_shim_wanted(plan);
	uint32_t policy, words;
	bool is_wide = false;
	int ret;

	wanted.algorithm = plan->algorithm = take(file);
	wanted.radix = plan->radix = take(file);
	wanted.segments = plan->segments = take(file);
	for (uint32_t dim = 0; dim < 3; dim++) {
		wanted.extent[dim] = plan->extent[dim] = take(file);
		is_wide = is_wide || wanted.extent[dim] > MOST_RANKS;
	}
	policy = take(file);
	words = take(file);
	if (!policy || policy >= MORPH_POLICIES || words > file->words - 1 - file->next ||
	    wanted.radix > MOST_RANKS || wanted.segments > MOST_SEGMENTS || is_wide)
		return lm_fail(shim->ctx, EINVAL, "the description of its schedule is malformed");
	ret = morph_collective_build(plan->collective, &wanted);
	if (ret)
		return ret;
	plan->schedule->costs = shim->costs;
	plan->schedule->policy = policy;
	ret = lm_schedule_read(plan->schedule, plan->collective, shim->opts.planes,
			       file->data + 4 * file->next, words);
	if (ret)
		return ret;
	file->next += words;
	if (!begins_right(shim, plan))
		return lm_fail(
			shim->ctx, EINVAL,
			"it does not begin with the circuits that its predecessor leaves lit");
	plan->schedule->tried[policy] =
		(struct tried){ .verdict = MORPH_FEASIBLE, .finish_ps = plan->schedule->finish_ps };
	plan->schedule->tried[policy].changes =
		morph_schedule_changes(plan->schedule, &plan->schedule->tried[policy].circuits);
	return 0;
}

/* Other tenants may hold other resources than at the time of writing. */
static int find_ways(struct morph_shim *shim, struct morph_shim_plan *plan)
{
	struct morph_light light;
	int ret;

	if (!shim->lit.ledger)
		return 0;
	ret = morph_schedule_light(plan->schedule, shim->lit.ledger, shim->lit.accelerators,
				   shim->opts.ranks, &shim->light, plan->steps, &light);
	if (ret)
		return lm_fail(shim->ctx, -ret, "%s", morph_error_text(shim->lit.ledger->ctx));
	if (light.verdict != MORPH_FEASIBLE)
		return lm_fail(shim->ctx, ESTALE, "the circuits of a plan no longer have paths: %s",
			       light.why);
	return 0;
}

static int read_plan(struct morph_shim *shim, struct file *file, struct table *table)
{
	uint32_t kind, size, after, before = SHIM_DARK;
	struct morph_shim_plan *plan;
	int ret;

	if (file->words - 1 - file->next < ENTRY)
		return lm_fail(shim->ctx, EINVAL, "it is cut off");
	kind = take(file);
	size = take(file);
	after = take(file);
	if (kind - 1 >= SHIM_KINDS || !lm_shim_ends(shim->opts.parts, size) || after > shim->count)
		return lm_fail(shim->ctx, EINVAL, "its collective, size or order is malformed");
	if (after)
		before = shim->plans[after - 1]->leaves;
	if (lm_table_find(table, kind, size, before))
		return lm_fail(shim->ctx, EINVAL, "it appears twice");
	plan = lm_shim_plan_new(shim, kind, size, before);
	if (!plan)
		return -ENOMEM;
	ret = read_schedule(shim, file, plan);
	if (!ret)
		ret = find_ways(shim, plan);
	if (!ret)
		ret = lm_shim_finish(shim, plan);
	if (!ret)
		lm_table_put(table, plan);
	else
		lm_shim_plan_free(plan);
	return ret;
}

/* Add the plan's key to the noted error. */
static void note_plan(struct morph_shim *shim, int code, uint32_t plan)
{
	char text[768];

	snprintf(text, sizeof(text), "%s (plan %u)", morph_error_text(shim->ctx), plan);
	lm_fail(shim->ctx, code, "%s", text);
}

/* No thread sees a plan before all are valid. */
static int read_plans(struct morph_shim *shim, struct file *file)
{
	struct table table = { .room = shim->table.room };
	uint32_t count = take(file), at = 0;
	int ret = 0;

	if (count > shim->opts.most_plans)
		return lm_fail(shim->ctx, ENOSPC, "it has %u plans, the shim keeps at most %u",
			       count, shim->opts.most_plans);
	table.places = calloc(table.room, sizeof(*table.places));
	if (!table.places)
		return lm_no_memory(shim->ctx, "read plans");
	for (; !ret && at < count; at++)
		ret = read_plan(shim, file, &table);
	if (ret)
		note_plan(shim, -ret, at - 1);
	else if (file->next != file->words - 1)
		ret = lm_fail(shim->ctx, EINVAL, "extra data after the last plan");
	free(table.places);
	return ret;
}

MORPH_API int morph_shim_read(struct morph_shim *shim, const void *data, size_t bytes)
{
	struct file file = { .data = data, .words = bytes / 4 };
	int ret;

	pthread_mutex_lock(&shim->lock);
	ret = shim->count ? lm_fail(shim->ctx, EEXIST, "plans are already loaded") :
			    check_whole(shim, &file, bytes);
	if (!ret)
		ret = check_about(shim, &file);
	if (!ret) {
		ret = read_plans(shim, &file);
		if (ret) {
			lm_shim_cut(shim, 0, 1);
			shim->full = false;
		}
		for (uint32_t at = 0; at < shim->count; at++)
			lm_table_put(&shim->table, shim->plans[at]);
	}
	pthread_mutex_unlock(&shim->lock);
	return ret;
}
