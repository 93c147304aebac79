// SPDX-License-Identifier: GPL-2.0-or-later
/* Format values as text for people. The ending of an attribute's name gives its unit. */
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/output/output.h"

static bool ends(const char *key, const char *tail)
{
	size_t length = strlen(key), tail_length = strlen(tail);

	return length >= tail_length && !strcmp(key + length - tail_length, tail);
}

static bool one_of(const char *key, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(key, *names))
			return true;
	return false;
}

static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *text_of(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	return needed(text);
}

static char *duration(json_int_t ns)
{
	if (ns < 10000)
		return text_of("%" JSON_INTEGER_FORMAT " ns", ns);
	if (ns < 10000000)
		return text_of("%.5g us", (double)ns / 1e3);
	if (ns < 10000000000)
		return text_of("%.5g ms", (double)ns / 1e6);
	if (ns < 100000000000000)
		return text_of("%.5g s", (double)ns / 1e9);
	return text_of("%.0f s", (double)ns / 1e9);
}

static char *user(json_int_t uid)
{
	const struct passwd *entry = getpwuid((uid_t)uid);

	return entry ? text_of("%s", entry->pw_name) : text_of("%" JSON_INTEGER_FORMAT, uid);
}

static char *integer(const char *key, json_int_t value)
{
	static const char *const stamps[] = { "last-verified-ns", "time-ns", NULL };
	static const char *const masks[] = { "lane-mask", "free-lane-mask", "out-lane-mask",
					     "in-lane-mask", NULL };

	if (one_of(key, stamps))
		return value ? text_of("%.3f s", (double)value / 1e9) : text_of("never");
	if (ends(key, "-ns"))
		return duration(value);
	if (ends(key, "-mbps"))
		return value >= 1000 ? text_of("%g Gb/s", (double)value / 1e3) :
				       text_of("%" JSON_INTEGER_FORMAT " Mb/s", value);
	if (ends(key, "-mdb"))
		return text_of("%.3f dB", (double)value / 1e3);
	if (ends(key, "-mdbm"))
		return text_of("%.3f dBm", (double)value / 1e3);
	if (ends(key, "-mc"))
		return text_of("%.1f C", (double)value / 1e3);
	if (one_of(key, masks))
		return text_of("0x%" PRIx64, (uint64_t)value);
	if (!strcmp(key, "profile-checksum"))
		return text_of("0x%08" PRIx64, (uint64_t)value);
	if (!strcmp(key, "mode"))
		return text_of("%04o", (unsigned int)value);
	if (!strcmp(key, "owner") || !strcmp(key, "uid"))
		return user(value);
	if ((!strcmp(key, "status") || !strcmp(key, "error")) && value < 0)
		return text_of("%s", strerror((int)-value));
	return text_of("%" JSON_INTEGER_FORMAT, value);
}

static char *joined(const char *key, const json_t *list)
{
	char *text = text_of("%s", "");
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		char *one = format_value(key, item), *longer;

		longer = text_of("%s%s%s", text, i ? "," : "", one);
		free(one);
		free(text);
		text = longer;
	}
	return text;
}

/* Print a nested record in a cell: its members in brackets. */
static char *nested(const json_t *record)
{
	char *text = text_of("%s", "");
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)record, key, value)
	{
		char *one = format_value(key, value), *longer;

		longer = text_of("%s%s%s=%s", text, *text ? " " : "", key, one);
		free(one);
		free(text);
		text = longer;
	}
	return text;
}

char *format_value(const char *key, const json_t *value)
{
	if (!value)
		return text_of("-");
	switch (json_typeof(value)) {
	case JSON_INTEGER:
		return integer(key, json_integer_value(value));
	case JSON_STRING:
		return text_of("%s", *json_string_value(value) ? json_string_value(value) : "-");
	case JSON_ARRAY:
		return joined(key, value);
	case JSON_OBJECT:
		return nested(value);
	case JSON_REAL:
		return text_of("%g", json_real_value(value));
	case JSON_TRUE:
		return text_of("yes");
	case JSON_FALSE:
		return text_of("no");
	default:
		return text_of("-");
	}
}

const char *format_color(const char *key, const char *text)
{
	static const char *const keys[] = { "state", "health", "outcome", "protection-state",
					    "use",   NULL };
	static const char *const bad[] = { "failed", "lost", "broken", "gone", "none", NULL };
	static const char *const poor[] = { "suspect", "quarantined", "degraded", "repairing",
					    "dying",   "revoked",     "expired",  "rolled-back",
					    "stale",   "changing",    "draining", "starting",
					    NULL };

	if (!one_of(key, keys))
		return NULL;
	if (one_of(text, bad))
		return "red";
	return one_of(text, poor) ? "yellow" : NULL;
}

bool format_is_number(const char *key, const json_t *value)
{
	return json_is_integer(value) && strcmp(key, "owner") && strcmp(key, "uid");
}
