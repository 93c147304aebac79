// SPDX-License-Identifier: GPL-2.0-only
/* The progress of the demo, and its record as JSON. */
#include <string.h>

#include "demo.h"

#define PROGRESS_MS 5000

static const char *const outcome_names[] = {
	"no change", "committed", "rolled back", "broken",	"prepared",
	"revoked",   "expired",	  "running",	 "unconfirmed",
};

static const char *const reason_names[] = {
	[MORPH_REASON_NONE] = "none",
	[MORPH_REASON_PROFILE] = "profile",
	[MORPH_REASON_PORT] = "port",
	[MORPH_REASON_PATH] = "path",
	[MORPH_REASON_NO_ROUTE] = "no-route",
	[MORPH_REASON_BLOCKED] = "blocked",
	[MORPH_REASON_GAVE_UP] = "gave-up",
	[MORPH_REASON_LANES] = "lanes",
	[MORPH_REASON_ELEMENT_PINNED] = "element-pinned",
	[MORPH_REASON_UNUSABLE] = "unusable",
	[MORPH_REASON_MARGIN] = "margin",
	[MORPH_REASON_OVERLOAD] = "overload",
	[MORPH_REASON_ISOLATION] = "isolation",
	[MORPH_REASON_TRANSIT] = "transit",
	[MORPH_REASON_PORT_BUSY] = "port-busy",
	[MORPH_REASON_ACCELERATORS] = "accelerators",
	[MORPH_REASON_ACCELERATOR_HELD] = "accelerator-held",
	[MORPH_REASON_ACCELERATOR_UNFIT] = "accelerator-unfit",
	[MORPH_REASON_NO_SPARE] = "no-spare",
	[MORPH_REASON_QUOTA] = "quota",
	[MORPH_REASON_GENERATION] = "generation",
	[MORPH_REASON_STATE] = "state",
	[MORPH_REASON_HARDWARE] = "hardware",
	[MORPH_REASON_TIMEOUT] = "timeout",
	[MORPH_REASON_ARGUMENT] = "argument",
};

const char *outcome_name(uint32_t outcome)
{
	return outcome < sizeof(outcome_names) / sizeof(outcome_names[0]) ? outcome_names[outcome] :
									    "unknown outcome";
}

const char *reason_name(uint32_t reason)
{
	return reason < sizeof(reason_names) / sizeof(reason_names[0]) && reason_names[reason] ?
		       reason_names[reason] :
		       "unknown";
}

static uint32_t failures_ended(bool survived)
{
	uint32_t count = 0, i;

	for (i = 0; i < demo.failures_count; i++)
		count += demo.failures[i].accounted && demo.failures[i].survived == survived;
	return count;
}

/* Buffer by line, because the output may be a file. */
void report_progress(bool last)
{
	static long long said;
	long long now = now_ms();

	if (!last && now - said < PROGRESS_MS)
		return;
	said = now;
	printf("%4lld s  %2u of %u accelerators held  "
	       "jobs: %u served, %u running, %u queued, %u refused, %u killed  "
	       "failures: %u survived, %u not\n",
	       (now - demo.begin_ms) / 1000, held_accelerators(), demo.capacity,
	       jobs_at(STAGE_SERVED), jobs_at(STAGE_RUNNING), jobs_at(STAGE_QUEUED),
	       jobs_at(STAGE_REFUSED), jobs_at(STAGE_KILLED), failures_ended(true),
	       failures_ended(false));
	fflush(stdout);
}

/* ---------------------------------------------------------------------- JSON */

static void text(FILE *file, const char *string)
{
	fputc('"', file);
	for (; *string; string++) {
		if (*string == '"' || *string == '\\')
			fputc('\\', file);
		fputc((unsigned char)*string < ' ' ? ' ' : *string, file);
	}
	fputc('"', file);
}

static void member(FILE *file, const char *key, const char *string)
{
	fprintf(file, "\"%s\": ", key);
	text(file, string);
}

static void write_refusals(FILE *file)
{
	const char *comma = "";
	uint32_t i;

	fprintf(file, " \"refusals\": [");
	for (i = 0; i < demo.jobs_count; i++) {
		const struct job *job = &demo.jobs[i];

		if (job->stage != STAGE_REFUSED)
			continue;
		fprintf(file, "%s\n  {\"job\": %u, \"accelerators\": %u, ", comma, i,
			job->accelerators);
		member(file, "reason", reason_name(job->refused_reason));
		fprintf(file, ", ");
		member(file, "detail", job->refused_detail);
		fprintf(file, "}");
		comma = ",";
	}
	fprintf(file, "],\n");
}

static void write_jobs(FILE *file)
{
	uint32_t hurt = 0, drawn = 0, i;

	for (i = 0; i < demo.jobs_count; i++) {
		hurt += demo.jobs[i].stage == STAGE_SERVED && demo.jobs[i].was_hurt;
		drawn += demo.jobs[i].drawn;
	}
	fprintf(file,
		" \"jobs\": {\"all\": %u, \"drawn\": %u, "
		"\"served\": %u, \"refused\": %u, \"killed\": %u, \"lost\": %u, \"waited\": %u, "
		"\"cut_short\": %u, \"served_though_hurt\": %u},\n",
		demo.jobs_count, drawn, jobs_at(STAGE_SERVED), jobs_at(STAGE_REFUSED),
		jobs_at(STAGE_KILLED), jobs_at(STAGE_LOST), demo.waited, demo.cut, hurt);
	write_refusals(file);
}

