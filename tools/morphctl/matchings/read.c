// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a file of matchings. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/matchings/matchings.h"

#define MOST_WIDTH 63
#define MOST_HEIGHT 64
#define MOST_NUMBER (UINT32_MAX - 1)

#define KEYS                                                                                \
	"format,version,verdict,kind,mesh,profile,profile-checksum,planes-count,"           \
	"elements-count,failed-elements,stuck-elements,ports-chosen,endpoints,seed,"        \
	"moves-count,rounds-limit,hops-limit,src-endpoint,dst-endpoint,rounds-bound-count," \
	"bound-kind,bound-lengths,bound-elements,rounds-count,longest-hops-count,"          \
	"hops-count,hops-bound-count,writes-count,validated,refused-rounds,rounds"

struct reader {
	const char *path;
	char where[64]; /* the part being read, and ": " */
	uint32_t endpoints, elements;
};

static enum exit_code refuse(const struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static enum exit_code refuse(const struct reader *reader, const char *format, ...)
{
	va_list arguments;
	char *what;

	va_start(arguments, format);
	what = format_text(format, arguments);
	va_end(arguments);
	warn_line("%s: %s%s", reader->path, reader->where, what);
	free(what);
	return EXIT_CODE_USAGE;
}

static enum exit_code check_keys(const struct reader *reader, const json_t *object,
				 const char *known)
{
	enum exit_code code;
	char *stray;

	if (!json_is_object(object))
		return refuse(reader, "must be a mapping with the keys %s", known);
	stray = document_stray_key(object, known, "");
	code = stray ? refuse(reader, "%s", stray) : EXIT_CODE_OK;
	free(stray);
	return code;
}

static bool is_number(const json_t *value, uint64_t least, uint64_t most)
{
	return json_is_integer(value) && json_integer_value(value) >= 0 &&
	       (uint64_t)json_integer_value(value) >= least &&
	       (uint64_t)json_integer_value(value) <= most;
}

static enum exit_code check_number(const struct reader *reader, const json_t *object,
				   const char *key, uint32_t least, uint32_t most)
{
	if (is_number(json_object_get(object, key), least, most))
		return EXIT_CODE_OK;
	return refuse(reader, "'%s' must be a number, %u to %u", key, least, most);
}

/* Each of these keys is absent or a number. */
static enum exit_code check_optional(const struct reader *reader, const json_t *object)
{
	static const char *const keys[] = {
		"seed",		"moves-count",	      "rounds-limit",	    "hops-limit",
		"src-endpoint", "dst-endpoint",	      "rounds-bound-count", "rounds-count",
		"hops-count",	"longest-hops-count", "hops-bound-count",   "writes-count",
	};

	for (size_t at = 0; at < sizeof(keys) / sizeof(keys[0]); at++) {
		const json_t *value = json_object_get(object, keys[at]);

		if (value && !is_number(value, 0, INT64_MAX))
			return refuse(reader, "'%s' must be a number, 0 or more", keys[at]);
	}
	return EXIT_CODE_OK;
}

static enum exit_code check_word(const struct reader *reader, const json_t *object, const char *key,
				 const char *const *words)
{
	const char *word = json_string_value(json_object_get(object, key));
	char known[128] = "";
	size_t length = 0;

	if (word && words[matchings_word(words, word)])
		return EXIT_CODE_OK;
	for (size_t at = 0; words[at]; at++)
		length += (size_t)snprintf(known + length, sizeof(known) - length, "%s%s",
					   at ? ", " : "", words[at]);
	return refuse(reader, "'%s' must be one of: %s", key, known);
}

/* @null: entries may be null. */
static enum exit_code check_numbers(const struct reader *reader, const json_t *object,
				    const char *key, uint32_t most, bool null)
{
	json_t *list = json_object_get(object, key), *it;
	bool good = json_is_array(list);
	size_t i;

	json_array_foreach(list, i, it)
		good = good && (is_number(it, 0, most) || (null && json_is_null(it)));
	if (good)
		return EXIT_CODE_OK;
	return refuse(reader, "'%s' must be a list of numbers, 0 to %u%s", key, most,
		      null ? ", or null" : "");
}

/* ------------------------------------------------------------------------ the problem */

static enum exit_code read_format(const struct reader *reader, const json_t *document)
{
	static const char *const verdicts[] = { "feasible", "infeasible", "undecided", NULL };
	enum exit_code code;

	if (!json_is_object(document) || !key_is(document, "format", MATCHINGS_FORMAT))
		return refuse(
			reader,
			"'format' must be '%s'; 'morphctl matchings find --to-file' writes such files",
			MATCHINGS_FORMAT);
	if (!is_number(json_object_get(document, "version"), MATCHINGS_VERSION, MATCHINGS_VERSION))
		return refuse(reader, "'version' must be %u; use the morphctl that wrote the file",
			      MATCHINGS_VERSION);
	code = check_keys(reader, document, KEYS);
	if (!code)
		code = check_word(reader, document, "verdict", verdicts);
	return code ? code : check_word(reader, document, "kind", matchings_kinds);
}

static enum exit_code read_mesh(struct reader *reader, const json_t *mesh)
{
	enum exit_code code;

	snprintf(reader->where, sizeof(reader->where), "mesh: ");
	code = check_keys(reader, mesh, "width,height");
	if (!code)
		code = check_number(reader, mesh, "width", 1, MOST_WIDTH);
	if (!code)
		code = check_number(reader, mesh, "height", 1, MOST_HEIGHT);
	reader->where[0] = '\0';
	return code;
}

static enum exit_code read_fabric(struct reader *reader, const json_t *document)
{
	const json_t *mesh = json_object_get(document, "mesh");
	enum exit_code code;

	if (!mesh == !json_object_get(document, "profile"))
		return refuse(reader, "requires either 'mesh' or 'profile'");
	if (mesh)
		return read_mesh(reader, mesh);
	if (!json_is_string(json_object_get(document, "profile")))
		return refuse(reader, "'profile' must be the name of a profile");
	code = check_number(reader, document, "profile-checksum", 0, UINT32_MAX);
	return code ? code : check_number(reader, document, "planes-count", 1, MOST_NUMBER);
}

static enum exit_code read_faults(struct reader *reader, const json_t *document)
{
	json_t *stuck = json_object_get(document, "stuck-elements"), *it;
	enum exit_code code = check_number(reader, document, "elements-count", 1, MOST_NUMBER);
	size_t i;

	if (code)
		return code;
	reader->elements = number_of(document, "elements-count", 0);
	code = check_numbers(reader, document, "failed-elements", reader->elements - 1, false);
	if (!code && !json_is_array(stuck))
		code = refuse(reader, "'stuck-elements' must be a list");
	json_array_foreach(stuck, i, it)
	{
		snprintf(reader->where, sizeof(reader->where), "stuck element %zu: ", i);
		if (!code)
			code = check_keys(reader, it, "element,element-state");
		if (!code)
			code = check_number(reader, it, "element", 0, reader->elements - 1);
		if (!code)
			code = check_number(reader, it, "element-state", 0, UINT16_MAX - 1);
	}
	if (!code)
		reader->where[0] = '\0';
	return code;
}

bool matchings_targets(const json_t *document)
{
	const json_t *it;
	size_t i;

	json_array_foreach(json_object_get(document, "endpoints"), i, it)
	{
		if (json_object_get(it, "dst-endpoint"))
			return true;
	}
	return false;
}

/* An endpoint with two ports. With targets, it needs those of its circuits. */
static enum exit_code read_ports(const struct reader *reader, const json_t *endpoint, bool targets)
{
	bool sends = json_object_get(endpoint, "dst-endpoint");
	enum exit_code code = check_keys(reader, endpoint, "tx-port,rx-port,dst-endpoint");

	if (!code && (!targets || sends || json_object_get(endpoint, "tx-port")))
		code = check_number(reader, endpoint, "tx-port", 0, MOST_NUMBER);
	if (!code && (!targets || json_object_get(endpoint, "rx-port")))
		code = check_number(reader, endpoint, "rx-port", 0, MOST_NUMBER);
	if (!code && sends)
		code = check_number(reader, endpoint, "dst-endpoint", 0, reader->endpoints - 1);
	return code;
}

static enum exit_code read_endpoints(struct reader *reader, const json_t *document)
{
	json_t *endpoints = json_object_get(document, "endpoints"), *it;
	bool pairs = key_is(document, "kind", "pairs"), targets = matchings_targets(document);
	enum exit_code code = EXIT_CODE_OK;
	size_t count = json_array_size(endpoints), i;

	if (!json_is_boolean(json_object_get(document, "ports-chosen")))
		return refuse(reader, "'ports-chosen' must be true or false");
	if (count < 2 || count > MORPH_MATCHINGS_MOST_ENDPOINTS)
		return refuse(reader, "'endpoints' must be a list of 2 to %u endpoints",
			      MORPH_MATCHINGS_MOST_ENDPOINTS);
	reader->endpoints = (uint32_t)count;
	json_array_foreach(endpoints, i, it)
	{
		snprintf(reader->where, sizeof(reader->where), "endpoint %zu: ", i);
		code = pairs ? check_keys(reader, it, "port") : read_ports(reader, it, targets);
		if (!code && pairs)
			code = check_number(reader, it, "port", 0, MOST_NUMBER);
		if (code)
			return code;
	}
	reader->where[0] = '\0';
	return code;
}

static enum exit_code read_bound(const struct reader *reader, const json_t *document)
{
	enum exit_code code = check_optional(reader, document);

	if (!code && json_object_get(document, "bound-kind"))
		code = check_word(reader, document, "bound-kind", matchings_bounds);
	if (!code && json_object_get(document, "bound-lengths"))
		code = check_numbers(reader, document, "bound-lengths", UINT32_MAX, false);
	if (!code && key_is(document, "bound-kind", "fractional") &&
	    !json_object_get(document, "bound-lengths"))
		code = refuse(reader, "a fractional bound requires 'bound-lengths'");
	if (!code && json_object_get(document, "bound-elements"))
		code = check_numbers(reader, document, "bound-elements", reader->elements - 1,
				     false);
	if (!code && key_is(document, "bound-kind", "cut") &&
	    !json_object_get(document, "bound-elements"))
		code = refuse(reader, "a bound by a cut requires 'bound-elements'");
	return code;
}

/* ------------------------------------------------------------------------- the rounds */

static enum exit_code read_circuit(const struct reader *reader, const json_t *circuit)
{
	enum exit_code code = check_keys(reader, circuit, "src-endpoint,dst-endpoint,elements");

	if (!code)
		code = check_number(reader, circuit, "src-endpoint", 0, reader->endpoints - 1);
	if (!code)
		code = check_number(reader, circuit, "dst-endpoint", 0, reader->endpoints - 1);
	return code ? code :
		      check_numbers(reader, circuit, "elements", reader->elements - 1, false);
}

static enum exit_code read_round(struct reader *reader, const json_t *round)
{
	enum exit_code code = check_keys(reader, round, "element-states,circuits");
	const size_t length = strlen(reader->where);
	json_t *circuits = json_object_get(round, "circuits"), *it;
	size_t i;

	if (!code)
		code = check_numbers(reader, round, "element-states", UINT16_MAX - 1, true);
	if (code)
		return code;
	if (json_array_size(json_object_get(round, "element-states")) != reader->elements)
		return refuse(reader, "'element-states' must have %u entries, one for each element",
			      reader->elements);
	if (!json_array_size(circuits))
		return refuse(reader, "'circuits' must be a list of circuits, one at least");
	json_array_foreach(circuits, i, it)
	{
		snprintf(reader->where + length, sizeof(reader->where) - length,
			 "circuit %zu: ", i);
		code = read_circuit(reader, it);
		if (code)
			return code;
	}
	reader->where[length] = '\0';
	return code;
}

static enum exit_code read_rounds(struct reader *reader, const json_t *document)
{
	json_t *rounds = json_object_get(document, "rounds"), *it;
	enum exit_code code = EXIT_CODE_OK;
	size_t i;

	if (!key_is(document, "verdict", "feasible"))
		return rounds ? refuse(reader, "only a feasible answer has 'rounds'") : code;
	if (!json_is_boolean(json_object_get(document, "validated")))
		return refuse(reader, "'validated' must be true or false");
	if (!json_array_size(rounds))
		return refuse(reader, "'rounds' must be a list of rounds, one at least");
	if (json_object_get(document, "refused-rounds"))
		code = check_numbers(reader, document, "refused-rounds",
				     (uint32_t)json_array_size(rounds) - 1, false);
	if (code)
		return code;
	json_array_foreach(rounds, i, it)
	{
		snprintf(reader->where, sizeof(reader->where), "round %zu: ", i);
		code = read_round(reader, it);
		if (code)
			return code;
	}
	reader->where[0] = '\0';
	return code;
}

enum exit_code matchings_read(const char *path, json_t **document)
{
	struct reader reader = { .path = path };
	enum exit_code code = document_read(path, document);

	if (!code)
		code = read_format(&reader, *document);
	if (!code)
		code = read_fabric(&reader, *document);
	if (!code)
		code = read_faults(&reader, *document);
	if (!code)
		code = read_endpoints(&reader, *document);
	if (!code)
		code = read_bound(&reader, *document);
	return code ? code : read_rounds(&reader, *document);
}
