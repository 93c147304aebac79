// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The number of requests for 32 accelerators that a cluster of 4096 serves while 30 % are free,
 * depending on where slices may lie. The published share names no denominator, so the program
 * reports two: the requests that all free accelerators could make, and those that racks could serve
 * each on its own.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clusters.h"
#include "crossing.h"
#include "ilp.h"

#define CLUSTERS 40
#define FREE_PERMILLE 300
#define TRACE_BUILT 10
#define QUICKLY_BUILT 3 /* two clusters can be equal, and then the interval has no width */
#define ASKED 6 /* clusters for the published program, seconds each */
#define QUICKLY_ASKED 2
#define QUICKLY_ASKED_RACKS 2 /* of the search in each cluster */
#define NODES 2000
#define QUICK_NODES 1
#define SERVERS (1U << CLUSTER_SLICE)

/* Placement algorithms. */
enum placer {
	ALIGNED,
	ANYWHERE,
	SEQUENCE,
	STITCHED,
	WAVELENGTHS,
	CROSSING,
	BOUND,
	PUBLISHED, /* the published program, with as many fibres as it needs */
	PUBLISHED_WITHIN, /* the same, where the fibres suffice */
	ALL_WAYS_WITHIN, /* the same, with all paths that it considers */
	PLACERS,
};

static const char *const placer_names[PLACERS] = {
	"aligned",
	"any place and orientation",
	"in sequence (SiPAC)",
	"stitched in a rack",
	"stitched in a rack, 2 wavelengths",
	"stitched across racks",
	"bound across racks",
	"published program",
	"published program, at most 4 fibres",
	"published program, all paths, at most 4 fibres",
};

/* Count the whole slices that a rack can host: two only in an empty rack. */
static uint32_t in_rack(const struct racks *racks, uint32_t rack, enum placer placer)
{
	uint16_t free = racks_free(racks, rack);

	if (net_count(free) == RACK_SITES)
		return 2;
	switch (placer) {
	case ALIGNED:
		return cluster_aligned(free, CLUSTER_SLICE);
	case ANYWHERE:
		return cluster_anywhere(free, CLUSTER_SLICE);
	case WAVELENGTHS:
		return cluster_stitches_in(racks, rack, CLUSTER_SLICE, 2);
	default:
		return cluster_stitches(racks, rack, CLUSTER_SLICE);
	}
}

static uint32_t in_racks(const struct racks *racks, enum placer placer)
{
	uint32_t count = 0;

	for (uint32_t rack = 0; rack < RACKS; rack++)
		count += in_rack(racks, rack, placer);
	return count;
}

/* ------------------------------------------------------------------- program */

#define PROGRAM_APPROXIMATION                                                             \
	"only the authors' code defines the paths that the program may take; ours ranks " \
	"paths by the load of the fullest link, then by the load of all links"

/* Answers of the program for racks without an aligned place, with a given set of paths. */
struct asked {
	/* racks that our planner refuses, and those of them with a plan */
	uint32_t refused, beyond;
	struct samples undecided, agrees;
	struct samples fibres, our_fibres; /* racks for which both have a plan */
};

enum {
	FEW_WAYS,
	ALL_WAYS,
	WAYS,
};

static uint32_t nodes(const struct repro *repro)
{
	return repro->quick ? QUICK_NODES : NODES;
}

/*
 * Decide whether to ask the program about a rack: about all racks, or with --quick about the few
 * with a small problem.
 */
static bool is_asked(const struct repro *repro, uint32_t free, uint32_t before)
{
	return !repro->quick || (free == SERVERS && before < QUICKLY_ASKED_RACKS);
}

static void note(struct asked *asked, const struct ilp_answer *answer)
{
	samples_add(&asked->undecided, answer->within == ILP_UNDECIDED);
	if (answer->within != ILP_UNDECIDED)
		samples_add(&asked->agrees, (answer->within == ILP_YES) == answer->ours);
	asked->refused += !answer->ours;
	asked->beyond += !answer->ours && answer->planned;
	if (!answer->ours || !answer->planned)
		return;
	samples_add(&asked->fibres, answer->fibres);
	samples_add(&asked->our_fibres, answer->our_fibres);
}

/*
 * Count the slices of a cluster: those with an aligned place, and those that the program plans. For
 * racks that are not asked about, count the slices that our planner finds.
 */
