// SPDX-License-Identifier: GPL-2.0-only
/* Move one circuit to another path: over the device, verified, with settle time zero. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench.h"

#define WARM_UP 300
#define ROUNDS 1500

static unsigned int read_path(const struct pair *pair, uint32_t *guides)
{
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.circuit = pair->circuit,
		.guides = ARRAY(guides, MOST_HOPS),
	};

	if (ioctl(pair->slice, MORPH_CIRCUIT_PATH, &path))
		stop("path of a circuit");
	return path.guides.count;
}

static void change_run(struct pair *pair, struct morph_change *change, struct morph_txn_run *args)
{
	*args = (struct morph_txn_run){ .generation = GENERATION_ANY };
	if (txn_run(pair->slice, change, 1, args))
		stop("change of a circuit");
	if (args->out_outcome != MORPH_OUTCOME_COMMITTED)
		wrong("%s: a change ended with outcome %u", pair->sim.name, args->out_outcome);
}

void pair_start(struct pair *pair, const char *profile, unsigned int policy)
{
	static const uint32_t ends[] = { 0, 1 }, spare = 2;
	struct morph_slice_create create = {
		.failover = policy,
		.spare_policy = MORPH_SPARES_LIST,
		.spares = ARRAY(&spare, 1),
	};
	struct morph_change change = change_add(0, 1);
	struct morph_txn_run args;
	unsigned int other;

	memset(pair, 0, sizeof(*pair));
	sim_start(&pair->sim, profile, INSTANT);
	pair->slice = slice_create_with(pair->sim.fd, &create, ends, 2);
	if (pair->slice < 0)
		stop("slice of two");
	change.src_plane = 0;
	change.dst_plane = 0;
	change_run(pair, &change, &args);
	pair->circuit = change.circuit;
	pair->hops = read_path(pair, pair->guides[0]);
	change = (struct morph_change){
		.op = MORPH_CHANGE_MOVE,
		.circuit = pair->circuit,
		.src_plane = 1,
		.dst_plane = 1,
	};
	change_run(pair, &change, &args);
	other = read_path(pair, pair->guides[1]);
	if (other != pair->hops)
		wrong("%s: the two paths have %u and %u hops", profile, pair->hops, other);
	pair->now = 1;
}

void pair_stop(struct pair *pair)
{
	close(pair->slice);
	sim_stop(&pair->sim);
}

void pair_move(struct pair *pair, bool routed, struct move *move)
{
	unsigned int to = !pair->now;
	struct morph_change change = {
		.op = MORPH_CHANGE_MOVE,
		.circuit = pair->circuit,
		.src_plane = to,
		.dst_plane = to,
	};
	struct morph_txn_run args;
	uint64_t begin;

	if (!routed)
		change.guides = (struct morph_array)ARRAY(pair->guides[to], pair->hops);
	begin = now_ns();
	change_run(pair, &change, &args);
	move->total = now_ns() - begin;
	pair->now = to;
	move->provider = args.out_times.provider_ns;
	move->software = move->total - move->provider - args.out_times.modelled_ns;
	if (change.dark_ns)
		wrong("%s: a move to free lanes was dark for %llu ns", pair->sim.name,
		      (unsigned long long)change.dark_ns);
}

struct series {
	struct samples total, provider, software, nulls;
};

static void series_add(struct series *series, const struct move *move)
{
	sample_add(&series->total, move->total);
	sample_add(&series->provider, move->provider);
	sample_add(&series->software, move->software);
}

/* Move again and again. */
static void run_alone(struct pair *pair, bool routed, struct series *series)
{
	struct move move;
	int i;

	for (i = 0; i < WARM_UP + ROUNDS; i++) {
		null_sample(&series->nulls);
		pair_move(pair, routed, &move);
		if (i >= WARM_UP)
			series_add(series, &move);
	}
}

/* Alternate between the two fabrics, so that other load on the machine affects both equally. */
static void run_in_turn(struct pair *one, struct pair *other, struct series *ones,
			struct series *others)
{
	struct move move;
	int i;

	for (i = 0; i < WARM_UP + ROUNDS; i++) {
		null_sample(&ones->nulls);
		pair_move(one, false, &move);
		if (i >= WARM_UP)
			series_add(ones, &move);
		pair_move(other, false, &move);
		if (i >= WARM_UP)
			series_add(others, &move);
	}
}

void bench_reconfigure(void)
{
	static struct series alone, routed, small, large;
	struct pair server4, pod4096;

	pair_start(&server4, "server4", MORPH_FAILOVER_AUTOMATIC);
	run_alone(&server4, false, &alone);
	run_alone(&server4, true, &routed);
	pair_start(&pod4096, "pod4096", MORPH_FAILOVER_AUTOMATIC);
	if (server4.hops != pod4096.hops)
		wrong("cannot compare paths of %u and %u hops", server4.hops, pod4096.hops);
	run_in_turn(&server4, &pod4096, &small, &large);
	pair_stop(&pod4096);
	pair_stop(&server4);
	report_nulls("reconfigure a circuit, server4, software", &alone.software, &alone.nulls, 25,
		     10);
	report_nulls("reconfigure a circuit, server4, provider", &alone.provider, &alone.nulls, 0,
		     0);
	report_nulls("reconfigure a circuit, server4, in all", &alone.total, &alone.nulls, 0, 0);
	report_nulls("reconfigure, the kernel routes, server4, software", &routed.software,
		     &routed.nulls, 0, 0);
	report_nulls("reconfigure in turn with pod4096, server4, software", &small.software,
		     &small.nulls, 0, 0);
	report_against("reconfigure in turn with server4, pod4096, software", &large.software,
		       "server4 in turn", &small.software, 1.5);
	report_against("reconfigure in turn with server4, pod4096, in all", &large.total,
		       "server4 in turn", &small.total, 1.5);
}