static void write_occupancy(FILE *file)
{
	long long until = demo.measured_until_ms ? demo.measured_until_ms : demo.sampled_ms;
	long long span = until - demo.measured_from_ms;

	fprintf(file,
		" \"occupancy\": {\"accelerators\": %u, \"mean\": %.4f, "
		"\"least\": %.4f, \"most\": %.4f, \"measured_s\": %.1f},\n",
		demo.capacity, span > 0 ? demo.held_ms / span / demo.capacity : 0.0,
		(double)demo.held_least / demo.capacity, (double)demo.held_most / demo.capacity,
		span / 1000.0);
}

static void write_failures(FILE *file)
{
	uint32_t i;

	fprintf(file, " \"failures\": [");
	for (i = 0; i < demo.failures_count; i++) {
		const struct failure *failure = &demo.failures[i];

		fprintf(file, "%s\n  {", i ? "," : "");
		member(file, "kind", failure->kind);
		fprintf(file, ", ");
		member(file, "target", failure->target);
		fprintf(file,
			", \"job\": %lld, \"took_ns\": %llu, "
			"\"accounted\": %s, \"survived\": %s, \"owner_killed\": %s, "
			"\"others_moved\": %u, \"whole_again\": %s, \"left_mbps\": %llu, ",
			failure->job == NO_JOB ? -1LL : (long long)failure->job,
			(unsigned long long)failure->took_ns, failure->accounted ? "true" : "false",
			failure->survived ? "true" : "false", failure->freed ? "true" : "false",
			failure->bystanders,
			failure->survived || failure->recovered ? "true" : "false",
			(unsigned long long)failure->left_mbps);
		member(file, "end", failure->end);
		fprintf(file, "}");
	}
	fprintf(file, "],\n");
}

static void write_failovers(FILE *file)
{
	uint32_t i, phase;

	fprintf(file, " \"failovers\": [");
	for (i = 0; i < demo.failovers_count; i++) {
		const struct failover *failover = &demo.failovers[i];

		fprintf(file,
			"%s\n  {\"job\": %u, \"failure\": %lld, \"type\": \"%s\", \"phase_ns\": [",
			i ? "," : "", failover->job,
			failover->failure == NO_JOB ? -1LL : (long long)failover->failure,
			failover->type == MORPH_EVENT_REPLACED ? "replaced" : "moved");
		for (phase = 0; phase < MORPH_PHASE_COUNT; phase++)
			fprintf(file, "%s%llu", phase ? ", " : "",
				(unsigned long long)failover->times.phase_ns[phase]);
		fprintf(file, "], \"modelled_ns\": %llu, \"provider_ns\": %llu, \"dark_ns\": %llu}",
			(unsigned long long)failover->times.modelled_ns,
			(unsigned long long)failover->times.provider_ns,
			(unsigned long long)failover->dark_ns);
	}
	fprintf(file, "],\n");
}

static void write_rest(FILE *file)
{
	uint32_t i;

	fprintf(file,
		" \"light\": {\"tenant_checks\": %u, "
		"\"fabric_checks\": %u, \"not_quiet\": %u, \"snapshots\": %u},\n",
		demo.tenant_checks, demo.light_checks, demo.quiet_skipped, demo.snapshots);
	fprintf(file, " \"pictures\": %s,\n",
		demo.pictures_before && demo.pictures_after ? "true" : "false");
	fprintf(file,
		" \"after\": {\"free\": %lld, \"spares\": %lld, "
		"\"slices\": %lld, \"lanes_held\": %lld, \"pins\": %lld, \"guides_tested\": %u},\n",
		demo.final_free, demo.final_spares, demo.final_slices, demo.ledger_held,
		demo.ledger_pins, demo.mended_guides);
	fprintf(file, " \"violations\": [");
	for (i = 0; i < demo.violations_count; i++) {
		fprintf(file, "%s\n  ", i ? "," : "");
		text(file, demo.violations[i]);
	}
	fprintf(file, "]\n}\n");
}

bool write_record(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fprintf(file, "{\"seed\": %llu, \"planned\": %u, \"lasted_s\": %.1f,\n ",
		(unsigned long long)demo.seed, demo.planned, (now_ms() - demo.begin_ms) / 1000.0);
	member(file, "profile", demo.sim.info.profile);
	fprintf(file, ",\n \"settle_ns\": %llu, \"relock_ns\": %llu,\n",
		(unsigned long long)demo.sim.info.settle_ns,
		(unsigned long long)demo.sim.info.relock_ns);
	write_jobs(file);
	write_occupancy(file);
	write_failures(file);
	write_failovers(file);
	write_rest(file);
	return !fclose(file);
}
