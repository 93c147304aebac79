// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time of routing, claiming and judging one circuit between neighbours, and across the
 * fabric, on the profiles; and of the ioctl on /dev/null that is the unit of ratios.
 */
#include "maker.h"

#include <stdio.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 2000u

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

static void measure(struct fabric *fabric, const char *label, u32 from, u32 to)
{
	struct optics_route_request request = fabric_request(fabric, from, to, 1);
	struct optics_view view = fabric_view(fabric);
	struct optics_verdict verdict;
	struct route r;
	char name[64];
	u32 i;

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
	snprintf(name, sizeof(name), "%.20s %u-%u", label, from, to);
	report(name, "route", samples[0], r.steps, r.path.hops_count);
	report(name, "claim", samples[1], r.steps, r.path.hops_count);
	report(name, "validate", samples[2], r.steps, r.path.hops_count);
	report(name, "release", samples[3], r.steps, r.path.hops_count);
}

int main(void)
{
	static const char *const names[] = { "server4", "server16", "rack64", "smartlight72",
					     "pod4096" };
	const char *folder = getenv("PROFILES");
	int null = open("/dev/null", O_RDONLY);
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		u64 start = now_ns();

		ioctl(null, 0, 0);
		samples[0][i] = now_ns() - start;
	}
	report("/dev/null", "ioctl", samples[0], 0, 0);
	close(null);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct fabric f;
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s.bin", folder ? folder : "build/profiles",
			 names[i]);
		if (!fabric_open_file(&f, path, OPTICS_ROUTE_STEPS))
			continue;
		fabric_own_all(&f, 1);
		measure(&f, names[i], 0, 1);
		measure(&f, names[i], 0, f.graph->accelerators_count - 1);
		fabric_close(&f);
	}
	return 0;
}
