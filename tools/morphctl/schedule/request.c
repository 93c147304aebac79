// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * morphctl schedule plan: the request to the planner: a collective, its algorithm, and the times of
 * rounds and changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/schedule/schedule.h"
#include "morphctl/slice/slice.h"

#define MOST_NS (1ULL << 40) /* of a delay */

static const char *const kinds[] = { "all-reduce", "reduce-scatter", "all-gather", "all-to-all",
				     "broadcast" };

const char *kind_name(uint32_t kind)
{
	return kinds[kind - 1];
}

/* Check numbers that no algorithm accepts. */
static enum exit_code check_algorithm(const struct planning *planning)
{
	const struct morph_collective_opts *wanted = &planning->wanted;
	const struct run *run = planning->run;

	if (given(run, OPTION_RADIX) && wanted->radix < 2)
		return usage_error(run, "--radix must be 2 or more, not '%s'",
				   run->option[OPTION_RADIX]);
	if (given(run, OPTION_SEGMENTS) && !wanted->segments)
		return usage_error(run, "--segments must be 1 or more, not '%s'",
				   run->option[OPTION_SEGMENTS]);
	if (given(run, OPTION_LATE) && (!wanted->late_ns || wanted->late_ns > MOST_NS))
		return usage_error(run, "--late must be 1 to %llu nanoseconds, not '%s'", MOST_NS,
				   run->option[OPTION_LATE]);
	if (wanted->bytes > MOST_BYTES)
		return usage_error(run, "--bytes must be at most 2^50 (1048576G), not '%s'",
				   run->option[OPTION_BUFFER_BYTES]);
	return EXIT_CODE_OK;
}

/* Options that only some algorithms use. */
enum exit_code plan_check_options(const struct planning *planning)
{
	const struct morph_collective_opts *wanted = &planning->wanted;
	const struct run *run = planning->run;
	uint32_t algorithm = wanted->algorithm;

	if (given(run, OPTION_RADIX) &&
	    (algorithm ? algorithm != MORPH_BRUCK :
			 wanted->kind != MORPH_ALL_TO_ALL && wanted->kind != MORPH_ALL_GATHER))
		return usage_error(
			run,
			"--radix is only valid for all-to-all or all-gather with --algorithm bruck");
	if (given(run, OPTION_SEGMENTS) &&
	    (wanted->kind != MORPH_BROADCAST || (algorithm && algorithm != MORPH_BINARY)))
		return usage_error(
			run, "--segments is only valid for broadcast with --algorithm binary");
	if (given(run, OPTION_LATE) &&
	    (wanted->kind != MORPH_ALL_REDUCE || (algorithm && algorithm != MORPH_STRAGGLAR)))
		return usage_error(
			run,
			"--late is only valid for all-reduce, without --algorithm or with stragglar");
	if (given(run, OPTION_LATE) && given(run, OPTION_FROM_SEGMENTS))
		return usage_error(run, "--late and --from-segments are mutually exclusive");
	if (given(run, OPTION_ROOT) && wanted->kind != MORPH_BROADCAST)
		return usage_error(run, "--root is only valid for broadcast");
	return EXIT_CODE_OK;
}

/* Read the parameters of the algorithm and the bytes. */
enum exit_code plan_ask_algorithm(struct planning *planning)
{
	struct morph_collective_opts *wanted = &planning->wanted;
	struct run *run = planning->run;
	uint32_t algorithm = 0;

