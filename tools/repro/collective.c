// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A ReduceScatter on a slice of eight. The program finds the ring in the links of the slice, runs
 * its schedule on sets of contributions, and computes the time from the steps and the bytes on the
 * busiest link. It does not use the published formula (Morphlux, Table 2).
 *
 * An accelerator has six ports of the same width: three dimensions with two directions each.
 * Electrical ports are fixed; all optical ports go to the two neighbours in the ring.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "repro.h"

#define MEMBERS 8
#define PORTS 6
#define RACK 4 /* accelerators in each dimension */

struct slice {
	uint32_t extent[3];
	uint32_t count;
	bool joined[MEMBERS][MEMBERS]; /* links that no other slice uses */
	uint32_t ring[MEMBERS];
};

static void slice_make(struct slice *slice, uint32_t x, uint32_t y, uint32_t z)
{
	const uint32_t stride[3] = { 1, x, x * y };

	memset(slice, 0, sizeof(*slice));
	memcpy(slice->extent, (uint32_t[]){ x, y, z }, sizeof(slice->extent));
	slice->count = x * y * z;
	for (uint32_t member = 0; member < slice->count; member++) {
		for (int axis = 0; axis < 3; axis++) {
			uint32_t extent = slice->extent[axis];
			uint32_t at = member / stride[axis] % extent;
			uint32_t next = member + stride[axis];

			/* In a shorter extent, the wrap passes accelerators of other tenants. */
			if (at + 1 == extent && extent == RACK)
				next = member - at * stride[axis];
			else if (at + 1 == extent)
				continue;
			slice->joined[member][next] = slice->joined[next][member] = true;
		}
	}
}

static bool find_ring(struct slice *slice, uint32_t length, uint32_t seen)
{
	uint32_t last = slice->ring[length - 1];

	if (length == slice->count)
		return slice->joined[last][slice->ring[0]];
	for (uint32_t next = 1; next < slice->count; next++) {
		if (seen >> next & 1 || !slice->joined[last][next])
			continue;
		slice->ring[length] = next;
		if (find_ring(slice, length + 1, seen | 1U << next))
			return true;
	}
	return false;
}

/*
 * Result of a schedule: steps, and the share of the buffer that the busiest link carried in total.
 */
struct counted {
	uint32_t steps;
	double busiest;
};

/*
 * Two rings in opposite directions, with half of the buffer each, in one piece for each member. In
 * every step, each member passes on its partial sum of one piece.
 */
static struct counted reduce_scatter(const struct slice *slice)
{
	/* [direction][member][piece]: the contributions */
	uint32_t n = slice->count, parts[2][MEMBERS][MEMBERS];
	double carried[MEMBERS][MEMBERS] = { 0 };
	struct counted counted = { 0 };

	for (uint32_t at = 0; at < n; at++)
		for (uint32_t piece = 0; piece < n; piece++)
			parts[0][at][piece] = parts[1][at][piece] = 1U << at;
	for (uint32_t step = 0; step < n - 1; step++, counted.steps++) {
		for (uint32_t at = 0; at < n; at++) {
			uint32_t after = (at + 1) % n, before = (at + n - 1) % n;
			uint32_t piece = (at + n - step) % n, other = (at + step) % n;

			parts[0][after][piece] |= parts[0][at][piece];
			parts[1][before][other] |= parts[1][at][other];
			carried[slice->ring[at]][slice->ring[after]] += 0.5 / n;
			carried[slice->ring[at]][slice->ring[before]] += 0.5 / n;
		}
	}
	for (uint32_t at = 0; at < n; at++)
		if (parts[0][at][(at + 1) % n] != (1U << n) - 1 ||
		    parts[1][at][(at + n - 1) % n] != (1U << n) - 1)
			repro_wrong("the schedule does not sum all data");
	for (uint32_t from = 0; from < n; from++)
		for (uint32_t to = 0; to < n; to++)
			counted.busiest = fmax(counted.busiest, carried[from][to]);
	return counted;
}

/* Factor of b, the time of a byte at full egress, if a link has @ports ports. */
static double cost(const struct counted *counted, double ports)
{
	return counted->busiest * PORTS / ports;
}

