// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules of segments, as Harvest has them: JSON. */
#include "formats.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#define MOST_BYTES (64U << 20)
#define MOST_RANKS 4096
#define MOST_STEPS (1U << 16)

struct step {
	uint32_t first, count; /* links */
};

struct morph_segments {
	struct morph_segments_about about;
	char collective[129];
	LIST_OF(struct step) steps;
	LIST_OF(struct morph_link) links;
};

MORPH_API struct morph_segments *morph_segments_new(void)
{
	struct morph_segments *segments = calloc(1, sizeof(*segments));

	if (segments)
		segments->about.collective = segments->collective;
	return segments;
}

MORPH_API void morph_segments_free(struct morph_segments *segments)
{
	if (!segments)
		return;
	free(segments->steps.list);
	free(segments->links.list);
	free(segments);
}

/* ----------------------------------------------------------------------- reading */

/* A number that may be left out. */
static int read_number(const struct why *why, const json_t *root, const char *name, double most,
		       double *out)
{
	const json_t *found = json_object_get(root, name);
	double value = json_number_value(found);

	*out = 0;
	if (!found)
		return 0;
	if (!json_is_number(found) || !(value >= 0) || value > most)
		return lm_format_fail(why, EINVAL, "%s is no number from 0 to %g", name, most);
	*out = value;
	return 0;
}

static int read_head(struct morph_segments *segments, const struct why *why, const json_t *root)
{
	const char *name = json_string_value(json_object_get(root, "collective"));
	double changes;
	int ret;

	if (!json_is_object(root))
		return lm_format_fail(why, EINVAL, "it is no object");
	if (!name || strlen(name) >= sizeof(segments->collective))
		return lm_format_fail(why, EINVAL, "collective is no text of at most 128 bytes");
	memcpy(segments->collective, name, strlen(name) + 1);
	ret = read_number(why, root, "num_of_reconfigs", MOST_STEPS, &changes);
	if (!ret)
		ret = read_number(why, root, "alpha_r", 1e18, &segments->about.reconfiguration_ns);
	if (!ret)
		ret = read_number(why, root, "reconf_cost_total", 1e18,
				  &segments->about.all_reconfigurations_ns);
	if (!ret)
		ret = read_number(why, root, "cost", 1e18, &segments->about.cost_ns);
	if (!ret)
		segments->about.reconfigurations = (uint32_t)changes;
	return ret;
}

static bool take_rank(const json_t *value, uint32_t *rank)
{
	json_int_t number = json_integer_value(value);

	*rank = (uint32_t)number;
	return json_is_integer(value) && number >= 0 && number < MOST_RANKS;
}

static int read_link(struct morph_segments *segments, const struct why *why, uint32_t step,
		     size_t number, const json_t *value)
{
	struct morph_link link = { .capacity = json_number_value(json_array_get(value, 2)) };

	if (json_array_size(value) != 3 || !take_rank(json_array_get(value, 0), &link.src) ||
	    !take_rank(json_array_get(value, 1), &link.dst) || link.src == link.dst ||
	    !json_is_number(json_array_get(value, 2)))
		return lm_format_fail(
			why, EINVAL,
			"link %zu of step %u is not [rank, other rank, capacity], with ranks below %u",
			number + 1, step + 1, MOST_RANKS);
	if (!(link.capacity > 0) || link.capacity > MOST_RANKS)
		return lm_format_fail(
			why, EINVAL,
			"link %zu of step %u has a capacity that is not above 0, or above %u",
			number + 1, step + 1, MOST_RANKS);
	if (GROW(segments->links))
		return lm_format_no_memory(why);
	segments->links.list[segments->links.count++] = link;
	if (segments->about.ranks <= (link.src > link.dst ? link.src : link.dst))
		segments->about.ranks = (link.src > link.dst ? link.src : link.dst) + 1;
	return 0;
}

static int read_step(struct morph_segments *segments, const struct why *why, const json_t *value,
		     json_int_t first)
{
	const json_t *number = json_object_get(value, "step");
	const json_t *topology = json_object_get(value, "topology");
	uint32_t step = segments->steps.count;
	int ret = 0;

	if (!json_is_integer(number) || json_integer_value(number) != first + step)
		return lm_format_fail(
			why, EINVAL, "step %u does not have the next number as its step", step + 1);
	if (!json_is_array(topology))
		return lm_format_fail(why, EINVAL, "step %u has no list as its topology", step + 1);
	if (GROW(segments->steps))
		return lm_format_no_memory(why);
	segments->steps.list[segments->steps.count++] =
		(struct step){ .first = segments->links.count,
			       .count = (uint32_t)json_array_size(topology) };
	for (size_t at = 0; !ret && at < json_array_size(topology); at++)
		ret = read_link(segments, why, step, at, json_array_get(topology, at));
	return ret;
}

static int read_root(struct morph_segments *segments, const struct why *why, const json_t *root)
{
	const json_t *steps = json_object_get(root, "steps");
	json_int_t first = json_integer_value(json_object_get(json_array_get(steps, 0), "step"));
	int ret = read_head(segments, why, root);

	if (ret)
		return ret;
	if (!json_is_array(steps) || first < 0 || first > 1)
		return lm_format_fail(why, EINVAL,
				      "steps is no list of steps, numbered from 0 or 1");
	if (json_array_size(steps) > MOST_STEPS)
		return lm_format_fail(why, E2BIG, "there are more than %u steps", MOST_STEPS);
	for (size_t at = 0; !ret && at < json_array_size(steps); at++)
		ret = read_step(segments, why, json_array_get(steps, at), first);
	segments->about.steps = segments->steps.count;
	return ret;
}

static void forget(struct morph_segments *segments)
{
	segments->collective[0] = '\0';
	segments->about = (struct morph_segments_about){ .collective = segments->collective };
	segments->steps.count = 0;
	segments->links.count = 0;
}

MORPH_API int morph_segments_read(struct morph_segments *segments, const char *text, size_t length,
				  char *why, size_t room)
{
	const struct why told = { why, room };
	json_error_t error = { 0 };
	json_t *root;
	int ret;

	forget(segments);
	if (length > MOST_BYTES)
		return lm_format_fail(&told, E2BIG, "the file has more than %u bytes", MOST_BYTES);
	root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	if (!root && (!error.text[0] || json_error_code(&error) == json_error_out_of_memory))
		return lm_format_no_memory(&told);
	if (!root)
		return lm_format_fail(&told, EINVAL, "line %d: %s", error.line, error.text);
	ret = read_root(segments, &told, root);
	json_decref(root);
	if (ret)
		forget(segments);
	return ret;
}

MORPH_API void morph_segments_about(const struct morph_segments *segments,
				    struct morph_segments_about *out)
{
	*out = segments->about;
}

MORPH_API uint32_t morph_segments_links(const struct morph_segments *segments, uint32_t step)
{
	return step < segments->steps.count ? segments->steps.list[step].count : 0;
}

MORPH_API int morph_segments_link(const struct morph_segments *segments, uint32_t step,
				  uint32_t number, struct morph_link *out)
{
	if (number >= morph_segments_links(segments, step))
		return -ENOENT;
	*out = segments->links.list[segments->steps.list[step].first + number];
	return 0;
}
