// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the parts of a status report. */
#include <stdlib.h>

#include "morphctl/slice/slice.h"
#include "morphctl/status/status.h"

/* Read slices or circuits. A caller without CAP_NET_ADMIN gets its own. */
static enum exit_code read_list(struct run *run, uint32_t type, uint32_t fabric, json_t **records)
{
	const struct state_kind kind = { .type = type, .admin = true };

	return state_read(run, &kind, fabric, records);
}

/*
 * Read a list that has no node. *records becomes NULL if the caller's network namespace has no
 * netlink family, as in a container.
 */
static enum exit_code read_netlink(struct run *run, uint32_t type, uint32_t fabric,
				   json_t **records)
{
	const struct state_kind kind = { .type = type };
	int error = state_dump(run, &kind, fabric, records);

	if (!error)
		return EXIT_CODE_OK;
	json_decref(*records);
	*records = NULL;
	return client_is_closed(run, error) ? EXIT_CODE_OK : client_error(run, error);
}

/* Hardware that is only cordoned is healthy: an administrator cordoned it on purpose. */
static void drop_healthy(json_t *hardware)
{
	for (size_t i = json_array_size(hardware); i-- > 0;)
		if (key_is(json_array_get(hardware, i), "health", "ok"))
			json_array_remove(hardware, i);
}

static void copy_keys(json_t *into, const json_t *from, const char *const *keys)
{
	for (; *keys; keys++)
		if (json_object_get(from, *keys))
			json_object_set(into, *keys, json_object_get(from, *keys));
}

/* Ranks whose accelerator would have no successor, in a slice that wants one. */
static json_t *unprotected_ranks(const json_t *slice)
{
	json_t *ranks = json_array(), *rank;
	size_t i;

	if (key_is(slice, "failover", "none"))
		return ranks;
	json_array_foreach(json_object_get(slice, "ranks"), i,
			   rank) if (key_is(rank, "protection-state", "none"))
		json_array_append(ranks, json_object_get(rank, "rank"));
	return ranks;
}

static json_t *summarize_slice(const json_t *slice, const json_t *fabrics, const json_t *circuits)
{
	static const char *const keys[] = { "fabric",	      "id",	     "name",
					    "state",	      "ranks-count", "circuits-count",
					    "bandwidth-mbps", NULL };
	json_t *summary = json_object();
	char *reason = slice_reason(slice, fabrics, circuits);

	copy_keys(summary, slice, keys);
	json_object_set_new(summary, "unprotected-ranks", unprotected_ranks(slice));
	if (reason)
		json_object_set_new(summary, "text", json_string(reason));
	free(reason);
	return summary;
}

/* The circuits are read only if a slice needs them, because a large fabric has many. */
static enum exit_code summarize_slices(struct run *run, uint32_t fabric, const json_t *fabrics,
				       const json_t *slices, json_t **summaries)
{
	enum exit_code code = EXIT_CODE_OK;
	json_t *circuits = NULL, *slice;
	bool degraded = false;
	size_t i;

	json_array_foreach(slices, i, slice) degraded |= key_is(slice, "state", "degraded");
	if (degraded)
		code = read_list(run, MORPH_OBJECT_CIRCUIT, fabric, &circuits);
	*summaries = json_array();
	json_array_foreach(slices, i, slice)
		json_array_append_new(*summaries, summarize_slice(slice, fabrics, circuits));
	json_decref(circuits);
	return code;
}

static const char *verdict(const json_t *report)
{
	const json_t *record;
	size_t i;

	json_array_foreach(json_object_get(report, "fabrics"), i,
			   record) if (!key_is(record, "state", "ready")) return "degraded";
	json_array_foreach(json_object_get(report, "slices"), i,
			   record) if (!key_is(record, "state", "ok") ||
				       json_array_size(json_object_get(
					       record, "unprotected-ranks"))) return "degraded";
	return json_array_size(json_object_get(report, "hardware")) ? "degraded" : "ok";
}

static void add_list(json_t *report, const char *key, json_t *records)
{
	if (records)
		json_object_set(report, key, records);
}

enum exit_code status_gather(struct run *run, uint32_t fabric, json_t **report)
{
	json_t *fabrics, *hardware = NULL, *slices = NULL, *stats = NULL, *summaries = NULL;
	enum exit_code code = state_fabrics(run, fabric, &fabrics);

	if (!code && !json_array_size(fabrics))
		code = client_no_fabric(run);
	if (!code)
		code = read_netlink(run, MORPH_OBJECT_HARDWARE, fabric, &hardware);
	if (!code)
		code = read_list(run, MORPH_OBJECT_SLICE, fabric, &slices);
	if (!code)
		code = read_netlink(run, MORPH_OBJECT_STATS, fabric, &stats);
	if (!code)
		code = summarize_slices(run, fabric, fabrics, slices, &summaries);
	if (!code) {
		drop_healthy(hardware);
		*report = json_object();
		json_object_set(*report, "fabrics", fabrics);
		add_list(*report, "hardware", hardware);
		json_object_set(*report, "slices", summaries);
		add_list(*report, "stats", stats);
		json_object_set_new(*report, "visible",
				    json_string(run->client->own ? "own" : "all"));
		json_object_set_new(*report, "state", json_string(verdict(*report)));
	}
	json_decref(fabrics);
	json_decref(hardware);
	json_decref(slices);
	json_decref(stats);
	json_decref(summaries);
	return code;
}
