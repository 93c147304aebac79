// SPDX-License-Identifier: GPL-2.0-or-later
/* Print a status report as one page. */
#include <stdlib.h>

#include "morphctl/status/status.h"

#define SLICES_SHOWN 12
#define PARTS_SHOWN 8
#define RANKS_SHOWN 4

static const char *name_of(const json_t *fabrics, uint32_t fabric)
{
	const json_t *record;
	size_t i;

	json_array_foreach(fabrics, i, record) if (number_of(record, "id", 0) ==
						   fabric) return text_of_key(record, "name");
	return "";
}

static void print_fabrics(struct run *run, const json_t *fabrics)
{
	json_t *lines = json_array(), *record;
	size_t i;

	json_array_foreach(fabrics, i, record)
	{
		json_t *line = json_copy(record);

		if (flag_of(record, "simulated"))
			json_object_set_new(line, "name",
					    json_sprintf("%s (simulated)",
							 text_of_key(record, "name")));
		json_array_append_new(lines, line);
	}
	emit_table(
		run,
		"name,state,accelerators-count,free-count,spares-count,failed-count,slices-count",
		lines);
	json_decref(lines);
}

/* -------------------------------------------------------------------------- slices */

/* 2: the slice lacks light; 1: a rank has no protection; 0: neither. */
static int severity(const json_t *slice)
{
	if (!key_is(slice, "state", "ok"))
		return 2;
	return json_array_size(json_object_get(slice, "unprotected-ranks")) ? 1 : 0;
}

/* A short list of ranks, or their number. */
static json_t *name_ranks(const json_t *slice)
{
	const json_t *ranks = json_object_get(slice, "unprotected-ranks");
	size_t count = json_array_size(ranks);

	if (!count)
		return NULL;
	if (count == number_of(slice, "ranks-count", 0))
		return json_string("all");
	return count <= RANKS_SHOWN ?
		       json_deep_copy(ranks) :
		       json_sprintf("%zu of %u", count, number_of(slice, "ranks-count", 0));
}

static json_t *slice_line(const json_t *fabrics, const json_t *slice)
{
	json_t *line = json_copy((json_t *)slice), *ranks = name_ranks(slice);

	json_object_del(line, "unprotected-ranks");
	if (ranks)
		json_object_set_new(line, "unprotected-ranks", ranks);
	if (!*text_of_key(slice, "name"))
		json_object_set_new(line, "name",
				    json_sprintf("slice %u", number_of(slice, "id", 0)));
	json_object_set_new(line, "fabric",
			    json_string(name_of(fabrics, number_of(slice, "fabric", 0))));
	/* Its heading says more than that of "text". */
	if (json_object_get(slice, "text"))
		json_object_set(line, "reason", json_object_get(slice, "text"));
	return line;
}

static void print_slices(struct run *run, const json_t *fabrics, const json_t *slices)
{
	json_t *lines = json_array(), *slice;
	size_t count = json_array_size(slices), bad = 0, i;
	char columns[128];

	for (int worst = 2; worst >= 0; worst--)
		json_array_foreach(slices, i, slice)
		{
			if (severity(slice) != worst)
				continue;
			bad += worst > 0;
			if (json_array_size(lines) < SLICES_SHOWN)
				json_array_append_new(lines, slice_line(fabrics, slice));
		}
	snprintf(columns, sizeof(columns), "%sname,state,ranks-count,circuits-count%s%s",
		 json_array_size(fabrics) > 1 ? "fabric," : "",
		 any_has(lines, "unprotected-ranks") ? ",unprotected-ranks" : "",
		 any_has(lines, "reason") ? ",reason" : "");
	emit_table(run, columns, lines);
	if (count > SLICES_SHOWN)
		say("%zu more slice%s%s; see 'morphctl slice list'\n", count - SLICES_SHOWN,
		    PLURAL(count - SLICES_SHOWN),
		    bad > SLICES_SHOWN ? "" : ", all ok and protected");
	json_decref(lines);
}

/* ------------------------------------------------------------------ hardware, failover */

static char *health_of_part(struct run *run, const json_t *fabrics, const json_t *part)
{
	uint32_t fabric = number_of(part, "fabric", 0);
	const json_t *record;
	char *name, *text;
	size_t i;

	json_array_foreach(fabrics, i, record) if (number_of(record, "id", 0) == fabric)
		run->planes = number_of(record, "planes-count", 0);
	name = part_name(run, part);
	if (asprintf(&text, "%s%s%s %s",
		     json_array_size(fabrics) > 1 ? name_of(fabrics, fabric) : "",
		     json_array_size(fabrics) > 1 ? " " : "", name,
		     text_of_key(part, "health")) < 0)
		text = NULL;
	free(name);
	return needed(text);
}

