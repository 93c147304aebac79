// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the file of 'morphctl slice apply' and 'slice diff', and reject unknown keys. */
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

static enum exit_code wrong(const char *where, const char *what)
{
	warn_line("%s: %s", where, what);
	return EXIT_CODE_USAGE;
}

/* Check that every key is in @known, a list separated by commas. */
static enum exit_code keys_known(const char *where, json_t *object, const char *known)
{
	char *stray;

	if (!json_is_object(object)) {
		warn_line("%s: expected a mapping with %s '%s'", where,
			  strchr(known, ',') ? "some of the keys" : "the key", known);
		return EXIT_CODE_USAGE;
	}
	stray = document_stray_key(object, known, "count=ranks-count");
	if (!stray)
		return EXIT_CODE_OK;
	warn_line("%s: %s", where, stray);
	free(stray);
	return EXIT_CODE_USAGE;
}

static enum exit_code read_number(const char *where, json_t *object, const char *key, uint32_t most,
				  uint32_t *value)
{
	uint64_t number = *value;

	if (!document_number(object, key, most, &number)) {
		warn_line("%s: '%s' must be a number from 0 to %u", where, key, most);
		return EXIT_CODE_USAGE;
	}
	*value = (uint32_t)number;
	return EXIT_CODE_OK;
}

static enum exit_code read_word(const char *where, json_t *object, const char *key,
				enum morph_enum words, uint32_t *value)
{
	const char *text = json_string_value(json_object_get(object, key));
	int64_t number = text ? morph_enum_value(words, text) : -1;
	const char *word;

	if (!json_object_get(object, key))
		return EXIT_CODE_OK;
	if (number >= 0) {
		*value = (uint32_t)number;
		return EXIT_CODE_OK;
	}
	warn_line("%s: '%s' must be one of these:", where, key);
	for (size_t i = 0; (word = morph_enum_word(words, i)); i++)
		warn_detail("%s", word);
	return EXIT_CODE_USAGE;
}

static enum exit_code read_ids(struct apply *apply, const char *where, json_t *list, uint32_t **ids,
			       size_t *count)
{
	enum exit_code code;
	json_t *item;
	size_t i;

	if (!json_array_size(list))
		return wrong(where, "an accelerator must be a number, a PCI address or a UUID");
	*ids = needed(calloc(json_array_size(list), sizeof(**ids)));
	json_array_foreach(list, i, item)
	{
		if (json_is_string(item)) {
			code = apply_fabric(apply);
			if (!code)
				code = resolve_accelerator(apply->run, apply->fabric,
							   json_string_value(item), &(*ids)[i]);
			if (code)
				return code;
		} else if (json_is_integer(item) && json_integer_value(item) >= 0 &&
			   json_integer_value(item) < UINT32_MAX) {
			(*ids)[i] = (uint32_t)json_integer_value(item);
		} else {
			return wrong(where,
				     "an accelerator must be a number, a PCI address or a UUID");
		}
	}
	*count = json_array_size(list);
	return EXIT_CODE_OK;
}

static enum exit_code read_owner(const char *where, json_t *object, struct apply_slice *slice)
{
	const json_t *owner = json_object_get(object, "owner");
	const json_t *mode = json_object_get(object, "mode");

	slice->owner_given = owner;
	slice->mode_given = mode;
	if (json_is_integer(owner) && json_integer_value(owner) >= 0 &&
	    json_integer_value(owner) < UINT32_MAX)
		slice->wish.owner = (uint32_t)json_integer_value(owner);
	else if (owner && !(json_is_string(owner) &&
			    parse_user(json_string_value(owner), &slice->wish.owner)))
		return wrong(where, "'owner' must be a user of this machine, by name or number");
	if (mode &&
	    !(json_is_string(mode) && parse_mode(json_string_value(mode), &slice->wish.mode)))
		return wrong(where, "'mode' must be a string of octal digits, as \"0660\"");
	return EXIT_CODE_OK;
}

/* A list of spares, or the policy that chooses them. */
static enum exit_code read_spares(struct apply *apply, const char *where, json_t *object,
				  struct slice_wish *wish)
{
	json_t *spares = json_object_get(object, "spares");
	enum exit_code code;