/* ---------------------------------------------------------------------- rows */

struct delays {
	double a, b, r, relock; /* in ns; b for each byte */
};

static const char *const table_condition =
	"ReduceScatter on 4x1x2, 8 accelerators, two counter-rotating rings, a link of the ring: "
	"1 port electrical, 3 ports optical";

static void table_rows(const struct counted *counted, const struct delays *delays)
{
	static const double sizes[] = { 0x1p10, 0x1p16, 0x1p20, 0x1p26, 0x1p30 };
	char name[64], condition[256];

	row_print(&(struct row){ .name = "table-2/steps, electrical",
				 .condition = table_condition,
				 .ours = counted->steps,
				 .unit = "a" });
	row_print(&(struct row){ .name = "table-2/steps, optical",
				 .condition = table_condition,
				 .ours = counted->steps,
				 .unit = "a" });
	row_print(&(struct row){ .name = "table-2/bandwidth term, electrical",
				 .condition = table_condition,
				 .ours = cost(counted, 1),
				 .unit = "N b" });
	row_print(&(struct row){ .name = "table-2/bandwidth term, optical",
				 .condition = table_condition,
				 .ours = cost(counted, 3),
				 .unit = "N b" });
	for (uint32_t at = 0; at < sizeof(sizes) / sizeof(*sizes); at++) {
		double n = sizes[at], latency = counted->steps * delays->a;
		double electrical = latency + n * cost(counted, 1) * delays->b;
		double optical = latency + delays->r + n * cost(counted, 3) * delays->b;

		snprintf(name, sizeof(name), "table-2/time, N = %.0f KiB", n / 1024);
		snprintf(condition, sizeof(condition),
			 "a = %g ns, b = %g ps a byte (6 ports), r = %g ns, without relocking",
			 delays->a, delays->b * 1000, delays->r);
		row_print(&(struct row){
			.name = name,
			.condition = condition,
			.ours = optical / 1000,
			.unit = "us",
			.baseline_name = "electrical",
			.baseline = electrical / 1000,
			.approximation = "a and b are not published; they are parameters here" });
	}
}

/* Rack-scale slicing: an AllReduce consists of a ReduceScatter and the same way back. */
static void slicing_row(const struct counted *counted, const struct delays *delays, double mib,
			bool relock)
{
	double n = mib * 0x1p20, latency = 2 * counted->steps * delays->a;
	double electrical = latency + 2 * n * cost(counted, 1) * delays->b;
	double optical = latency + delays->r + (relock ? delays->relock : 0) +
			 2 * n * cost(counted, 3) * delays->b;
	char name[96], condition[256];

	snprintf(name, sizeof(name), "rack-slicing/AllReduce of %g MiB, less time%s", mib,
		 relock ? ", with relock" : "");
	snprintf(condition, sizeof(condition),
		 "ring AllReduce on 4x1x2, a = %g ns, one reconfiguration of %g ns, relock %g ns",
		 delays->a, delays->r, relock ? delays->relock : 0);
	row_print(&(struct row){
		.name = name,
		.condition = condition,
		.ours = 1 - optical / electrical,
		.unit = "share of time",
		.baseline_name = "electrical",
		.baseline = 0,
		.approximation =
			"collective, shapes and sizes of the original are not available; ours are those of Table 2",
	});
}

int main(int argc, char **argv)
{
	struct counted counted;
	struct delays delays;
	struct repro repro;
	struct slice slice = { 0 };

	repro_begin(&repro, argc, argv);
	delays = (struct delays){
		.a = repro_given(&repro, "step_ns"),
		.b = 1 / (PORTS * repro_given(&repro, "port_gigabytes")),
		.r = repro_given(&repro, "reconfiguration_ns"),
		.relock = repro_given(&repro, "relock_ns"),
	};
	slice_make(&slice, 4, 1, 2);
	if (!find_ring(&slice, 1, 1))
		repro_wrong("the slice has no ring");
	counted = reduce_scatter(&slice);
	table_rows(&counted, &delays);
	for (uint32_t mib = 64; mib <= 4096; mib *= 8) {
		slicing_row(&counted, &delays, mib, false);
		slicing_row(&counted, &delays, mib, true);
	}
	return 0;
}