static void ask_program(const struct repro *repro, const struct racks *racks, struct asked *asked,
			struct samples *served)
{
	const uint32_t shortest = (uint32_t)repro_given(repro, "ways_shortest");
	const struct ilp_effort efforts[WAYS] = {
		{ shortest, (uint32_t)repro_given(repro, "ways_kept"), nodes(repro), repro->quick },
		{ shortest, shortest, nodes(repro), repro->quick },
	};
	uint32_t aligned = in_racks(racks, ALIGNED), planned = aligned;
	uint32_t within[WAYS] = { aligned, aligned }, before = 0;

	for (uint32_t rack = 0; rack < RACKS; rack++) {
		uint32_t free = net_count(racks_free(racks, rack));

		if (free < SERVERS || in_rack(racks, rack, ALIGNED))
			continue;
		if (!is_asked(repro, free, before)) {
			uint32_t ours = in_rack(racks, rack, STITCHED);

			planned += ours;
			within[FEW_WAYS] += ours;
			within[ALL_WAYS] += ours;
			continue;
		}
		before++;
		for (uint32_t ways = 0; ways < WAYS; ways++) {
			struct ilp_answer answer;

			ilp_ask(racks, rack, &efforts[ways], &answer);
			note(&asked[ways], &answer);
			within[ways] += answer.within == ILP_YES;
			planned += ways == FEW_WAYS && answer.planned;
		}
	}
	samples_add(&served[PUBLISHED], planned);
	samples_add(&served[PUBLISHED_WITHIN], within[FEW_WAYS]);
	samples_add(&served[ALL_WAYS_WITHIN], within[ALL_WAYS]);
}

/* ----------------------------------------------------------------- sequence */

/*
 * SiPAC places slices in sequence: servers have numbers, rack after rack, and a slice takes the
 * first run of free ones. This version lets a run begin anywhere and continue in the next rack,
 * which the original does not specify.
 */
struct sequence {
	bool taken[RACK_SLICES];
	/* of slices, indexed by their first servers */
	uint16_t length[RACK_SLICES];
};

static uint32_t take_run(struct sequence *sequence, uint32_t servers)
{
	uint32_t run = 0;

	for (uint32_t at = 0; at < RACK_SLICES; at++) {
		uint32_t first = at + 1 - servers;

		run = sequence->taken[at] ? 0 : run + 1;
		if (run < servers)
			continue;
		sequence->length[first] = (uint16_t)servers;
		memset(&sequence->taken[first], true, servers);
		return first;
	}
	return RACKS_NONE;
}

static void give_back_run(struct sequence *sequence, uint32_t first)
{
	memset(&sequence->taken[first], false, sequence->length[first]);
}

static uint32_t free_in(const struct sequence *sequence)
{
	uint32_t free = 0;

	for (uint32_t at = 0; at < RACK_SLICES; at++)
		free += !sequence->taken[at];
	return free;
}

/* Served requests, and the requests that all free accelerators could make. */
struct served {
	uint32_t slices, all;
};

static struct served serve_in_sequence(struct sequence *sequence)
{
	struct served served = { .all = free_in(sequence) / SERVERS };

	while (take_run(sequence, SERVERS) != RACKS_NONE)
		served.slices++;
	return served;
}

/* Place the slices of a cluster in the order of their arrival, including those that have left. */
static struct served serve_filled(const struct racks *racks)
{
	static struct sequence sequence;
	static uint32_t runs[RACK_SLICES];

	memset(&sequence, 0, sizeof(sequence));
	for (uint32_t at = 0; at < racks->slices_count; at++) {
		runs[at] = take_run(&sequence, net_count(racks->slices[at].sites));
		if (runs[at] == RACKS_NONE)
			repro_wrong("the jobs of the racks do not fit in sequence");
	}
	for (uint32_t at = 0; at < racks->slices_count; at++)
		if (racks->slices[at].gone)
			give_back_run(&sequence, runs[at]);
	return serve_in_sequence(&sequence);
}

static uint32_t take_size(void *cluster, uint32_t size)
{
	return take_run(cluster, 1U << size);
}

static void give_back_size(void *cluster, uint32_t slice)
{
	give_back_run(cluster, slice);
}