	code = read_word(where, object, "spare-policy", MORPH_ENUM_SPARES, &wish->spare_policy);
	if (code)
		return code;
	if (!spares && json_object_get(object, "spare-policy") &&
	    wish->spare_policy == MORPH_SPARES_LIST)
		return wrong(where, "the spare policy 'list' requires the list 'spares'");
	if (!spares)
		return EXIT_CODE_OK;
	if (!json_is_array(spares))
		return wrong(
			where,
			"'spares' must be a list of accelerators; the policy is 'spare-policy'");
	if (json_object_get(object, "spare-policy") && wish->spare_policy != MORPH_SPARES_LIST)
		return wrong(where, "the list 'spares' requires the spare policy 'list'");
	wish->spare_policy = MORPH_SPARES_LIST;
	return read_ids(apply, where, spares, &wish->spares, &wish->spares_count);
}

static enum exit_code read_policies(struct apply *apply, const char *where, json_t *object,
				    struct apply_slice *slice)
{
	struct slice_wish *wish = &slice->wish;
	json_t *spares = json_object_get(object, "spares");
	json_t *reserved = json_object_get(object, "reserved");
	enum exit_code code;

	slice->failover_given = json_object_get(object, "failover");
	slice->transit_given = json_object_get(object, "transit");
	slice->spares_given = spares || json_object_get(object, "spare-policy");
	slice->reserved_given = reserved;
	code = read_word(where, object, "failover", MORPH_ENUM_FAILOVER, &wish->failover);
	if (!code)
		code = read_word(where, object, "transit", MORPH_ENUM_TRANSIT, &wish->transit);
	if (!code)
		code = read_spares(apply, where, object, wish);
	if (!code && reserved && !json_is_boolean(reserved))
		code = wrong(where, "'reserved' must be true or false");
	wish->reserved = json_is_true(reserved);
	return code;
}

static enum exit_code add_circuit(const char *where, struct apply_slice *slice,
				  const struct circuit_wish *circuit)
{
	struct circuit_wish *longer;

	if (circuit->src_rank == circuit->dst_rank)
		return wrong(where,
			     "a circuit joins two different ranks; 'src-rank' equals 'dst-rank'");
	if (circuit->src_rank >= wish_ranks(&slice->wish) ||
	    circuit->dst_rank >= wish_ranks(&slice->wish)) {
		warn_line("%s: circuit %u -> %u: the slice has the ranks 0 to %u", where,
			  circuit->src_rank, circuit->dst_rank, wish_ranks(&slice->wish) - 1);
		return EXIT_CODE_USAGE;
	}
	longer = needed(realloc(slice->circuits, (slice->circuits_count + 1) * sizeof(*longer)));
	longer[slice->circuits_count++] = *circuit;
	slice->circuits = longer;
	return EXIT_CODE_OK;
}

static enum exit_code read_circuit(const char *where, json_t *object, struct apply_slice *slice)
{
	struct circuit_wish wish = { .opts = { .sz = sizeof(wish.opts), .lanes_count = 1 } };
	uint32_t most = UINT32_MAX - 1;
	enum exit_code code;

	code = keys_known(where, object, "src-rank,dst-rank,lanes-count,src-plane,dst-plane");
	if (!code && (!json_object_get(object, "src-rank") || !json_object_get(object, "dst-rank")))
		code = wrong(where, "a circuit requires 'src-rank' and 'dst-rank'");
	if (!code)
		code = read_number(where, object, "src-rank", most, &wish.src_rank);
	if (!code)
		code = read_number(where, object, "dst-rank", most, &wish.dst_rank);
	if (!code)
		code = read_number(where, object, "lanes-count", 64, &wish.opts.lanes_count);
	if (!code)
		code = read_number(where, object, "src-plane", 65534, &wish.opts.src_plane);
	if (!code)
		code = read_number(where, object, "dst-plane", 65534, &wish.opts.dst_plane);
	if (!code && !wish.opts.lanes_count)
		code = wrong(where, "'lanes-count' must be at least 1");
	wish.opts.flags = (json_object_get(object, "src-plane") ? MORPH_CIRCUIT_SRC_PLANE : 0) |
			  (json_object_get(object, "dst-plane") ? MORPH_CIRCUIT_DST_PLANE : 0);
	return code ? code : add_circuit(where, slice, &wish);
}

static enum exit_code read_ring(const char *where, json_t *ring, struct apply_slice *slice)
{
	uint32_t ranks = wish_ranks(&slice->wish), lanes = 1;
	enum exit_code code = EXIT_CODE_OK;
	bool both = false;

