// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the file of groups for morphctl bandwidth plan */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/lanes/lanes.h"
#include "morphctl/output/output.h"

/* The largest number that libmorph accepts. */
#define MOST_ACCELERATORS 65536u
#define MOST_PORTS 1024u
#define MOST_FIBRES 4096u
#define MOST_WAVELENGTHS 256u
#define MOST_LANES UINT32_MAX
#define RENAMED                                                             \
	"from=src-accelerator,to=dst-accelerator,circuits=circuits-count,"  \
	"guides=guide-names,least=least-lanes-count,most=most-lanes-count," \
	"ports=ports-count,wavelengths=wavelengths-count"

struct reader {
	struct bandwidth *bandwidth;
	char where[96]; /* what is being read, and ": " */
};

static enum exit_code refuse(const struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static enum exit_code refuse(const struct reader *reader, const char *format, ...)
{
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	warn_line("%s: %s%s", reader->bandwidth->run->argv[0], reader->where, what);
	return EXIT_CODE_USAGE;
}

/* Report libmorph's error. A positive number is a new object and no error. */
static enum exit_code accept(const struct reader *reader, int number)
{
	if (number >= 0)
		return EXIT_CODE_OK;
	return refuse(reader, "%s", morph_error_text(reader->bandwidth->run->client->ctx));
}

static enum exit_code check_keys(const struct reader *reader, const json_t *object,
				 const char *known)
{
	char *stray;
	enum exit_code code;

	if (!json_is_object(object))
		return refuse(reader, "must be a mapping with the keys %s", known);
	stray = document_stray_key(object, known, RENAMED);
	code = stray ? refuse(reader, "%s", stray) : EXIT_CODE_OK;
	free(stray);
	return code;
}

static enum exit_code read_number(const struct reader *reader, const json_t *object,
				  const char *key, uint32_t least, uint32_t most, uint32_t *value)
{
	uint64_t number = *value;

	if (!document_number(object, key, most, &number) ||
	    (number < least && json_object_get(object, key)))
		return refuse(reader, "'%s' must be a number, %u to %u", key, least, most);
	*value = (uint32_t)number;
	return EXIT_CODE_OK;
}

/* ----------------------------------------------------------------- the whole file */

/* A number for both directions, or an object with 'transmit' and 'receive'. */
static enum exit_code read_ports(const struct reader *reader)
{
	struct bandwidth *bandwidth = reader->bandwidth;
	const json_t *ports = json_object_get(bandwidth->document, "ports-count");
	enum exit_code code;

	if (!json_is_object(ports)) {
		code = read_number(reader, bandwidth->document, "ports-count", 1, MOST_PORTS,
				   &bandwidth->transmit);
		if (ports)
			bandwidth->receive = bandwidth->transmit;
		return code;
	}
	code = check_keys(reader, ports, "transmit,receive");
	if (!code)
		code = read_number(reader, ports, "transmit", 1, MOST_PORTS, &bandwidth->transmit);
	if (!code)
		code = read_number(reader, ports, "receive", 1, MOST_PORTS, &bandwidth->receive);
	return code;
}

void add_bandwidth_guide(struct bandwidth *bandwidth, const char *name, uint32_t fibres)
{
	struct bandwidth_guide *guide;

	bandwidth->guides = needed(reallocarray(bandwidth->guides, bandwidth->guides_count + 1UL,
						sizeof(*bandwidth->guides)));
	guide = &bandwidth->guides[bandwidth->guides_count++];
	*guide = (struct bandwidth_guide){ needed(strdup(name)), fibres };
}

static struct bandwidth_guide *find_guide(const struct bandwidth *bandwidth, const char *name)
{
	for (uint32_t at = 0; at < bandwidth->guides_count; at++)
		if (!strcmp(bandwidth->guides[at].name, name))
			return &bandwidth->guides[at];
	return NULL;
}

/* Guides of a profile exist already. The file can set their numbers of fibres. */
static enum exit_code read_guides(const struct reader *reader)
{
	struct bandwidth *bandwidth = reader->bandwidth;
	json_t *guides = json_object_get(bandwidth->document, "guides"), *it;
	enum exit_code code = EXIT_CODE_OK;
	const char *name;

	if (guides && !json_is_object(guides))
		return refuse(reader, "'guides' must be a mapping from names to numbers of fibres");
	json_object_foreach(guides, name, it)
	{
		struct bandwidth_guide *known = find_guide(bandwidth, name);
		uint32_t fibres = 0;

		code = read_number(reader, guides, name, 0, MOST_FIBRES, &fibres);
		if (code)
			break;
		if (known)
			known->fibres = fibres;
		else
			add_bandwidth_guide(bandwidth, name, fibres);
	}
	return code;
}

/* ------------------------------------------------------------------------- groups */

static enum exit_code read_accelerator(const struct reader *reader, const json_t *it,
				       uint32_t *accelerator)
{
	const struct bandwidth *bandwidth = reader->bandwidth;
	uint32_t most = bandwidth->of_profile ? bandwidth->accelerators : MOST_ACCELERATORS;

	if (json_is_integer(it) && json_integer_value(it) >= 0 && json_integer_value(it) < most) {
		*accelerator = (uint32_t)json_integer_value(it);
		return EXIT_CODE_OK;
	}
	return refuse(reader, "an accelerator is a number, 0 to %u", most - 1);
}

static void add_hop(struct bandwidth *bandwidth, const struct bandwidth_hop *hop)
{
	bandwidth->hops = needed(reallocarray(bandwidth->hops, bandwidth->hops_count + 1UL,
					      sizeof(*bandwidth->hops)));
	bandwidth->hops[bandwidth->hops_count++] = *hop;
	if (bandwidth->of_profile)
		return;
	if (hop->src >= bandwidth->accelerators)
		bandwidth->accelerators = hop->src + 1;
	if (hop->dst >= bandwidth->accelerators)
		bandwidth->accelerators = hop->dst + 1;
}

/* Each accelerator sends to the next one, and the last to the first. */
static enum exit_code read_ring(const struct reader *reader, uint32_t group, const json_t *ring)
{
	size_t count = json_array_size(ring);
	enum exit_code code = EXIT_CODE_OK;

	if (count < 2)
		return refuse(reader, "'ring' must be a list of accelerators, two at least");
	for (size_t at = 0; at < count && !code; at++) {
		struct bandwidth_hop hop = { .group = group, .circuits = 1 };

		code = read_accelerator(reader, json_array_get(ring, at), &hop.src);
		if (!code)
			code = read_accelerator(reader, json_array_get(ring, (at + 1) % count),
						&hop.dst);
		if (!code)
			add_hop(reader->bandwidth, &hop);
	}
	return code;
}

static enum exit_code check_guides(const struct reader *reader, const json_t *guides)
{
	const json_t *it;
	size_t i;

	if (guides && !json_is_array(guides))
		return refuse(reader, "'guide-names' must be a list of names");
	json_array_foreach((json_t *)guides, i, it)
	{
		const char *name = json_string_value(it);

		if (!name)
			return refuse(reader, "'guide-names' must be a list of names");
		if (!find_guide(reader->bandwidth, name))
			return refuse(reader, "no guide '%s'; name it in 'guides'%s", name,
				      reader->bandwidth->of_profile ?
					      ", or give two servers that fibres join, as 0-1" :
					      "");
	}
	return EXIT_CODE_OK;
}

static enum exit_code read_hop(struct reader *reader, uint32_t group, const json_t *it)
{
	struct bandwidth_hop hop = { .group = group, .circuits = 1 };
	enum exit_code code = check_keys(
		reader, it, "src-accelerator,dst-accelerator,circuits-count,guide-names");

	if (code)
		return code;
	hop.guides = json_object_get(it, "guide-names");
	code = read_accelerator(reader, json_object_get(it, "src-accelerator"), &hop.src);
	if (!code)
		code = read_accelerator(reader, json_object_get(it, "dst-accelerator"), &hop.dst);
	if (!code)
		code = read_number(reader, it, "circuits-count", 1, MOST_PORTS, &hop.circuits);
	if (!code)
		code = check_guides(reader, hop.guides);
	if (!code)
		add_hop(reader->bandwidth, &hop);
	return code;
}

static enum exit_code read_hops(struct reader *reader, uint32_t group, const json_t *hops)
{
	enum exit_code code = EXIT_CODE_OK;
	const size_t length = strlen(reader->where);
	json_t *it;
	size_t i;

	if (!json_array_size(hops))
		return refuse(reader, "'hops' must be a list of hops, one at least");
	json_array_foreach((json_t *)hops, i, it)
	{
		snprintf(reader->where + length, sizeof(reader->where) - length, "hop %zu: ", i);
		code = read_hop(reader, group, it);
		if (code)
			break;
		reader->where[length] = '\0';
	}
	return code;
}

static enum exit_code read_group(struct reader *reader, uint32_t group, const json_t *it)
{
	const json_t *ring, *hops;
	enum exit_code code =
		check_keys(reader, it, "name,ring,hops,least-lanes-count,most-lanes-count");

	if (code)
		return code;
	if (json_object_get(it, "name") && !json_is_string(json_object_get(it, "name")))
		return refuse(reader, "'name' must be a text");
	ring = json_object_get(it, "ring");
	hops = json_object_get(it, "hops");
	if (!ring == !hops)
		return refuse(reader, "requires either 'ring' or 'hops'");
	return ring ? read_ring(reader, group, ring) : read_hops(reader, group, hops);
}

static enum exit_code read_groups(struct reader *reader)
{
	enum exit_code code = EXIT_CODE_OK;
	json_t *it;
	size_t i;

	reader->bandwidth->groups = json_object_get(reader->bandwidth->document, "groups");
	if (!json_array_size(reader->bandwidth->groups))
		return refuse(reader, "requires a list 'groups' with at least one entry");
	json_array_foreach(reader->bandwidth->groups, i, it)
	{
		snprintf(reader->where, sizeof(reader->where), "group %zu: ", i);
		code = read_group(reader, (uint32_t)i, it);
		if (code)
			return code;
	}
	reader->where[0] = '\0';
	return code;
}

/* -------------------------------------------------------------------- the problem */

static enum exit_code pose_group(struct reader *reader, const json_t *it)
{
	uint32_t least = 0, most = 0;
	enum exit_code code = read_number(reader, it, "least-lanes-count", 0, MOST_LANES, &least);

	if (!code)
		code = read_number(reader, it, "most-lanes-count", 0, MOST_LANES, &most);
	return code ? code :
		      accept(reader,
			     morph_bandwidth_add_group(reader->bandwidth->problem, least, most));
}

static enum exit_code pose_hop(struct reader *reader, const struct bandwidth_hop *hop)
{
	const struct bandwidth *bandwidth = reader->bandwidth;
	size_t count = json_array_size(hop->guides), i;
	uint32_t *guides = needed(calloc(count + 1, sizeof(*guides)));
	const json_t *it;
	int number;

	json_array_foreach((json_t *)hop->guides, i, it) guides[i] =
		(uint32_t)(find_guide(bandwidth, json_string_value(it)) - bandwidth->guides);
	number = morph_bandwidth_add_hop(bandwidth->problem, hop->group, hop->src, hop->dst,
					 hop->circuits, guides, count);
	free(guides);
	return accept(reader, number);
}

static enum exit_code pose(struct reader *reader)
{
	struct bandwidth *bandwidth = reader->bandwidth;
	enum exit_code code = EXIT_CODE_OK;
	json_t *it;
	size_t i;

	bandwidth->problem =
		needed(morph_bandwidth_new(bandwidth->run->client->ctx, bandwidth->wavelengths));
	for (uint32_t at = 0; at < bandwidth->accelerators && !code; at++)
		code = accept(reader, morph_bandwidth_add_accelerator(bandwidth->problem,
								      bandwidth->transmit,
								      bandwidth->receive));
	for (uint32_t at = 0; at < bandwidth->guides_count && !code; at++)
		code = accept(reader, morph_bandwidth_add_guide(bandwidth->problem,
								bandwidth->guides[at].fibres));
	json_array_foreach(bandwidth->groups, i, it)
	{
		snprintf(reader->where, sizeof(reader->where), "group %zu: ", i);
		if (!code)
			code = pose_group(reader, it);
	}
	for (uint32_t at = 0; at < bandwidth->hops_count && !code; at++) {
		snprintf(reader->where, sizeof(reader->where),
			 "group %u: hop from %u to %u: ", bandwidth->hops[at].group,
			 bandwidth->hops[at].src, bandwidth->hops[at].dst);
		code = pose_hop(reader, &bandwidth->hops[at]);
	}
	return code;
}

enum exit_code read_bandwidth(struct bandwidth *bandwidth)
{
	struct reader reader = { .bandwidth = bandwidth };
	enum exit_code code = document_read(bandwidth->run->argv[0], &bandwidth->document);

	if (!code)
		code = check_keys(&reader, bandwidth->document,
				  "wavelengths-count,ports-count,guides,groups");
	if (!code)
		code = read_number(&reader, bandwidth->document, "wavelengths-count", 1,
				   MOST_WAVELENGTHS, &bandwidth->wavelengths);
	if (!code)
		code = read_ports(&reader);
	if (!code && (!bandwidth->transmit || !bandwidth->receive))
		code = refuse(
			&reader,
			"requires 'ports-count', the number of ports of each accelerator, or --profile");
	if (!code)
		code = read_guides(&reader);
	if (!code)
		code = read_groups(&reader);
	return code ? code : pose(&reader);
}