/* Run the jobs that SiPAC places as long as its own cluster has space for them. */
static struct served serve_replayed(const struct repro *repro, uint32_t number, enum trace_set set)
{
	static const struct replay_placer placer = { take_size, give_back_size };
	static struct sequence sequence;
	static struct replay replay;

	memset(&sequence, 0, sizeof(sequence));
	replay.placer = &placer;
	replay.cluster = &sequence;
	cluster_replay(repro, number, set, &replay);
	while (free_in(&sequence) * 1000 < FREE_PERMILLE * RACK_SLICES)
		replay_end_one(&replay);
	return serve_in_sequence(&sequence);
}

/* ----------------------------------------------------------------- clusters */

typedef void make_cluster(const struct repro *repro, uint32_t number, struct racks *racks);

static void make_random(const struct repro *repro, uint32_t number, struct racks *racks)
{
	racks_fill(racks, repro_seed(repro, number), FREE_PERMILLE);
}

static void make_sorted(const struct repro *repro, uint32_t number, struct racks *racks)
{
	cluster_fill_sorted(racks, repro_seed(repro, number));
	racks_vacate(racks, FREE_PERMILLE);
}

static void make_traced(const struct repro *repro, uint32_t number, enum trace_set set,
			struct racks *racks)
{
	static struct replay replay;

	cluster_replay_aligned(repro, number, set, &replay, racks);
	while (racks_free_sites(racks) * 1000 < FREE_PERMILLE * RACK_SLICES)
		replay_end_one(&replay);
}

/* --------------------------------------------------------------------- rows */

struct fill {
	const char *name, *words, *approximation;
	make_cluster *make; /* or NULL: jobs of a trace */
	enum trace_set set;
	/* clusters in which slices are built across racks, which takes seconds each */
	uint32_t built;
};

struct counted {
	struct samples served[PLACERS];
	struct samples all_in_sequence; /* slices that SiPAC's free servers could make */
	struct asked asked[WAYS];
	uint32_t met; /* clusters in which the number built reaches the bound */
	uint64_t digest;
};

static const struct crossing_effort quick = { .starts = 1,
					      .each = { .moves = 300000, .hot = 22, .cold = 8 } };
static const struct crossing_effort thorough = {
	.starts = 4,
	.each = { .moves = 3000000, .hot = 22, .cold = 10 }
};

static void count(const struct repro *repro, const struct fill *fill, uint32_t number,
		  struct counted *counted)
{
	static struct racks racks;
	static struct cross_found found;
	struct crossing_bound bound;
	struct served sequence;
	uint32_t built;

	if (fill->make)
		fill->make(repro, number, &racks);
	else
		make_traced(repro, number, fill->set, &racks);
	counted->digest = cluster_digest(counted->digest, &racks);
	for (enum placer placer = 0; placer <= WAVELENGTHS; placer++)
		if (placer != SEQUENCE)
			samples_add(&counted->served[placer], in_racks(&racks, placer));
	sequence = fill->make ? serve_filled(&racks) : serve_replayed(repro, number, fill->set);
	samples_add(&counted->served[SEQUENCE], sequence.slices);
	samples_add(&counted->all_in_sequence, sequence.all);
	if (fill->make && number < (repro->quick ? QUICKLY_ASKED : ASKED))
		ask_program(repro, &racks, counted->asked, counted->served);
	crossing_bound_find(&racks, &bound);
	samples_add(&counted->served[BOUND], bound.slices);
	if (number >= (repro->quick ? QUICKLY_BUILT : fill->built))
		return;
	crossing_build(&racks, bound.slices, repro->quick ? &quick : &thorough,
		       repro_seed(repro, number), &found);
	/* Serving across racks includes each rack's own slices. */
	built = (uint32_t)fmax(found.slices, counted->served[STITCHED].values[number]);
	samples_add(&counted->served[CROSSING], built);
	counted->met += built == bound.slices;
}

/*
 * Share of the free accelerators, or of the requests that racks serve, that is served. @row has the
 * condition.
 */
