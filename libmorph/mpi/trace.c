// SPDX-License-Identifier: LGPL-2.1-or-later
/* The shim: the learnt stages, as a JSON object in a file for each rank. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shim.h"

/* PATH.RANK, or PATH with the rank in place of %r. */
static FILE *open_trace(void)
{
	const char *at = strstr(shim.trace, "%r");
	char path[4096];

	if (at)
		snprintf(path, sizeof(path), "%.*s%d%s", (int)(at - shim.trace), shim.trace,
			 shim.rank, at + 2);
	else
		snprintf(path, sizeof(path), "%s.%d", shim.trace, shim.rank);
	return fopen(path, "we");
}

static void write_comms(FILE *file)
{
	fprintf(file, " \"communicators\": [");
	for (int at = 0; at < shim.comms_count; at++) {
		const struct shim_comm *comm = shim.comms[at];

		fprintf(file, "%s\n  {\"communicator\": %d, \"number\": %u, \"members\": [",
			at ? "," : "", at, comm->number);
		for (int member = 0; member < comm->size; member++)
			fprintf(file, "%s%u", member ? ", " : "", comm->members[member]);
		fprintf(file, "], \"operations\": %" PRIu64, comm->operations);
		if (comm->phase != NO_PHASE)
			fprintf(file, ", \"phase\": %u", comm->phase);
		fprintf(file, "}");
	}
	fprintf(file, "],\n");
}

static int number_of(const struct shim_comm *comm)
{
	int at = 0;

	while (at < shim.comms_count && shim.comms[at] != comm)
		at++;
	return at;
}

static void write_stages(FILE *file, const struct morph_phases *phases)
{
	uint32_t rank = (uint32_t)shim.rank, count = morph_phases_stages(phases, rank);
	struct morph_stage stage;

	fprintf(file, " \"stages\": [");
	for (uint32_t at = 0; at < count && !morph_phases_stage(phases, rank, at, &stage); at++) {
		fprintf(file,
			"%s\n  {\"communicator\": %d, \"first\": %" PRIu64 ", \"count\": %" PRIu64
			", \"switches\": %s",
			at ? "," : "", number_of(shim_comm_of_group(stage.group)), stage.first,
			stage.count, stage.switches ? "true" : "false");
		if (stage.windows)
			fprintf(file,
				", \"windows\": %" PRIu64 ", \"window_least_ns\": %" PRIu64
				", \"window_ns\": %" PRIu64,
				stage.windows, stage.window_least_ns, stage.window_ns);
		fprintf(file, "}");
	}
	fprintf(file, "]");
}

static void write_counts(FILE *file)
{
	struct morph_slice_phases_info counts;

	if (!shim_control_counts(&counts))
		return;
	fprintf(file,
		",\n \"entered\": %" PRIu64 ", \"lit\": %" PRIu64 ", \"late\": %" PRIu64
		", \"provisioned\": %" PRIu64 ", \"changes\": %" PRIu64 ", \"jumps\": %" PRIu64
		", \"repairs\": %" PRIu64 ", \"wait_ns\": %" PRIu64,
		counts.entered, counts.lit, counts.late, counts.provisioned, counts.changes,
		counts.jumps, counts.repairs, counts.wait_ns);
}

void shim_trace_write(void)
{
	static const char *const modes[] = { "observe", "on-demand", "provision" };
	const struct morph_phases *phases;
	uint32_t learned, strays;
	FILE *file;

	if (!shim.trace)
		return;
	file = open_trace();
	if (!file) {
		shim_say("cannot write the trace to %s", shim.trace);
		return;
	}
	shim_lock();
	phases = shim_learn_phases(&learned, &strays);
	fprintf(file, "{\"rank\": %d, \"ranks\": %d, \"mode\": \"%s\",\n", shim.rank, shim.size,
		modes[shim.mode]);
	write_comms(file);
	write_stages(file, phases);
	fprintf(file, ",\n \"learned\": %u, \"strays\": %u", learned, strays);
	write_counts(file);
	fprintf(file, "}\n");
	shim_unlock();
	if (fclose(file))
		shim_say("cannot write the trace to %s", shim.trace);
}