	wanted->sz = sizeof(*wanted);
	wanted->bytes = 1 << 20;
	if (!option_u32(run, OPTION_RANKS, &wanted->ranks) ||
	    !option_word(run, OPTION_ALGORITHM, &algorithm) ||
	    !option_u32(run, OPTION_RADIX, &wanted->radix) ||
	    !option_u32(run, OPTION_SEGMENTS, &wanted->segments) ||
	    !option_u64(run, OPTION_LATE, &wanted->late_ns) ||
	    !option_u32(run, OPTION_ROOT, &wanted->root))
		return EXIT_CODE_USAGE;
	wanted->algorithm = given(run, OPTION_ALGORITHM) ? algorithm + 1 : 0;
	if (given(run, OPTION_BUFFER_BYTES) &&
	    !parse_bytes(run->option[OPTION_BUFFER_BYTES], &wanted->bytes))
		return usage_error(
			run, "--bytes must be a number such as 4096, 64K, 16M or 1G, not '%s'",
			run->option[OPTION_BUFFER_BYTES]);
	return check_algorithm(planning);
}

/* The number of ranks of a torus, or 0 for an invalid or too large torus. */
static uint32_t ranks_of(const uint32_t extent[3])
{
	uint64_t ranks = 1;

	if (!extent[0] || (!extent[1] && extent[2]))
		return 0;
	for (uint32_t axis = 0; axis < 3 && ranks <= MOST_RANKS; axis++)
		ranks *= extent[axis] ? extent[axis] : 1;
	return ranks <= MOST_RANKS ? (uint32_t)ranks : 0;
}

enum exit_code plan_ask_collective(struct planning *planning)
{
	struct morph_collective_opts *wanted = &planning->wanted;
	struct run *run = planning->run;
	uint32_t kind = 0;

	while (kind < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[kind], run->argv[0]))
		kind++;
	if (kind == sizeof(kinds) / sizeof(kinds[0]))
		return usage_error(
			run,
			"unknown collective '%s'; known collectives: all-reduce, reduce-scatter, all-gather, all-to-all, broadcast",
			run->argv[0]);
	if (given(run, OPTION_TORUS)) {
		if (!parse_torus(run->option[OPTION_TORUS], wanted->extent))
			return usage_error(run, "--shape must be extents such as 2x4x4, not '%s'",
					   run->option[OPTION_TORUS]);
		wanted->ranks = ranks_of(wanted->extent);
	}
	if (planning->target.slice && !given(run, OPTION_TORUS) && !given(run, OPTION_RANKS))
		wanted->ranks = planning->target.ranks;
	else if (planning->topologies.count && !given(run, OPTION_TORUS) &&
		 !given(run, OPTION_RANKS))
		wanted->ranks = planning->topologies.ranks;
	else if (given(run, OPTION_TORUS) == given(run, OPTION_RANKS))
		return usage_error(run, "requires exactly one of --ranks and --shape");
	if (!wanted->ranks || wanted->ranks > MOST_RANKS)
		return usage_error(
			run, "a collective has 1 to %u ranks, not --%s %s", MOST_RANKS,
			given(run, OPTION_TORUS) ? "shape" : "ranks",
			run->option[given(run, OPTION_TORUS) ? OPTION_TORUS : OPTION_RANKS]);
	if (wanted->root >= wanted->ranks)
		return usage_error(run, "no rank --root %u: the last of %u rank%s is %u",
				   wanted->root, wanted->ranks, PLURAL(wanted->ranks),
				   wanted->ranks - 1);
	wanted->kind = kind + 1;
	snprintf(planning->title, sizeof(planning->title), "%s of %llu byte%s among %u rank%s",
		 kinds[kind], (unsigned long long)wanted->bytes, PLURAL(wanted->bytes),
		 wanted->ranks, PLURAL(wanted->ranks));
	return plan_check_options(planning);
}

/* Names of the parts of a delay: first those of rounds, then those of enum morph_delay_part. */
static const char *const parts[] = { "round",	"hop",	"drain",  "barrier",
				     "program", "port", "settle", "relock" };

#define PART_PROGRAM 4
#define PARTS (sizeof(parts) / sizeof(parts[0]))
#define MOST_MBPS (1ULL << 40)