static void print_parts(struct run *run, const json_t *fabrics, const json_t *parts)
{
	size_t count = json_array_size(parts), i;
	const json_t *part;

	if (!count)
		return;
	say("\nunhealthy parts:");
	json_array_foreach(parts, i, part)
	{
		char *text;

		if (i == PARTS_SHOWN)
			break;
		text = health_of_part(run, fabrics, part);
		say("%s %s", i ? "," : "", text);
		free(text);
	}
	if (count > PARTS_SHOWN)
		say(", and %zu more; see 'morphctl hardware list'", count - PARTS_SHOWN);
	say("\n");
}

static void print_times(const json_t *times)
{
	static const char *const phases[] = { "detect", "plan",	  "program", "settle",
					      "relock", "verify", "notify" };
	uint64_t total = 0;
	char key[16];

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		snprintf(key, sizeof(key), "%s-ns", phases[i]);
		total += wide_of(times, key);
	}
	say("%s:", amount_ns(total).text);
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		snprintf(key, sizeof(key), "%s-ns", phases[i]);
		say("%s %s %s", i ? "," : "", phases[i], amount_ns(wide_of(times, key)).text);
	}
	say("\n");
}

/* The name of a slice, or an empty text if it has none or has ended. */
static const char *slice_name(const json_t *slices, uint32_t fabric, uint32_t id)
{
	const json_t *slice;
	size_t i;

	json_array_foreach(slices, i, slice)
	{
		if (number_of(slice, "fabric", 0) == fabric && number_of(slice, "id", 0) == id)
			return text_of_key(slice, "name");
	}
	return "";
}

/* What was replaced, and when. The kernel names it to administrators only. */
static void print_replaced(const json_t *slices, const json_t *replaced, uint32_t fabric)
{
	uint32_t id = number_of(replaced, "slice", 0);
	const char *name = slice_name(slices, fabric, id);
	char *when;

	if (!replaced)
		return;
	when = format_value("time-ns", json_object_get(replaced, "time-ns"));
	say("%s, ", when);
	free(when);
	if (*name)
		say("slice %s", name);
	else
		say("slice %u", id);
	say(" rank %u, accelerator %u replaced by %u; ", number_of(replaced, "rank", 0),
	    number_of(replaced, "old-accelerator", 0), number_of(replaced, "new-accelerator", 0));
}

static void print_failover(const json_t *fabrics, const json_t *slices, const json_t *stats)
{
	uint64_t good = wide_of(stats, "failovers"), bad = wide_of(stats, "failovers-failed");
	const char *name = name_of(fabrics, number_of(stats, "fabric", 0));

	if (good || bad)
		say("\n%s: %llu failover%s, %llu without a spare\n", name, (unsigned long long)good,
		    PLURAL(good), (unsigned long long)bad);
	if (!good)
		return;
	say("last failover: ");
	print_replaced(slices, json_object_get(stats, "last-replaced"),
		       number_of(stats, "fabric", 0));
	print_times(json_object_get(stats, "last-failover"));
}

/* The slices of the report, and which slices the caller cannot see. */
static void print_visible(struct run *run, const json_t *report)
{
	const json_t *slices = json_object_get(report, "slices");
	bool own = key_is(report, "visible", "own");

	if (json_array_size(slices))
		print_slices(run, json_object_get(report, "fabrics"), slices);
	else
		say("%s\n", own ? "no slices that you may open" : "no slices");
	if (own)
		say(CLIENT_OWN_NOTE "\n");
}

void status_print(struct run *run, json_t *report)
{
	const json_t *fabrics = json_object_get(report, "fabrics");
	const json_t *slices = json_object_get(report, "slices"), *stats;
	size_t i;

	say("%s\n\n", text_of_key(report, "state"));
	print_fabrics(run, fabrics);
	say("\n");
	print_visible(run, report);
	print_parts(run, fabrics, json_object_get(report, "hardware"));
	if (!json_object_get(report, "stats"))
		say("\nunhealthy parts and failovers are visible in the initial network namespace only\n");
	json_array_foreach(json_object_get(report, "stats"), i, stats)
		print_failover(fabrics, slices, stats);
}
