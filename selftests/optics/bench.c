// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time of routing, claiming and judging one circuit, alone on a profile, at several distances; and
 * of the ioctl on /dev/null, the unit of ratios. Further columns show the router's work: steps,
 * expanded elements, and both without the bound that directs it. The last rows give averages in a
 * rack with many circuits, for feasible and infeasible requests.
 */
#include "maker.h"

#include <stdio.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 500u

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u64 samples[4][ROUNDS];

static u64 percentile(u64 *values, u32 percent)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[(ROUNDS - 1) * percent / 100];
}

static void report(const char *name, const char *what, u64 *values, u32 steps, u32 hops)
{
	u64 median = percentile(values, 50), late = percentile(values, 99);

	printf("%-14s %-9s p50 %6llu ns  p99 %6llu ns  steps %u  hops %u\n", name, what,
	       (unsigned long long)median, (unsigned long long)late, steps, hops);
}

#define PLAIN_STEPS (1u << 20)
#define LOADED 200u

struct work {
	u64 steps, elements, plain_steps, plain_elements;
	u32 routes;
};

/* The router's work for one request, with and without its bound, on the current fabric. */
static void add_work(struct fabric *fabric, struct optics_route_request request, struct route *r,
		     struct work *work)
{
	void *space = malloc((size_t)optics_route_bytes(PLAIN_STEPS));
	u64 before = fabric->state->elements_visited;
	struct route plain = { .path.hops = plain.hops };
	struct unbound unbound;

	fabric_route(fabric, &request, r);
	work->steps += r->steps;
	work->elements += fabric->state->elements_visited - before;
	request.steps = PLAIN_STEPS;
	unbound_open(&unbound, fabric);
	before = unbound.state.elements_visited;
	optics_route(&unbound.state, &request, space, &plain.path, &plain.steps, &plain.refusal);
	work->plain_steps += plain.steps;
	work->plain_elements += unbound.state.elements_visited - before;
	work->routes++;
	unbound_close(&unbound);
	free(space);
}

static void print_work(const char *name, const struct work *work)
{
	printf("%-22s steps %7.0f  elements %7.0f  without bound: steps %7.0f  elements %7.0f\n",
	       name, (double)work->steps / work->routes, (double)work->elements / work->routes,
	       (double)work->plain_steps / work->routes,
	       (double)work->plain_elements / work->routes);
}

static void sum_work(struct work *sum, const struct work *work)
{
	sum->steps += work->steps;
	sum->elements += work->elements;
	sum->plain_steps += work->plain_steps;
	sum->plain_elements += work->plain_elements;
	sum->routes += work->routes;
}

/* Elements that no circuit holds count as parked, as in the core. */
static void park_all(struct fabric *fabric)
{
	u32 i;

	for (i = 0; i < fabric->graph->elements_count; i++)
		if (!fabric->state->element_pins[i])
			optics_set_state(fabric->state, i, optics_park_state(fabric->graph, i));
}

/* Set up many circuits between random pairs, then measure further requests. */
static void measure_loaded(struct fabric *fabric, const char *label)
{
	static struct route live[LOADED];
	u32 all = fabric->graph->accelerators_count, up = 0;
	struct work found = { 0 }, refused = { 0 };
	u64 seed = 1;
	char name[64];

	while (up < LOADED || found.routes + refused.routes < 100) {
		u32 from = next_random(&seed) % all, to = next_random(&seed) % all;
		struct optics_route_request request = fabric_request(fabric, from, to, 1);
		struct route r;

		if (from == to)
			continue;
		if (up == LOADED) {
			struct work one = { 0 };

			add_work(fabric, request, &r, &one);
			sum_work(r.error ? &refused : &found, &one);
			continue;
		}
		fabric_route(fabric, &request, &live[up]);
		live[up].path.hops = live[up].hops;
		if (!live[up].error &&
		    !optics_claim(fabric->state, &live[up].path, &live[up].refusal))
			up++;
	}
	snprintf(name, sizeof(name), "%.12s full, found", label);
	print_work(name, &found);
	snprintf(name, sizeof(name), "%.12s full, none", label);
	print_work(name, &refused);
}

static void measure(struct fabric *fabric, const char *label, u32 from, u32 to)
{
	struct optics_route_request request = fabric_request(fabric, from, to, 1);
	struct optics_view view = fabric_view(fabric);
	struct optics_verdict verdict;
	struct work work = { 0 };
	struct route r;
	char name[64];
	u32 i;

	park_all(fabric);
	add_work(fabric, request, &r, &work);
	snprintf(name, sizeof(name), "%.20s %u-%u", label, from, to);
	print_work(name, &work);
	for (i = 0; i < ROUNDS; i++) {
		u64 times[5];

		r.path.hops = r.hops;
		times[0] = now_ns();
		r.error = optics_route(fabric->state, &request, fabric->work, &r.path, &r.steps,
				       &r.refusal);
		times[1] = now_ns();
		if (r.error) {
			printf("%s: %s\n", label, optics_reason_text(r.refusal.reason));
			return;
		}
		optics_claim(fabric->state, &r.path, &r.refusal);
		times[2] = now_ns();
		if (optics_validate(&view, &r.path, 1, 1, false, &verdict, &r.refusal))
			printf("%s: %s\n", label, optics_reason_text(r.refusal.reason));
		times[3] = now_ns();
		optics_release(fabric->state, &r.path);
		times[4] = now_ns();
		samples[0][i] = times[1] - times[0];
		samples[1][i] = times[2] - times[1];
		samples[2][i] = times[3] - times[2];
		samples[3][i] = times[4] - times[3];
	}
	report(name, "route", samples[0], r.steps, r.path.hops_count);
	report(name, "claim", samples[1], r.steps, r.path.hops_count);
	report(name, "validate", samples[2], r.steps, r.path.hops_count);
	report(name, "release", samples[3], r.steps, r.path.hops_count);
}

int main(void)
{
	static const struct {
		const char *name;
		u32 from[4], to[4];
	} tries[] = {
		{ "server4", { 0, 0 }, { 1, 3 } },
		{ "server16", { 0, 0, 0 }, { 1, 6, 17 } },
		{ "rack64", { 0, 0, 0, 24 }, { 1, 4, 71, 55 } },
		{ "smartlight72", { 4, 0 }, { 5, 13 } },
		{ "pod4096", { 0, 3100, 0 }, { 1, 4314, 4607 } },
	};
	const char *folder = getenv("PROFILES");
	int null = open("/dev/null", O_RDONLY);
	u32 i, j;

	for (i = 0; i < ROUNDS; i++) {
		u64 start = now_ns();

		ioctl(null, 0, 0);
		samples[0][i] = now_ns() - start;
	}
	report("/dev/null", "ioctl", samples[0], 0, 0);
	close(null);
	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		struct fabric f;
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s.bin", folder ? folder : "build/profiles",
			 tries[i].name);
		if (!fabric_open_file(&f, path, OPTICS_ROUTE_STEPS))
			continue;
		fabric_own_all(&f, 1);
		for (j = 0; j < ARRAY_SIZE(tries[i].to) && tries[i].to[j]; j++)
			measure(&f, tries[i].name, tries[i].from[j], tries[i].to[j]);
		park_all(&f);
		if (!strcmp(tries[i].name, "rack64"))
			measure_loaded(&f, tries[i].name);
		fabric_close(&f);
	}
	return 0;
}
