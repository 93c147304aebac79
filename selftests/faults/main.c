// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fault campaign. Environment: SEED; SINGLES: number of components for each kind of fault, or
 * all; COMBOS: number of pairs and triples; ONLY: some trials (s17, c17 or s17-80); PART: a share
 * of all trials (2/8: every eighth, from the second).
 */
#include <stdlib.h>
#include <string.h>

#include "../../libmorph/util/mix.h"
#include "campaign.h"
#include "progress.h"

uint64_t seed;
static struct {
	char letter; /* s or c, or 0: all */
	unsigned int first, last;
} only;

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static uint64_t state;

static uint32_t chance(uint32_t below)
{
	state = mix_first(state);
	return state % below;
}

/* The run may be split into parts for several machines. */
static struct {
	unsigned int number, of;
} part = { 1, 1 };

static void read_part(void)
{
	const char *text = getenv("PART");

	if (!text || !*text)
		return;
	if (sscanf(text, "%u/%u", &part.number, &part.of) == 2 && part.number &&
	    part.number <= part.of)
		return;
	printf("Bail out! PART=%s: should be like 2/8\n", text);
	exit(1);
}

static bool wanted(char letter, unsigned int trial)
{
	if (!only.letter)
		return trial % part.of == part.number % part.of;
	return only.letter == letter && trial >= only.first && trial <= only.last;
}

static void read_only(void)
{
	const char *text = getenv("ONLY");
	int numbers;

	if (!text || !*text)
		return;
	numbers = sscanf(text, "%c%u-%u", &only.letter, &only.first, &only.last);
	if (numbers == 2)
		only.last = only.first;
	else if (numbers != 3)
		only.letter = 0;
	if (!strchr("sc", only.letter) || !only.letter) {
		printf("Bail out! ONLY=%s: should be like s17, c17 or s17-80\n", text);
		exit(1);
	}
	idle_look_after = 1;
}

static bool is_used(const struct fault *fault)
{
	return rack.users[kinds[fault->kind].part][fault->index];
}

static void run(struct trial *trial)
{
	enum outcome outcome;
	bool used[FAULTS_MAX];
	unsigned int i;

	for (i = 0; i < trial->count; i++) {
		used[i] = is_used(&trial->faults[i]);
		fault_aim(&trial->faults[i]);
	}
	outcome = trial_run(trial);
	for (i = 0; i < trial->count; i++)
		report_count(trial->count - 1, trial->faults[i].kind, used[i], outcome);
}

/* ------------------------------------------------------------------- singles */

/* Count the components that can have a fault of that kind, idle ones and used ones. */
static void count_candidates(unsigned int kind, unsigned int *candidates)
{
	struct fault fault = { .kind = kind };

	candidates[false] = candidates[true] = 0;
	for (fault.index = 0; fault.index < rack_count(kinds[kind].part); fault.index++)
		if (fault_fits(kind, fault.index))
			candidates[is_used(&fault)]++;
}

/* Is the component in this run's sample, half of which is in use? */
static bool drawn(const struct fault *fault, unsigned int share, const unsigned int *candidates)
{
	unsigned int all = candidates[is_used(fault)];

	if (!share || only.letter || !all)
		return true;
	return mix_first(seed ^ mix_first(fault->kind << 24 | fault->index)) % all <
	       (share + 1) / 2;
}

/* A reserved plan holds the element in its state: the test must wait until the slices are gone. */
static bool is_reserved(const struct fault *fault)
{
	return kinds[fault->kind].part == MORPH_PART_ELEMENT && rack_element(fault->index).pins;
}

static void single(struct trial *trial)
{
	struct fault *fault = &trial->faults[0];

	if (is_used(fault) || is_reserved(fault)) {
		run(trial);
		return;
	}
	fault_aim(fault);
	if (!idle_run(trial))
		idle_put_off(trial);
	report_count(SINGLES, fault->kind, false, UNTOUCHED);
}

static void singles(unsigned int share)
{
	struct trial trial = { .count = 1 };
	unsigned int kind, index, candidates[2], done = 0;
	long long began = now_ms();

	for (kind = 0; kind < KINDS; kind++) {
		count_candidates(kind, candidates);
		for (index = 0; index < rack_count(kinds[kind].part); index++) {
			if (!fault_fits(kind, index))
				continue;
			trial.faults[0] = (struct fault){ .kind = kind, .index = index };
			trial.number++;
			if (!wanted('s', trial.number) ||
			    !drawn(&trial.faults[0], share, candidates))
				continue;
			single(&trial);
			if (++done % 2000 == 0)
				progress("%u single faults, %s %u", done, kinds[kind].name, index);
		}
		progress("%u single faults, all of \"%s\", %lld s", done, kinds[kind].name,
			 (now_ms() - began) / 1000);
	}
	idle_run_alone();
	progress("%u single faults, %lld s", done, (now_ms() - began) / 1000);
}

/* -------------------------------------------------------------------- combos */

/* A random fault, of a component in use with probability 3/4. */
static struct fault draw_fault(void)
{
	bool use = chance(4);
	struct fault fault;

	do {
		fault.kind = chance(KINDS);
		fault.index = chance(rack_count(kinds[fault.kind].part));
		fault.after = 0;
	} while (!fault_fits(fault.kind, fault.index) || is_used(&fault) != use);
	return fault;
}

static void combos(unsigned int count)
{
	unsigned int i;

	for (unsigned int n = 1; n <= count; n++) {
		struct trial trial = { .number = n, .together = true };

		state = mix_first(seed ^ n);
		trial.count = 2 + chance(2);
		for (i = 0; i < trial.count; i++) {
			trial.faults[i] = draw_fault();
			/* Inject them together, or one while the driver repairs the other. */
			if (i && chance(2) && !kinds[trial.faults[i].kind].takes_time)
				trial.faults[i].after = 1 + chance(6);
		}
		if (wanted('c', n))
			run(&trial);
		if (n % 100 == 0)
			progress("%u of %u pairs and triples", n, count);
	}
}

static void result(bool good, const char *name)
{
	static unsigned int tests;

	printf("%sok %u %s\n", good ? "" : "not ", ++tests, name);
}

int main(void)
{
	/* The short run of every check has a name of its own. */
	bool all = !strcmp(program_invocation_short_name, "break_all");
	unsigned int share = number("SINGLES", all ? 0 : 12), bad;

	seed = number("SEED", 1);
	read_only();
	read_part();
	printf("TAP version 13\n1..3\n# SEED=%llu\n", (unsigned long long)seed);
	rack_start(seed);
	result(rack_build(NULL), "slices of every shape are lit");
	singles(share);
	result(!violations, "single faults");
	bad = violations;
	combos(number("COMBOS", all ? 1000 : 10));
	result(violations == bad, "pairs and triples");
	report_write();
	rack_stop();
	return violations != 0;
}
