// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * morphctl metrics: the state of all fabrics as OpenMetrics, for the textfile collector of
 * node_exporter.
 *
 * The collector reads the older text format of Prometheus. So all families have types that both
 * formats know, and states are series of 0 and 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "morphctl/status/status.h"

#define NS_PER_S 1000000000u

/* Where the metrics of a report go. */
struct metrics {
	FILE *out;
	const json_t *report;
};

/*
 * A number of each fabric or slice, and its divisor that gives the unit of the metric. Device nodes
 * do not report all of them.
 */
struct field {
	const char *key, *name, *help;
	double divisor;
};

static const struct field fabric_fields[] = {
	{ "accelerators-count", "morph_accelerators", "Accelerators.", 1 },
	{ "free-count", "morph_accelerators_free", "Accelerators that a slice can get.", 1 },
	{ "held-count", "morph_accelerators_held", "Accelerators of slices.", 1 },
	{ "failed-count", "morph_accelerators_failed", "Accelerators that are not healthy.", 1 },
	{ "spares-count", "morph_spares", "Healthy idle spares.", 1 },
	{ "slices-count", "morph_slices", "Slices.", 1 },
	{ "temperature-mc", "morph_fabric_temperature_celsius", "Temperature of the fabric.", 1e3 },
};

static const struct field slice_fields[] = {
	{ "ranks-count", "morph_slice_ranks", "Ranks.", 1 },
	{ "circuits-count", "morph_slice_circuits", "Circuits.", 1 },
	{ "bandwidth-mbps", "morph_slice_bandwidth_bits_per_second", "Of the lit circuits.", 1e-6 },
};

static const struct field counters[] = {
	{ "committed", "morph_changes_committed", "Changes that were committed.", 1 },
	{ "rolled-back", "morph_changes_rolled_back", "Changes that were rolled back.", 1 },
	{ "broken", "morph_changes_broken", "Changes that hardware broke.", 1 },
	{ "refused", "morph_changes_refused", "Changes that were refused.", 1 },
	{ "failovers", "morph_failovers", "Accelerators that a spare has replaced.", 1 },
	{ "failovers-failed", "morph_failovers_failed", "Failovers without a usable spare.", 1 },
	{ "reroutes", "morph_reroutes", "Circuits rerouted around failed hardware.", 1 },
	{ "provider-errors", "morph_device_errors", "Operations that the device refused.", 1 },
	{ "provider-timeouts", "morph_device_timeouts", "Operations without an answer in time.",
	  1 },
	{ "events-lost", "morph_events_lost", "Events that readers lost.", 1 },
	{ "controllers-expired", "morph_controllers_expired", "Leases of controllers that ran out.",
	  1 },
};

static const char *const parts[] = {
	"accelerator", "laser", "receiver", "element", "guide", "edge"
};
static const char *const slice_states[] = { "ok", "repairing", "degraded", "lost", "dying" };
static const char *const phases[] = { "detect", "plan",	  "program", "settle",
				      "relock", "verify", "notify" };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* ------------------------------------------------------------------------ samples */