	if (json_is_object(ring)) {
		code = keys_known(where, ring, "lanes-count,both");
		if (!code)
			code = read_number(where, ring, "lanes-count", 64, &lanes);
		both = json_is_true(json_object_get(ring, "both"));
	} else if (!json_is_boolean(ring)) {
		return wrong(where,
			     "'ring' must be true, false or a mapping with lanes-count and both");
	} else if (json_is_false(ring)) {
		return EXIT_CODE_OK;
	}
	if (!code && (ranks < 2 || !lanes))
		code = wrong(where, "a ring requires 2 ranks and 'lanes-count' of at least 1");
	slice->ring = true;
	slice->ring_lanes = lanes;
	for (uint32_t rank = 0; rank < ranks && !code; rank++) {
		struct circuit_wish wish = {
			.src_rank = rank,
			.dst_rank = (rank + 1) % ranks,
			.opts = { .sz = sizeof(wish.opts), .lanes_count = lanes },
		};
		struct circuit_wish back = wish;

		back.src_rank = wish.dst_rank;
		back.dst_rank = wish.src_rank;
		code = add_circuit(where, slice, &wish);
		if (!code && both && ranks > 2)
			code = add_circuit(where, slice, &back);
	}
	return code;
}

static enum exit_code read_circuits(const char *where, json_t *object, struct apply_slice *slice)
{
	json_t *ring = json_object_get(object, "ring");
	json_t *list = json_object_get(object, "circuits"), *circuit;
	enum exit_code code = EXIT_CODE_OK;
	size_t i;

	slice->circuits_given = ring || list;
	if (list && !json_is_array(list))
		return wrong(where, "'circuits' must be a list");
	if (ring)
		code = read_ring(where, ring, slice);
	json_array_foreach(list, i, circuit)
	{
		if (code)
			break;
		code = read_circuit(where, circuit, slice);
		slice->ring = false; /* more than a ring */
	}
	return code;
}

static enum exit_code read_slice(struct apply *apply, json_t *object, struct apply_slice *slice)
{
	const char *name = text_of_key(object, "name");
	json_t *accelerators = json_object_get(object, "accelerators");
	char where[64];
	enum exit_code code;

	snprintf(where, sizeof(where), "slice '%.31s'", name);
	code = keys_known(where, object,
			  "name,owner,mode,ranks-count,accelerators,failover,transit,"
			  "spare-policy,spares,reserved,ring,circuits");
	if (code)
		return code;
	if (!*name)
		return wrong("a slice", "requires a 'name', which is a string");
	slice->wish.name = name;
	slice->wish.mode = 0600;
	if (!json_object_get(object, "ranks-count") == !accelerators)
		return wrong(where, "requires either 'ranks-count' or 'accelerators'");
	code = read_number(where, object, "ranks-count", UINT32_MAX - 1, &slice->wish.count);
	if (!code && accelerators)
		code = read_ids(apply, where, accelerators, &slice->wish.accelerators,
				&slice->wish.accelerators_count);
	if (!code && !wish_ranks(&slice->wish))
		code = wrong(where, "'ranks-count' must be at least 1");
	if (!code)
		code = read_owner(where, object, slice);
	if (!code)
		code = read_policies(apply, where, object, slice);
	return code ? code : read_circuits(where, object, slice);
}

static enum exit_code read_document(struct apply *apply)
{
	json_t *list = json_object_get(apply->document, "slices"), *object;
	enum exit_code code;
	size_t i;

	code = keys_known("the file", apply->document, "slices");
	if (!code && !json_is_array(list))
		code = wrong("the file", "'slices' must be a list");
	if (code)
		return code;
	apply->slices = needed(calloc(json_array_size(list) + 1, sizeof(*apply->slices)));
	json_array_foreach(list, i, object)
	{
		struct apply_slice *slice = &apply->slices[apply->slices_count++];

		code = read_slice(apply, object, slice);
		if (code)
			return code;
		for (struct apply_slice *other = apply->slices; other < slice; other++)
			if (!strcmp(other->wish.name, slice->wish.name))
				return wrong(slice->wish.name, "appears twice");
	}
	return EXIT_CODE_OK;
}

enum exit_code apply_read(struct apply *apply, const char *path)
{
	enum exit_code code = document_read(path, &apply->document);

	return code ? code : read_document(apply);
}