static void share_row(const struct fill *fill, const struct counted *counted, enum placer placer,
		      bool all, struct row row)
{
	const struct samples *served = &counted->served[placer];
	const struct samples *most = &counted->served[all ? BOUND : STITCHED];
	struct samples shares = { 0 };
	char name[160];

	if (all && placer == SEQUENCE)
		most = &counted->all_in_sequence;
	for (uint32_t at = 0; at < served->count; at++)
		samples_add(&shares, served->values[at] / most->values[at]);
	snprintf(name, sizeof(name), "%s, %s, share of %s", fill->name, placer_names[placer],
		 all ? "the free accelerators" : "the requests that racks can serve");
	row.name = name;
	row.unit = "share of requests";
	samples_row(&shares, &row);
	row_print(&row);
}

/*
 * Slices compared with those of aligned places in the same clusters, and shares. @row has the
 * condition.
 */
static void placer_rows(const struct fill *fill, const struct counted *counted, enum placer placer,
			struct row row)
{
	const struct samples *served = &counted->served[placer];
	struct samples aligned = counted->served[ALIGNED];
	char name[160];

	snprintf(name, sizeof(name), "%s, %s", fill->name, placer_names[placer]);
	row.name = name;
	row.unit = "slices of 32";
	aligned.count = served->count;
	if (placer != ALIGNED) {
		row.baseline_name = placer_names[ALIGNED];
		row.baseline = samples_mean(&aligned);
	}
	samples_row(served, &row);
	row_print(&row);
	row.baseline_name = NULL;
	if (placer == BOUND)
		return;
	share_row(fill, counted, placer, true, row);
	/*
	 * The racks' requests count whole fibres that exist. So they are no measure for
	 * wavelengths, or for plans with more fibres.
	 */
	if (placer != WAVELENGTHS && placer != PUBLISHED)
		share_row(fill, counted, placer, false, row);
}

/*
 * Ratio of the means of two algorithms. The interval is the jackknife of Tukey (1958), which leaves
 * out one cluster at a time.
 */
static void ratio_of(const struct samples *ours, const struct samples *theirs, uint32_t count,
		     struct row *row)
{
	struct samples ratios = { 0 };
	double sum = 0, its = 0;

	for (uint32_t at = 0; at < count; at++) {
		sum += ours->values[at];
		its += theirs->values[at];
	}
	for (uint32_t at = 0; at < count; at++)
		samples_add(&ratios, count * sum / its - (count - 1) * (sum - ours->values[at]) /
								 (its - theirs->values[at]));
	samples_row(&ratios, row);
}

/*
 * Compare serving across racks with a baseline. In a replay, the baseline can serve nothing, and
 * then there is no ratio: the row has a share instead.
 */
static void ratio_row(const struct fill *fill, const struct counted *counted, enum placer base,
		      const char *condition)
{
	const struct samples *ours = &counted->served[CROSSING], *theirs = &counted->served[base];
	char name[160];
	struct row row = {
		.name = name,
		.condition = condition,
		.approximation = fill->approximation,
	};

	if (fill->make) {
		snprintf(name, sizeof(name), "%s, %s, against %s", fill->name,
			 placer_names[CROSSING], placer_names[base]);
		row.unit = "times";
		ratio_of(ours, theirs, ours->count, &row);
	} else {
		snprintf(name, sizeof(name), "%s, %s, relative to %s", fill->name,
			 placer_names[base], placer_names[CROSSING]);
		row.unit = "share of slices";
		ratio_of(theirs, ours, ours->count, &row);
	}
	row_print(&row);
}

/* Compare the program's answers for racks with ours. */
static void asked_rows(const struct fill *fill, struct asked *asked, const char *program,
		       struct row row)
{
	char name[160];

	row.name = name;
	row.unit = "share of racks";
	snprintf(name, sizeof(name), "%s, %s, at most 4 fibres, undecided", fill->name, program);
	samples_share_row(&asked->undecided, &row);
	row_print(&row);
	snprintf(name, sizeof(name), "%s, %s, at most 4 fibres, same verdict as ours", fill->name,
		 program);
	samples_share_row(&asked->agrees, &row);
	row_print(&row);
	snprintf(name, sizeof(name), "%s, %s, fibres of the fullest link", fill->name, program);
	row.unit = "fibres";
	row.baseline_name = "of our plans";
	row.baseline = samples_mean(&asked->our_fibres);
	samples_row(&asked->fibres, &row);
	row_print(&row);
}