/* "measured" replaces these parts by the driver's measurements of changes. */
static const char *measured_too(const bool seen[PARTS])
{
	for (size_t part = PART_PROGRAM; part < PARTS; part++)
		if (seen[part])
			return parts[part];
	return NULL;
}

/* Parse one PART=NS. Returns the text after it, or NULL after a message. */
static const char *parse_part(const struct run *run, const char *text, uint64_t ns[PARTS],
			      bool *seen)
{
	size_t length = strcspn(text, "="), part = 0;
	char *end;

	while (part < PARTS &&
	       (strlen(parts[part]) != length || strncmp(parts[part], text, length)))
		part++;
	if (part == PARTS || text[length] != '=' || text[length + 1] < '0' ||
	    text[length + 1] > '9') {
		usage_error(
			run,
			"--delay must be durations in nanoseconds, as settle=3700,relock=500, of round, hop, "
			"drain, barrier, program, port, settle and relock, or measured, not '%s'",
			text);
		return NULL;
	}
	errno = 0;
	ns[part] = strtoull(text + length + 1, &end, 10);
	if (*end && *end != ',')
		usage_error(run, "--delay must be whole nanoseconds, not '%s'", text);
	else if (errno || ns[part] > MOST_NS)
		usage_error(run, "--delay must be at most %llu nanoseconds, not '%.*s'", MOST_NS,
			    (int)(end - text), text);
	else if (seen[part])
		usage_error(run, "--delay gives %s more than once", parts[part]);
	else
		return seen[part] = true, end;
	return NULL;
}

/* Parse PART=NS, or "measured", separated by commas. */
static enum exit_code parse_delay(const struct run *run, uint64_t ns[PARTS], bool *measured)
{
	static const char word[] = "measured";
	const size_t length = sizeof(word) - 1;
	const char *text = run->option[OPTION_DELAY];
	bool seen[PARTS] = { false };

	while (text) {
		bool is_word = !strncmp(text, word, length) &&
			       (!text[length] || text[length] == ',');

		text = is_word ? text + length : parse_part(run, text, ns, seen);
		if (!text)
			return EXIT_CODE_USAGE;
		*measured = *measured || is_word;
		text = *text ? text + 1 : NULL;
	}
	if (*measured && measured_too(seen))
		return usage_error(run, "--delay gives both 'measured' and a value for %s",
				   measured_too(seen));
	if (*measured && !given(run, OPTION_OF_SLICE))
		return usage_error(
			run,
			"--delay measured requires --slice: it takes the measured times of the slice's schedules");
	return EXIT_CODE_OK;
}

enum exit_code plan_ask_delay(struct planning *planning)
{
	uint64_t ns[PARTS] = { 0 }, mbps = 100000;
	uint32_t scope = MORPH_DELAY_PORT_SCOPE;
	bool measured = false;
	enum exit_code code;
	int error;

	if (!option_u64(planning->run, OPTION_PORT_BANDWIDTH, &mbps) ||
	    !option_word(planning->run, OPTION_SCOPE, &scope))
		return EXIT_CODE_USAGE;
	if (!mbps || mbps > MOST_MBPS)
		return usage_error(planning->run, "--bandwidth must be 1 to %llu, not '%s'",
				   MOST_MBPS, planning->run->option[OPTION_PORT_BANDWIDTH]);
	code = parse_delay(planning->run, ns, &measured);
	if (code)
		return code;
	MORPH_OPTS(morph_delay_opts, opts, .mbps = mbps, .round_ns = ns[0], .hop_ns = ns[1],
		   .scope = scope);
	error = morph_delay_set(planning->delay, &opts);
	if (!error)
		error = morph_delay_set(planning->unchanging, &opts);
	for (uint32_t part = 0; !error && part < MORPH_DELAY_PARTS; part++)
		error = morph_delay_set_part(planning->delay, part, &ns[2 + part], 1);
	if (error < 0)
		return plan_error(planning->run, error);
	return measured ? target_measure(planning) : EXIT_CODE_OK;
}
