// SPDX-License-Identifier: GPL-2.0-or-later
/* Format values as text for people. headings.def gives the unit of each key. */
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "morphctl/output/output.h"

#define NS_PER_S INT64_C(1000000000)

/* Kinds of values. The comment gives the unit of the number in a record. */
enum unit {
	PLAIN,
	BANDWIDTH, /* Mb/s */
	BYTES,
	CHECKSUM,
	CLOCK, /* nanoseconds of CLOCK_BOOTTIME; 0: never */
	DECIBEL, /* 1/1000 dB */
	DURATION, /* nanoseconds */
	ERROR, /* negative errno */
	MASK,
	MODE,
	PERCENT,
	POWER, /* 1/1000 dBm */
	TEMPERATURE, /* 1/1000 degree Celsius */
	USER,
};

struct heading {
	const char *key, *text;
	enum unit unit;
};

static const struct heading headings[] = {
#define HEADING(key_, text_, unit_) { .key = key_, .text = text_, .unit = unit_ },
#include "morphctl/output/headings.def"
#undef HEADING
};

static int by_key(const void *key, const void *heading)
{
	return strcmp(key, ((const struct heading *)heading)->key);
}

static const struct heading *find(const char *key)
{
	return bsearch(key, headings, sizeof(headings) / sizeof(headings[0]), sizeof(headings[0]),
		       by_key);
}

const char *format_heading(const char *key)
{
	const struct heading *heading = find(key);

	return heading ? heading->text : key;
}

static enum unit unit_of(const char *key)
{
	const struct heading *heading = find(key);

	return heading ? heading->unit : PLAIN;
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
	text = format_text(format, arguments);
	va_end(arguments);
	return text;
}

/*
 * Print @value with its unit: the first of @units if it is below @first, else one in which it is
 * below @step. Each unit is @step times the one before it.
 */
static struct amount scaled(double value, double first, double step, const char *const *units)
{
	struct amount amount;
	double limit = first;

	while (units[1] && value >= limit) {
		value /= step;
		limit = step;
		units++;
	}
	snprintf(amount.text, sizeof(amount.text), value < 10000 ? "%.4g %s" : "%.0f %s", value,
		 *units);
	return amount;
}

struct amount amount_ns(uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };

	return scaled((double)ns, 10000, 1000, units);
}

struct amount amount_bytes(uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", NULL };

	return scaled((double)bytes, 1024, 1024, units);
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

/*
 * The wall clock when CLOCK_BOOTTIME was 0, as if the wall clock had never been set since.
 * MORPHCTL_BOOT_TIME gives it for recordings of another machine.
 */
static int64_t boot_ns(void)
{
	const char *given_time = getenv("MORPHCTL_BOOT_TIME");
	uint64_t seconds;

	if (given_time && parse_u64(given_time, 0, INT32_MAX, &seconds))
		return (int64_t)seconds * NS_PER_S;
	return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
}

int64_t wall_clock_ns(void)
{
	return getenv("MORPHCTL_BOOT_TIME") ? boot_ns() : clock_ns(CLOCK_REALTIME);
}

static char *wall_clock(json_int_t value)
{
	static int64_t boot;
	char text[32];
	int64_t ns;
	time_t seconds;
	struct tm local;

	if (!value)
		return text_of("never");
	/* Read the clocks once, so that equal times of one answer look equal. */
	if (!boot)
		boot = boot_ns();
	ns = boot + value;
	seconds = ns / NS_PER_S;
	if (!localtime_r(&seconds, &local) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local))
		return text_of("%" JSON_INTEGER_FORMAT " ns", value);
	return text_of("%s.%03u", text, (unsigned int)(ns % NS_PER_S / 1000000));
}

static char *user(json_int_t uid)
{
	const struct passwd *entry = getpwuid((uid_t)uid);

	return entry ? text_of("%s", entry->pw_name) : text_of("%" JSON_INTEGER_FORMAT, uid);
}

static char *plain(json_int_t value)
{
	return text_of("%" JSON_INTEGER_FORMAT, value);
}

static char *integer(const char *key, json_int_t value)
{
	static const char *const rates[] = { "Mb/s", "Gb/s", NULL };

	switch (unit_of(key)) {
	case BANDWIDTH:
		return text_of("%s", scaled((double)value, 1000, 1000, rates).text);
	case BYTES:
		return text_of("%s", amount_bytes((uint64_t)value).text);
	case CHECKSUM:
		return text_of("0x%08" PRIx64, (uint64_t)value);
	case CLOCK:
		return wall_clock(value);
	case DECIBEL:
		return text_of("%.3f dB", (double)value / 1e3);
	case DURATION:
		return text_of("%s", amount_ns((uint64_t)value).text);
	case ERROR:
		return text_of("%s", value < 0 ? strerror((int)-value) : "ok");
	case MASK:
		return text_of("0x%" PRIx64, (uint64_t)value);
	case MODE:
		return text_of("%04o", (unsigned int)value);
	case POWER:
		return text_of("%.3f dBm", (double)value / 1e3);
	case TEMPERATURE:
		return text_of("%.1f C", (double)value / 1e3);
	case USER:
		return user(value);
	default:
		return plain(value);
	}
}

static char *joined(const char *key, const json_t *list, const char *divider)
{
	char *text = text_of("%s", "");
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		char *one = format_value(key, item), *longer;

		longer = text_of("%s%s%s", text, i ? divider : "", one);
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

		longer = text_of("%s%s%s %s", text, *text ? ", " : "", format_heading(key), one);
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
		return joined(key, value, ",");
	case JSON_OBJECT:
		return nested(value);
	case JSON_REAL:
		return text_of(unit_of(key) == PERCENT ? "%.4g %%" : "%.6g",
			       json_real_value(value));
	case JSON_TRUE:
		return text_of("yes");
	case JSON_FALSE:
		return text_of("no");
	default:
		return text_of("-");
	}
}

char *format_list(const char *key, const json_t *list)
{
	return joined(key, list, ", ");
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
	return json_is_number(value) && unit_of(key) != USER;
}