static void program_rows(const struct repro *repro, const struct fill *fill,
			 struct counted *counted)
{
	struct asked *few = &counted->asked[FEW_WAYS], *all = &counted->asked[ALL_WAYS];
	char condition[1280];
	const struct row row = { .condition = condition, .approximation = PROGRAM_APPROXIMATION };

	snprintf(
		condition, sizeof(condition),
		"%s; the first %u of the same clusters, and in these the %u racks without an aligned "
		"place but with eight free servers. The published program (Morphlux, Algorithm 1) "
		"plans each rack and minimises the load of the fullest link: CBC, linearised "
		"products, at most %u nodes; undecided: no plan and no proof by then. Of the %g "
		"shortest paths it may take the %g least loaded, as in the authors' code, or all. It "
		"has no limit on fibres; 'at most 4 fibres' rejects plans with more. For %u of "
		"these racks we prove that no plan fits within 4 fibres; beyond them the program "
		"has a plan for %u of those, with all paths for %u. The objective is compared for "
		"racks where both have plans%s",
		fill->words, counted->served[PUBLISHED].count, few->undecided.count, nodes(repro),
		repro_given(repro, "ways_shortest"), repro_given(repro, "ways_kept"), few->refused,
		few->beyond, all->beyond,
		repro->quick ?
			"; in each cluster the program plans only the first racks with exactly eight, without cuts, and the other racks count as our planner serves them" :
			"");
	for (enum placer placer = PUBLISHED; placer < PLACERS; placer++)
		placer_rows(fill, counted, placer, row);
	asked_rows(fill, few, placer_names[PUBLISHED], row);
	asked_rows(fill, all, "published program, all paths", row);
}

static void print_rows(const struct fill *fill, const struct counted *counted, uint32_t clusters)
{
	char condition[768];
	const struct row row = { .condition = condition, .approximation = fill->approximation };

	snprintf(
		condition, sizeof(condition),
		"%s; 30 %% of 4096 free, %u clusters, digest %016llx; stitched: 4 fibres each way "
		"from server to server, whole or with 2 wavelengths of which a circuit keeps one; "
		"across racks: 16 links on a face, one circuit switch on a path, built in %u "
		"clusters, equal to the proved bound in %u of them%s",
		fill->words, clusters, (unsigned long long)counted->digest,
		counted->served[CROSSING].count, counted->met,
		fill->make ?
			"" :
			"; in sequence: the same jobs fill a cluster, and its free servers count; if nothing "
			"contiguous is left, a multiple is undefined, so the rows give shares");
	for (enum placer placer = 0; placer <= BOUND; placer++) {
		placer_rows(fill, counted, placer, row);
		for (enum placer base = ALIGNED; placer == CROSSING && base <= SEQUENCE; base++)
			ratio_row(fill, counted, base, condition);
	}
}

int main(int argc, char **argv)
{
	static const struct fill fills[] = {
		{ "acceptance/random fill",
		  "equal shares of 4, 8, 16, 32 in random order, aligned first fit, then slices end at random",
		  NULL, make_random, TRACE_SETS, CLUSTERS },
		{ "acceptance/sorted fill",
		  "equal shares of 4, 8, 16, 32, the large ones first, aligned first fit, then slices end at random",
		  NULL, make_sorted, TRACE_SETS, CLUSTERS },
		{ "acceptance-trace/as traced",
		  TRACE_WORDS_AS_IT_IS ", then the slices that end first end", TRACE_APPROXIMATION,
		  NULL, TRACE_AS_IT_IS, TRACE_BUILT },
		{ "acceptance-trace/more tasks of several GPUs",
		  TRACE_WORDS_WIDE ", then the slices that end first end", TRACE_APPROXIMATION,
		  NULL, TRACE_WIDE, TRACE_BUILT },
	};
	static struct counted counted;
	struct repro repro;

	cluster_begin(&repro, argc, argv);
	for (uint32_t fill = 0; fill < sizeof(fills) / sizeof(*fills); fill++) {
		uint32_t clusters = repro.quick ? CLUSTERS / 5 : CLUSTERS;

		memset(&counted, 0, sizeof(counted));
		for (uint32_t at = 0; at < clusters; at++)
			count(&repro, &fills[fill], at, &counted);
		print_rows(&fills[fill], &counted, clusters);
		if (fills[fill].make)
			program_rows(&repro, &fills[fill], &counted);
	}
	return 0;
}