static void write_family(struct metrics *metrics, const char *name, const char *type,
			 const char *help)
{
	fprintf(metrics->out, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

/* The value of a label; a backslash, a quotation mark and a line end are escaped. */
static void write_label(struct metrics *metrics, const char *name, const char *value)
{
	fprintf(metrics->out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", metrics->out);
		else if (*value == '"' || *value == '\\')
			fprintf(metrics->out, "\\%c", *value);
		else
			fputc(*value, metrics->out);
	}
	fputc('"', metrics->out);
}

static const char *fabric_name(const struct metrics *metrics, uint32_t id)
{
	const json_t *fabric;
	size_t i;

	json_array_foreach(json_object_get(metrics->report, "fabrics"), i, fabric)
	{
		if (number_of(fabric, "id", MORPH_ANY) == id)
			return text_of_key(fabric, "name");
	}
	return "";
}

/* Begin a sample of a fabric; write_value() ends it. */
static void begin_sample(struct metrics *metrics, const char *name, uint32_t fabric)
{
	fprintf(metrics->out, "%s{", name);
	write_label(metrics, "fabric", fabric_name(metrics, fabric));
}

static void add_label(struct metrics *metrics, const char *name, const char *value)
{
	fputc(',', metrics->out);
	write_label(metrics, name, value);
}

static void write_value(struct metrics *metrics, double value)
{
	fprintf(metrics->out, "} %.12g\n", value);
}

static void begin_slice(struct metrics *metrics, const char *name, const json_t *slice)
{
	char id[16];

	begin_sample(metrics, name, number_of(slice, "fabric", 0));
	snprintf(id, sizeof(id), "%u", number_of(slice, "id", 0));
	add_label(metrics, "slice", id);
	add_label(metrics, "name", text_of_key(slice, "name"));
}

static double value_of(const json_t *record, const struct field *field)
{
	return json_number_value(json_object_get(record, field->key)) / field->divisor;
}

/* ----------------------------------------------------------------------- families */

static void write_fabrics(struct metrics *metrics)
{
	const json_t *fabrics = json_object_get(metrics->report, "fabrics"), *fabric;
	size_t i, f;

	write_family(metrics, "morph_fabric_info", "gauge", "Always 1; profile and identity.");
	json_array_foreach(fabrics, i, fabric)
	{
		begin_sample(metrics, "morph_fabric_info", number_of(fabric, "id", 0));
		add_label(metrics, "profile", text_of_key(fabric, "profile"));
		add_label(metrics, "uuid", text_of_key(fabric, "uuid"));
		add_label(metrics, "simulated", flag_of(fabric, "simulated") ? "yes" : "no");
		write_value(metrics, 1);
	}
	write_family(metrics, "morph_fabric_ready", "gauge", "1: the fabric accepts changes.");
	json_array_foreach(fabrics, i, fabric)
	{
		begin_sample(metrics, "morph_fabric_ready", number_of(fabric, "id", 0));
		write_value(metrics, key_is(fabric, "state", "ready"));
	}
	for (f = 0; f < LENGTH(fabric_fields); f++) {
		const struct field *field = &fabric_fields[f];

		write_family(metrics, field->name, "gauge", field->help);
		json_array_foreach(fabrics, i, fabric)
		{
			if (!json_object_get(fabric, field->key))
				continue;
			begin_sample(metrics, field->name, number_of(fabric, "id", 0));
			write_value(metrics, value_of(fabric, field));
		}
	}
}

static size_t count_unhealthy(const struct metrics *metrics, uint32_t fabric, const char *kind)
{
	const json_t *part;
	size_t count = 0, i;

	json_array_foreach(json_object_get(metrics->report, "hardware"), i, part)
	{
		count += number_of(part, "fabric", MORPH_ANY) == fabric &&
			 key_is(part, "part", kind);
	}
	return count;
}

static void write_parts(struct metrics *metrics)
{
	const json_t *fabric;
	size_t i, p;

	write_family(metrics, "morph_unhealthy_parts", "gauge", "Parts that are not healthy.");
	json_array_foreach(json_object_get(metrics->report, "fabrics"), i, fabric)
	{
		uint32_t id = number_of(fabric, "id", 0);

		for (p = 0; p < LENGTH(parts); p++) {
			begin_sample(metrics, "morph_unhealthy_parts", id);
			add_label(metrics, "part", parts[p]);
			write_value(metrics, (double)count_unhealthy(metrics, id, parts[p]));
		}
	}
}

static void write_slices(struct metrics *metrics)
{
	const json_t *slices = json_object_get(metrics->report, "slices"), *slice;
	size_t i, s;

	write_family(metrics, "morph_slice_state", "gauge", "1: the slice is in this state.");
	json_array_foreach(slices, i, slice)
	{
		for (s = 0; s < LENGTH(slice_states); s++) {
			begin_slice(metrics, "morph_slice_state", slice);
			add_label(metrics, "state", slice_states[s]);
			write_value(metrics, key_is(slice, "state", slice_states[s]));
		}
	}
	write_family(metrics, "morph_slice_unprotected_ranks", "gauge",
		     "Ranks that no spare can replace now.");
	json_array_foreach(slices, i, slice)
	{
		begin_slice(metrics, "morph_slice_unprotected_ranks", slice);
		write_value(metrics,
			    (double)json_array_size(json_object_get(slice, "unprotected-ranks")));
	}
	for (s = 0; s < LENGTH(slice_fields); s++) {
		write_family(metrics, slice_fields[s].name, "gauge", slice_fields[s].help);
		json_array_foreach(slices, i, slice)
		{
			if (!json_object_get(slice, slice_fields[s].key))
				continue;
			begin_slice(metrics, slice_fields[s].name, slice);
			write_value(metrics, value_of(slice, &slice_fields[s]));
		}
	}
}

/* Without rights some slices are missing, which differs from no other slices. */
static void write_visible(struct metrics *metrics)
{
	write_family(metrics, "morph_slices_hidden", "gauge",
		     "1: slices whose device nodes the reader may not open are missing.");
	fprintf(metrics->out, "morph_slices_hidden %d\n",
		key_is(metrics->report, "visible", "own"));
}

static void write_counters(struct metrics *metrics)
{
	const json_t *all = json_object_get(metrics->report, "stats"), *stats;
	char total[64];
	size_t i, c;

	for (c = 0; c < LENGTH(counters); c++) {
		write_family(metrics, counters[c].name, "counter", counters[c].help);
		snprintf(total, sizeof(total), "%s_total", counters[c].name);
		json_array_foreach(all, i, stats)
		{
			begin_sample(metrics, total, number_of(stats, "fabric", 0));
			write_value(metrics, value_of(stats, &counters[c]));
		}
	}
}

static void write_failover(struct metrics *metrics)
{
	const json_t *stats;
	char key[16];
	size_t i, p;

	write_family(metrics, "morph_last_failover_seconds", "gauge",
		     "Times of the phases of the last failover.");
	json_array_foreach(json_object_get(metrics->report, "stats"), i, stats)
	{
		const json_t *times = json_object_get(stats, "last-failover");

		if (!wide_of(stats, "failovers"))
			continue;
		for (p = 0; p < LENGTH(phases); p++) {
			snprintf(key, sizeof(key), "%s-ns", phases[p]);
			begin_sample(metrics, "morph_last_failover_seconds",
				     number_of(stats, "fabric", 0));
			add_label(metrics, "phase", phases[p]);
			write_value(metrics, (double)wide_of(times, key) / NS_PER_S);
		}
	}
}

static void write_metrics(struct metrics *metrics, bool up)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	write_family(metrics, "morph_heartbeat_timestamp_seconds", "gauge",
		     "When these metrics were read.");
	fprintf(metrics->out, "morph_heartbeat_timestamp_seconds %lld.%03ld\n",
		(long long)now.tv_sec, now.tv_nsec / 1000000);
	write_family(metrics, "morph_up", "gauge", "1: the driver answered, and has a fabric.");
	fprintf(metrics->out, "morph_up %d\n", up);
	if (up) {
		write_fabrics(metrics);
		/* A container cannot see failed parts, which differs from zero failed parts. */
		if (json_object_get(metrics->report, "hardware"))
			write_parts(metrics);
		write_slices(metrics);
		write_visible(metrics);
		write_counters(metrics);
		write_failover(metrics);
	}
	fputs("# EOF\n", metrics->out);
}

/* -------------------------------------------------------------------------- file */

static enum exit_code fail_file(const char *path, const char *temporary)
{
	int error = errno;

	warn_line("write %s: %s", path, strerror(error));
	unlink(temporary);
	return EXIT_CODE_FAILED;
}

/* Replace the file as a whole, because the collector may read it at any time. */
static enum exit_code write_file(const char *path, const char *text, size_t bytes)
{
	enum exit_code code = EXIT_CODE_OK;
	char *temporary;
	bool written;
	FILE *file;

	if (asprintf(&temporary, "%s.new", path) < 0)
		needed(NULL);
	file = fopen(temporary, "we");
	if (!file) {
		code = fail_file(path, temporary);
		free(temporary);
		return code;
	}
	written = fwrite(text, 1, bytes, file) == bytes && !fchmod(fileno(file), 0644);
	if (fclose(file) || !written || rename(temporary, path))
		code = fail_file(path, temporary);
	free(temporary);
	return code;
}

enum exit_code print_metrics(struct run *run)
{
	struct metrics metrics = {};
	json_t *report = NULL;
	enum exit_code code;
	char *text = NULL;
	size_t bytes;
	bool up;

	/* A driver that does not answer is a metric, too. */
	up = !client_open(run) && !status_gather(run, MORPH_ANY, &report);
	metrics.report = report;
	metrics.out = needed(open_memstream(&text, &bytes));
	write_metrics(&metrics, up);
	if (fclose(metrics.out))
		needed(NULL);
	if (run->argc)
		code = write_file(run->argv[0], text, bytes);
	else
		code = fwrite(text, 1, bytes, stdout) == bytes ? EXIT_CODE_OK : EXIT_CODE_FAILED;
	free(text);
	json_decref(report);
	return code;
}
