// SPDX-License-Identifier: GPL-2.0-or-later
/* The reason for the state of a slice, as a sentence. */
#include <stdarg.h>
#include <stdlib.h>

#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

/* Add a part to a list of parts of a sentence. */
static void add(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char **text, const char *format, ...)
{
	va_list arguments;
	char *part, *all;

	va_start(arguments, format);
	part = format_text(format, arguments);
	va_end(arguments);
	if (asprintf(&all, "%s%s%s", *text ? *text : "", *text ? "; " : "", part) < 0)
		all = NULL;
	free(part);
	free(*text);
	*text = needed(all);
}

static uint32_t count_failed(const json_t *slice, const json_t *circuits)
{
	const json_t *circuit;
	uint32_t count = 0;
	size_t i;

	json_array_foreach(circuits, i, circuit)
		count += number_of(circuit, "fabric", 0) == number_of(slice, "fabric", 0) &&
			 number_of(circuit, "slice", 0) == number_of(slice, "id", 0) &&
			 key_is(circuit, "state", "failed");
	return count;
}

/* What the slice waits for. */
static void add_remedy(char **text, const json_t *slice, const json_t *fabrics)
{
	const json_t *fabric;
	size_t i;

	if (key_is(slice, "failover", "manual"))
		add(text, "waits for 'slice replace'");
	if (!key_is(slice, "failover", "automatic"))
		return;
	json_array_foreach(fabrics, i, fabric) if (number_of(fabric, "id", 0) ==
						   number_of(slice, "fabric", NUMBER_NONE))
		add(text,
		    number_of(fabric, "spares-count", 0) ? "no spare fits" : "no spare is left");
}

static void describe_degraded(char **text, const json_t *slice, const json_t *fabrics,
			      const json_t *circuits)
{
	uint32_t failed = count_failed(slice, circuits);
	const json_t *rank;
	bool any = false;
	size_t i;

	json_array_foreach(json_object_get(slice, "ranks"), i, rank)
	{
		if (key_is(rank, "health", "ok") || key_is(rank, "health", "suspect"))
			continue;
		add(text, "rank %u: accelerator %u %s", number_of(rank, "rank", 0),
		    number_of(rank, "accelerator", 0), text_of_key(rank, "health"));
		any = true;
	}
	if (any)
		add_remedy(text, slice, fabrics);
	if (failed)
		add(text, "%u circuit%s dark", failed, PLURAL(failed));
}

char *slice_reason(const json_t *slice, const json_t *fabrics, const json_t *circuits)
{
	char *text = NULL;

	if (key_is(slice, "state", "repairing"))
		add(&text, "a failover is running");
	else if (key_is(slice, "state", "lost"))
		add(&text, "the provider of its fabric has gone");
	else if (key_is(slice, "state", "dying"))
		add(&text, "it is being deleted");
	else if (key_is(slice, "state", "degraded"))
		describe_degraded(&text, slice, fabrics, circuits);
	return text;
}
