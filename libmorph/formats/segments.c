// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules of segments in Harvest's form: JSON. */
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

MORPH_API void morph_segments_free(struct morph_segments *segments)
{
	if (!segments)
		return;
	free(segments->steps.list);
	free(segments->links.list);
	free(segments);
}

/* ------------------------------------------------------------------------- lines */

#define MOST_LEVELS 5 /* of the root, the steps, a step, its topology, a link */

struct parse {
	const struct why *why;
	struct morph_segments *segments;
	const char *text;
	size_t length;
};

/* The path to a value: index in the root, index in that element, and so on. */
struct path {
	uint32_t levels, element[MOST_LEVELS];
};

static struct path below(const struct path *path, size_t element)
{
	struct path out = *path;

	out.element[out.levels++] = (uint32_t)element;
	return out;
}

/*
 * The path of a member, or of the object if it lacks the member. Jansson keeps members in the order
 * of the text.
 */
static struct path member_of(const struct path *path, const json_t *object, const char *name)
{
	json_t *known = (json_t *)object;
	size_t element = 0;

	for (void *at = json_object_iter(known); at; at = json_object_iter_next(known, at)) {
		if (!strcmp(json_object_iter_key(at), name))
			return below(path, element);
		element++;
	}
	return *path;
}

static bool is_blank(char letter)
{
	return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

/* The quote that ends a string. */
static size_t end_of_text(const char *text, size_t at)
{
	for (at++; text[at] != '"'; at++)
		at += text[at] == '\\';
	return at;
}

/*
 * The line of a value. Jansson does not provide it, so this scans the text, which is well-formed.
 * @left: elements to skip in the innermost list or object that was entered, which is number
 *	@entered of the path.
 */
static uint32_t line_of(const struct parse *parse, const struct path *path)
{
	uint32_t line = 1, depth = 0, entered = 0, left = 0;

	for (size_t at = 0; at < parse->length; at++) {
		char letter = parse->text[at];

		if (entered == path->levels && !left && !is_blank(letter))
			break;
		line += letter == '\n';
		if (letter == '"')
			at = end_of_text(parse->text, at);
		if ((letter == '[' || letter == '{') && depth++ == entered && !left)
			left = path->element[entered++];
		depth -= letter == ']' || letter == '}';
		left -= letter == ',' && depth == entered && left;
	}
	return line;
}

#define REFUSE(parse, code, path, format, ...)                                           \
	lm_format_fail((parse)->why, code, "line %u: " format, line_of((parse), (path)), \
		       ##__VA_ARGS__)

/* ----------------------------------------------------------------------- reading */

static const struct path whole;

/* An optional number. */
static int read_number(const struct parse *parse, const json_t *root, const char *name, double most,
		       double *out)
{
	const json_t *found = json_object_get(root, name);
	const struct path path = member_of(&whole, root, name);
	double value = json_number_value(found);

	*out = 0;
	if (!found)
		return 0;
	if (!json_is_number(found) || !(value >= 0) || value > most)
		return REFUSE(parse, EINVAL, &path, "%s is not a number from 0 to %g", name, most);
	*out = value;
	return 0;
}

static int read_head(const struct parse *parse, const json_t *root)
{
	struct morph_segments *segments = parse->segments;
	const char *name = json_string_value(json_object_get(root, "collective"));
	const struct path path = member_of(&whole, root, "collective");
	double changes;
	int ret;

	if (!json_is_object(root))
		return REFUSE(parse, EINVAL, &whole, "not an object");
	if (!name || strlen(name) >= sizeof(segments->collective))
		return REFUSE(parse, EINVAL, &path,
			      "'collective' must be a text of at most 128 bytes");
	memcpy(segments->collective, name, strlen(name) + 1);
	ret = read_number(parse, root, "num_of_reconfigs", MOST_STEPS, &changes);
	if (!ret)
		ret = read_number(parse, root, "alpha_r", 1e18,
				  &segments->about.reconfiguration_ns);
	if (!ret)
		ret = read_number(parse, root, "reconf_cost_total", 1e18,
				  &segments->about.all_reconfigurations_ns);
	if (!ret)
		ret = read_number(parse, root, "cost", 1e18, &segments->about.cost_ns);
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

static int read_link(const struct parse *parse, const struct path *path, uint32_t step,
		     size_t number, const json_t *value)
{
	struct morph_segments *segments = parse->segments;
	struct morph_link link = { .capacity = json_number_value(json_array_get(value, 2)) };

	if (json_array_size(value) != 3 || !take_rank(json_array_get(value, 0), &link.src) ||
	    !take_rank(json_array_get(value, 1), &link.dst) || link.src == link.dst ||
	    !json_is_number(json_array_get(value, 2)))
		return REFUSE(
			parse, EINVAL, path,
			"link %zu of step %u is not [rank, other rank, capacity], with ranks below %u",
			number + 1, step + 1, MOST_RANKS);
	if (!(link.capacity > 0) || link.capacity > MOST_RANKS)
		return REFUSE(parse, EINVAL, path,
			      "the capacity of link %zu of step %u must be above 0, at most %u",
			      number + 1, step + 1, MOST_RANKS);
	if (GROW(segments->links))
		return lm_format_no_memory(parse->why);
	segments->links.list[segments->links.count++] = link;
	if (segments->about.ranks <= (link.src > link.dst ? link.src : link.dst))
		segments->about.ranks = (link.src > link.dst ? link.src : link.dst) + 1;
	return 0;
}

static int read_step(const struct parse *parse, const struct path *path, const json_t *value,
		     json_int_t first)
{
	struct morph_segments *segments = parse->segments;
	const json_t *number = json_object_get(value, "step");
	const json_t *topology = json_object_get(value, "topology");
	struct path there = member_of(path, value, "step");
	uint32_t step = segments->steps.count;
	int ret = 0;

	if (!json_is_integer(number) || json_integer_value(number) != first + step)
		return REFUSE(parse, EINVAL, &there,
			      "the key 'step' of step %u must have the next number", step + 1);
	there = member_of(path, value, "topology");
	if (!json_is_array(topology))
		return REFUSE(parse, EINVAL, &there, "the topology of step %u must be a list",
			      step + 1);
	if (GROW(segments->steps))
		return lm_format_no_memory(parse->why);
	segments->steps.list[segments->steps.count++] =
		(struct step){ .first = segments->links.count,
			       .count = (uint32_t)json_array_size(topology) };
	for (size_t at = 0; !ret && at < json_array_size(topology); at++) {
		const struct path link = below(&there, at);

		ret = read_link(parse, &link, step, at, json_array_get(topology, at));
	}
	return ret;
}

static int read_root(const struct parse *parse, const json_t *root)
{
	const json_t *steps = json_object_get(root, "steps");
	json_int_t first = json_integer_value(json_object_get(json_array_get(steps, 0), "step"));
	const struct path path = member_of(&whole, root, "steps");
	int ret = read_head(parse, root);

	if (ret)
		return ret;
	if (!json_is_array(steps) || first < 0 || first > 1)
		return REFUSE(parse, EINVAL, &path,
			      "'steps' must be a list of steps, numbered from 0 or 1");
	if (json_array_size(steps) > MOST_STEPS)
		return REFUSE(parse, E2BIG, &path, "more than %u steps", MOST_STEPS);
	for (size_t at = 0; !ret && at < json_array_size(steps); at++) {
		const struct path step = below(&path, at);

		ret = read_step(parse, &step, json_array_get(steps, at), first);
	}
	parse->segments->about.steps = parse->segments->steps.count;
	return ret;
}

static int read_text(struct morph_segments *segments, const char *text, size_t length,
		     const struct why *why)
{
	const struct parse parse = { why, segments, text, length };
	json_error_t error = { 0 };
	json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	int ret;

	if (!root && (!error.text[0] || json_error_code(&error) == json_error_out_of_memory))
		return lm_format_no_memory(why);
	if (!root)
		return lm_format_fail(why, EINVAL, "line %d: %s", error.line, error.text);
	ret = read_root(&parse, root);
	json_decref(root);
	return ret;
}

MORPH_API int morph_segments_read(const char *text, size_t length, struct morph_segments **out,
				  char *why, size_t room)
{
	const struct why told = { why, room };
	struct morph_segments *segments;
	int ret;

	if (length > MOST_BYTES)
		return lm_format_fail(&told, E2BIG, "the file has more than %u bytes", MOST_BYTES);
	segments = calloc(1, sizeof(*segments));
	if (!segments)
		return lm_format_no_memory(&told);
	segments->about.collective = segments->collective;
	ret = read_text(segments, text, length, &told);
	if (ret)
		morph_segments_free(segments);
	else
		*out = segments;
	return ret;
}

MORPH_API void morph_segments_about(const struct morph_segments *segments,
				    struct morph_segments_about *out)
{
	*out = segments->about;
}

MORPH_API int morph_segments_link(const struct morph_segments *segments, uint32_t step,
				  uint32_t number, struct morph_link *out)
{
	if (step >= segments->steps.count || number >= segments->steps.list[step].count)
		return -ENOENT;
	*out = segments->links.list[segments->steps.list[step].first + number];
	return 0;
}
