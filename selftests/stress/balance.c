// SPDX-License-Identifier: GPL-2.0-only
/* Compare the accounts of the core with the state of the hardware. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stress.h"

static char wrong[200];

static long long ledger(const struct sim *sim, const char *key)
{
	return core_counter(sim, "ledger", key);
}

/* Is the core waiting for operations of the provider? */
static bool at_work(const struct sim *sim)
{
	return core_counter(sim, "operations", "cookie") >= 0;
}

/* Apply a function to each line of the hardware's state, and return the sum of the results. */
static long long hardware(const struct sim *sim,
			  long long (*look)(const struct sim *sim, const char *line))
{
	char path[160], line[1024];
	long long sum = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "/sys/kernel/debug/morph_sim/%s/hardware", sim->name);
	stream = fopen(path, "r");
	while (stream && fgets(line, sizeof(line), stream))
		sum += look(sim, line);
	if (stream)
		fclose(stream);
	return sum;
}

static long long lasers_on(const struct sim *sim, const char *line)
{
	unsigned long long on;
	unsigned int port;

	(void)sim;
	return sscanf(line, "laser %u on 0x%llx", &port, &on) == 2 ? __builtin_popcountll(on) : 0;
}

static unsigned int compared;
static char first[120]; /* number of elements that differ */

/* Count an element whose state differs from the state in the core. */
static long long element_differs(const struct sim *sim, const char *line)
{
	struct morph_element_info element = {};
	unsigned int index, state;

	if (sscanf(line, "element %u state %u", &index, &state) != 2 ||
	    fabric_read(sim->fd, MORPH_FABRIC_READ_ELEMENTS, index,
			(struct morph_array)ARRAY(&element, 1)) < 0)
		return 0;
	compared++;
	if (element.health != MORPH_HEALTH_OK || element.state == state)
		return 0;
	if (!*first)
		snprintf(first, sizeof(first),
			 "element %u is in state %u, in the core in state %u: %u pins%s", index,
			 state, element.state, element.pins, element.cordoned ? ", cordoned" : "");
	return 1;
}

static const char *disagree(const struct sim *sim)
{
	long long believed = ledger(sim, "transmit lanes on"), on = hardware(sim, lasers_on);
	long long elements;

	compared = 0;
	*first = 0;
	elements = hardware(sim, element_differs);
	if (compared != sim->info.elements)
		snprintf(wrong, sizeof(wrong), "read only %u of %u elements", compared,
			 sim->info.elements);
	else if (believed != on)
		snprintf(wrong, sizeof(wrong), "lanes on: %lld in the core, %lld in the hardware",
			 believed, on);
	else if (elements)
		snprintf(wrong, sizeof(wrong), "%lld elements are not in the core's state: %s",
			 elements, first);
	else
		return NULL;
	return wrong;
}

/*
 * Patrol reads back 64 elements per second, 51 s for all of rack64. It finds an idle element that
 * moved by itself within one pass. Only running repairs and releases can take longer.
 */
static long long patrol_ms(const struct sim *sim)
{
	return 2 * PATIENCE_MS + 2 * 1000ll * sim->info.elements / 64;
}

const char *balance_held(const struct sim *sim)
{
	const char *what = "the core never became idle";
	long long until = now_ms() + PATIENCE_MS + patrol_ms(sim);
	unsigned int calm = 0;

	/* Repairs and patrols may start again between two samples. */
	while (now_ms() < until) {
		usleep(50000);
		if (at_work(sim)) {
			calm = 0;
			continue;
		}
		if (++calm < 3)
			continue;
		what = disagree(sim);
		if (!what)
			return NULL;
	}
	return what;
}

/* Return a description of a resource that is still held, or NULL. */
static const char *leftover(const struct sim *sim)
{
	static const char *const keys[] = {
		"elements pinned",   "guide lanes held",   "transmit lanes held",
		"transmit lanes on", "receive lanes held",
	};
	unsigned int i;
	long long value;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		value = ledger(sim, keys[i]);
		if (!value)
			continue;
		snprintf(wrong, sizeof(wrong), "%s: %lld", keys[i], value);
		return wrong;
	}
	return sim_all_dark(sim) ? NULL : "a receiver sees light";
}

#define USES (MORPH_USE_DRAINING + 1)

/*
 * No accelerator is held, and spares are those of sim->info, which is the state at the start. Free
 * accelerators count only if they are healthy and not held down.
 */
static const char *count_accelerators(const struct sim *sim, const struct morph_fabric_info *info)
{
	unsigned int uses[USES] = {}, fit[USES] = {}, i;

	for (i = 0; i < sim->info.accelerators; i++) {
		struct morph_accelerator_info chip = read_accelerator(sim, i);

		uses[chip.use]++;
		fit[chip.use] += chip.health == MORPH_HEALTH_OK && !chip.cordoned;
	}
	if (uses[MORPH_USE_FREE] == sim->info.free && uses[MORPH_USE_SPARE] == sim->info.spares &&
	    info->free <= fit[MORPH_USE_FREE] && info->spares <= fit[MORPH_USE_SPARE] &&
	    !info->lent)
		return NULL;
	snprintf(wrong, sizeof(wrong),
		 "of %u accelerators and %u spares: %u free (%u counted), %u spares (%u counted), "
		 "%u held, %u lent",
		 sim->info.free, sim->info.spares, uses[MORPH_USE_FREE], info->free,
		 uses[MORPH_USE_SPARE], info->spares, uses[MORPH_USE_HELD], info->lent);
	return wrong;
}

const char *balance_empty(const struct sim *sim)
{
	long long until = now_ms() + PATIENCE_MS + patrol_ms(sim);
	const char *what = NULL;
	struct sim now = *sim;

	while (now_ms() < until) {
		sim_refresh(&now);
		if (now.info.slices) {
			snprintf(wrong, sizeof(wrong), "%u slices are left", now.info.slices);
			what = wrong;
		} else {
			what = leftover(sim);
		}
		if (!what)
			what = count_accelerators(sim, &now.info);
		if (!what)
			what = disagree(sim);
		if (!what)
			return NULL;
		usleep(100000);
	}
	return what;
}
