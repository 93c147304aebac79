// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records for people. A port, a laser and a receiver get one name, ACCELERATOR.PLANE, for which
 * JSON has two numbers or an index. In the change of a circuit the name is RANK.PLANE.
 */
#include <stdlib.h>

#include "morphctl/output/output.h"

/* A key for people, and the keys that it replaces. */
struct joint {
	const char *key, *type, *index, *port;
};

static const struct joint joints[] = {
	{ "src-port", NULL, "src-accelerator", "src-plane" },
	{ "dst-port", NULL, "dst-accelerator", "dst-plane" },
	{ "a-end", "a-type", "a-index", "a-port" },
	{ "b-end", "b-type", "b-index", "b-port" },
	{ "src-rank-plane", NULL, "src-rank", "src-plane" },
	{ "dst-rank-plane", NULL, "dst-rank", "dst-plane" },
};

static bool is_key(const char *key, const char *other)
{
	return other && !strcmp(key, other);
}

/* A change of circuits has no accelerators, and no plane if the kernel did not choose one. */
static bool applies(const struct joint *joint, const json_t *record)
{
	if (!json_object_get(record, joint->index))
		return false;
	if (strstr(joint->index, "-rank"))
		return json_object_get(record, "op") != NULL;
	return json_object_get(record, joint->port) &&
	       (!joint->type || json_object_get(record, joint->type));
}

/* The joint that replaces @key in this record, or NULL. */
static const struct joint *joint_of(const json_t *record, const char *key)
{
	for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++) {
		const struct joint *joint = &joints[i];

		if (!is_key(key, joint->type) && !is_key(key, joint->index) &&
		    !is_key(key, joint->port))
			continue;
		if (applies(joint, record))
			return joint;
	}
	return NULL;
}

static json_t *joined(const json_t *record, const struct joint *joint)
{
	uint32_t index = number_of(record, joint->index, 0);
	uint32_t port = number_of(record, joint->port, 0);

	if (!json_object_get(record, joint->port))
		return json_sprintf("%u", index);
	if (!joint->type)
		return json_sprintf("%u.%u", index, port);
	/* An edge has no ports. */
	if (key_is(record, joint->type, "edge"))
		return json_sprintf("edge %u", index);
	return json_sprintf("%s %u.%u", text_of_key(record, joint->type), index, port);
}

/* A copy of the record with the name of each port in the place of its numbers. */
static json_t *join_ports(json_t *record)
{
	json_t *people = json_object(), *value;
	const char *key;

	json_object_foreach(record, key, value)
	{
		const struct joint *joint = joint_of(record, key);

		if (joint)
			json_object_set_new(people, joint->key, joined(record, joint));
		else
			json_object_set(people, key, value);
	}
	return people;
}

void name_port(json_t *record, uint32_t planes)
{
	bool is_port = key_is(record, "part", "laser") || key_is(record, "part", "receiver");
	uint32_t index = number_of(record, "index", NUMBER_NONE);

	if (is_port && planes && index != NUMBER_NONE)
		json_object_set_new(record, "index",
				    json_sprintf("%u.%u", index / planes, index % planes));
}

json_t *for_people(const struct run *run, json_t *records)
{
	json_t *people = json_array(), *record;
	size_t i;

	json_array_foreach(records, i, record)
	{
		/* With --fields, people ask for the numbers themselves. */
		json_t *copy = given(run, OPTION_FIELDS) ? json_copy(record) : join_ports(record);

		name_port(copy, run->planes);
		json_array_append_new(people, copy);
	}
	return people;
}

char *part_name(const struct run *run, const json_t *record)
{
	json_t *copy = json_copy((json_t *)record);
	char *index, *name;

	name_port(copy, run->planes);
	index = format_value("index", json_object_get(copy, "index"));
	if (asprintf(&name, "%s %s", text_of_key(record, "part"), index) < 0)
		name = NULL;
	free(index);
	json_decref(copy);
	return needed(name);
}
