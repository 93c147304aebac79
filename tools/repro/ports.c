// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ports that slices use: by shape, over a cluster, and the effect for a tenant and for a rack.
 *
 * A rack is a 4x4x4 torus. An accelerator has a port in each direction of each dimension. Two
 * models of an electrical slice's usable ports are kept apart. Extents: ports whose links lead to
 * an accelerator of the same slice. Closed rings: ports of a dimension in which the slice owns the
 * whole ring. Both are counted on the torus.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clusters.h"

#define EXTENT 4
#define PAIRS 3 /* a ring takes a pair of ports: to the next accelerator, and from the one before */
#define FIBRES 4 /* each way between servers */
#define PORTS (2 * PAIRS)

struct shape {
	uint32_t extent[3]; /* accelerators */
};

/* Shapes of slices by size: 4 << size accelerators. */
static const struct shape shapes[RACK_SIZES] = {
	{ { 2, 2, 1 } }, { { 2, 2, 2 } }, { { 2, 2, 4 } }, { { 2, 4, 4 } }, { { 4, 4, 4 } },
};

static bool inside(const struct shape *shape, const uint32_t at[3])
{
	return at[0] < shape->extent[0] && at[1] < shape->extent[1] && at[2] < shape->extent[2];
}

/* Usable ports of one dimension at one accelerator. */
static uint32_t ports_of(const struct shape *shape, const uint32_t at[3], uint32_t axis,
			 bool closed)
{
	uint32_t near[3] = { at[0], at[1], at[2] }, members = 0, joined = 0;

	for (near[axis] = 0; near[axis] < EXTENT; near[axis]++)
		members += inside(shape, near);
	for (uint32_t step = 1; step < EXTENT; step += EXTENT - 2) {
		near[axis] = (at[axis] + step) % EXTENT;
		joined += inside(shape, near);
	}
	return closed && members < EXTENT ? 0 : joined;
}

/* Mean of the ports that an accelerator of the slice uses. */
static double ports_used(const struct shape *shape, bool closed)
{
	uint32_t at[3], count = 0, ports = 0;

	for (at[0] = 0; at[0] < shape->extent[0]; at[0]++)
		for (at[1] = 0; at[1] < shape->extent[1]; at[1]++)
			for (at[2] = 0; at[2] < shape->extent[2]; at[2]++, count++)
				for (uint32_t axis = 0; axis < 3; axis++)
					ports += ports_of(shape, at, axis, closed);
	return (double)ports / count;
}

/*
 * All optical ports go to rings through the slice. The number of lit rings is limited by the fibres
 * between servers. A ring through two servers crosses twice; a longer ring crosses each link once.
 */
static uint32_t ports_within_fibres(uint32_t size)
{
	uint32_t crossings = size == 1 ? 2 : 1;
	uint32_t rings = size ? FIBRES / crossings : PAIRS;

	return 2 * (rings < PAIRS ? rings : PAIRS);
}

/* --------------------------------------------------------------------- shapes */

static void shape_rows(void)
{
	static const struct shape published[] = {
		{ { 4, 4, 1 } }, { { 4, 4, 2 } }, { { 4, 2, 1 } }, { { 4, 1, 2 } },
		{ { 2, 2, 1 } }, { { 2, 2, 2 } }, { { 2, 2, 4 } }, { { 2, 4, 4 } },
	};

	for (uint32_t at = 0; at < sizeof(published) / sizeof(*published); at++) {
		for (uint32_t closed = 0; closed < 2; closed++) {
			const struct shape *shape = &published[at];
			double lost = 1 - ports_used(shape, closed) / PORTS;
			char name[64];

			snprintf(name, sizeof(name), "port-loss/%ux%ux%u, %s", shape->extent[0],
				 shape->extent[1], shape->extent[2],
				 closed ? "closed rings" : "extents");
			row_print(&(struct row){
				.name = name,
				.condition =
					"lost ports: those that reach no accelerator of the slice (extents) or are in no "
					"ring of the slice (closed rings), 4x4x4 torus; optical ports, counted as in the "
					"original: none lost",
				.ours = 1 - 2.0 * PAIRS / PORTS,
				.unit = "share of ports lost",
				.baseline_name = "electrical",
				.baseline = lost,
			});
		}
	}
}

/*
 * Two rings at each accelerator, one in its plane and one along z: the published minimum, and
 * pairs.
 */
static void ring_rows(void)
{
	uint32_t rings = 2, each = PORTS / rings / 2;

	row_print(&(struct row){
		.name = "port-loss/two rings at each accelerator",
		.condition =
			"2x2x4, six ports, a ring in the plane and one along z; ours gives the "
			"three pairs of ports as 2 and 1, the published code rounds down for each",
		.ours = 1 - 2.0 * PAIRS / PORTS,
		.unit = "share of ports lost",
		.baseline_name = "the published rounding",
		.baseline = 1 - 2.0 * rings * each / PORTS,
	});
}

/* ------------------------------------------------------------------- clusters */

/*
 * Models of usable ports: electrical by extents, electrical by closed rings, optical within fibres.
 */
enum model {
	EXTENTS,
	CLOSED,
	FIBRED,
	MODELS,
};

static double used_by(uint32_t size, enum model model)
{
	return model == FIBRED ? ports_within_fibres(size) :
				 ports_used(&shapes[size], model == CLOSED);
}

static uint32_t size_of(const struct racks_slice *slice)
{
	return 31 - (uint32_t)__builtin_clz(net_count(slice->sites));
}

/* How the racks were filled. */
struct fill {
	const char *figures; /* the suffix of their names */
	const char *name, *words;
	/* random sizes until no accelerator is free, or NULL: jobs of a trace */
	const struct mix *mix;
	enum trace_set set;
};

static void make(const struct repro *repro, const struct fill *fill, uint32_t number,
		 struct racks *racks)
{
	static struct replay replay;

	if (fill->mix)
		cluster_fill_mix(racks, repro_seed(repro, number), fill->mix);
	else
		cluster_replay_aligned(repro, number, fill->set, &replay, racks);
}

/* Check that a slice is in a single rack. */
static bool stands_in(const struct racks_slice *slice, uint32_t rack)
{
	return !slice->gone && slice->rack == rack;
}

static uint32_t taken_in(const struct racks *racks, uint32_t rack)
{
	return net_count(racks->taken[rack]);
}

/* The used share of the ports of all taken accelerators of a rack. */
static double rack_use(const struct racks *racks, uint32_t rack, enum model model)
{
	double used = 0;

	for (uint32_t at = 0; at < racks->slices_count; at++)
		if (stands_in(&racks->slices[at], rack))
			used += net_count(racks->slices[at].sites) *
				used_by(size_of(&racks->slices[at]), model) / PORTS;
	return used / taken_in(racks, rack);
}

/* Figures of a cluster, over its racks. Each cluster is one sample. */
enum figure {
	LEAST,
	TENTH,
	MEDIAN,
	MEAN,
	MOST,
	FIGURES,
};

static const char *const figure_names[FIGURES] = { "least rack", "10 % of racks", "median rack",
						   "mean", "best rack" };

static void figures_of(struct samples *racks, struct samples figures[FIGURES])
{
	samples_add(&figures[LEAST], samples_min(racks));
	samples_add(&figures[MEAN], samples_mean(racks));
	samples_add(&figures[MOST], samples_max(racks));
	samples_add(&figures[TENTH], samples_quantile(racks, 0.1));
	samples_add(&figures[MEDIAN], samples_quantile(racks, 0.5));
}

static uint32_t clusters_of(const struct repro *repro)
{
	return repro->quick ? 8 : 64;
}

static void use_of_cluster(const struct racks *racks, struct samples figures[MODELS][FIGURES])
{
	for (uint32_t model = 0; model < MODELS; model++) {
		struct samples use = { 0 };

		for (uint32_t rack = 0; rack < RACKS; rack++)
			if (taken_in(racks, rack))
				samples_add(&use, rack_use(racks, rack, model));
		figures_of(&use, figures[model]);
	}
}

static void use_rows(const struct repro *repro, const struct fill *fill)
{
	static struct samples figures[MODELS][FIGURES];
	static struct racks racks;
	char name[128], condition[512];

	memset(figures, 0, sizeof(figures));
	for (uint32_t at = 0; at < clusters_of(repro); at++) {
		make(repro, fill, at, &racks);
		use_of_cluster(&racks, figures);
	}
	for (uint32_t figure = 0; figure < FIGURES; figure++) {
		struct row row = {
			.name = name,
			.condition = condition,
			.unit = "share of ports used",
			.baseline_name = "electrical, extents",
			.baseline = samples_mean(&figures[EXTENTS][figure]),
			.approximation = fill->mix ? NULL : TRACE_APPROXIMATION,
		};

		snprintf(name, sizeof(name), "port-use%s/%s, %s", fill->figures, fill->name,
			 figure_names[figure]);
		snprintf(
			condition, sizeof(condition),
			"64 racks: %s, no slice ends; %u clusters; closed rings: %.3f; ours within 4 fibres "
			"each way of a slice's own servers (the original counts ports only: 1)",
			fill->words, clusters_of(repro), samples_mean(&figures[CLOSED][figure]));
		samples_row(&figures[FIBRED][figure], &row);
		row_print(&row);
		snprintf(name, sizeof(name), "port-use%s/%s, %s, electrical", fill->figures,
			 fill->name, figure_names[figure]);
		samples_row(&figures[EXTENTS][figure], &row);
		row.baseline_name = NULL;
		row_print(&row);
	}
}

/* ----------------------------------------------------------- what it is good for */

/*
 * A step of training: the same work for each accelerator, then a ring adds up the gradients. The
 * unit of time is the transfer of all gradients through one port.
 */
static double step_time(double compute, uint32_t size, double ports)
{
	double members = 4U << size;

	return compute + 2 * (members - 1) / members / ports;
}

/* The computing time with which slices of 4 train @gain times as fast with all their ports. */
static double compute_for(double gain)
{
	return (step_time(0, 0, used_by(0, EXTENTS)) - gain * step_time(0, 0, PORTS)) / (gain - 1);
}

/* The gain in training speed of a rack, over all its slices. */
static double rack_gain(const struct racks *racks, uint32_t rack, double compute, bool fibred)
{
	double electrical = 0, optical = 0;

	for (uint32_t at = 0; at < racks->slices_count; at++) {
		const struct racks_slice *slice = &racks->slices[at];
		uint32_t size = size_of(slice);

		if (!stands_in(slice, rack))
			continue;
		electrical +=
			net_count(slice->sites) / step_time(compute, size, used_by(size, EXTENTS));
		optical += net_count(slice->sites) /
			   step_time(compute, size, fibred ? used_by(size, FIBRED) : PORTS);
	}
	return optical / electrical;
}

/* Gains of racks in two models: all ports, and ports within fibres. */
enum gain {
	MEDIAN_GAIN,
	BEST_GAIN,
	ABOVE, /* share of racks with a gain above the published median */
	GAINS,
};

static void gains_of_cluster(const struct racks *racks, double compute, double published,
			     struct samples figures[2][GAINS])
{
	for (uint32_t fibred = 0; fibred < 2; fibred++) {
		struct samples gains = { 0 };
		uint32_t above = 0;

		for (uint32_t rack = 0; rack < RACKS; rack++) {
			double times;

			if (!taken_in(racks, rack))
				continue;
			times = rack_gain(racks, rack, compute, fibred);
			samples_add(&gains, times);
			above += times > published;
		}
		samples_add(&figures[fibred][MEDIAN_GAIN], samples_quantile(&gains, 0.5));
		samples_add(&figures[fibred][BEST_GAIN], samples_max(&gains));
		samples_add(&figures[fibred][ABOVE], (double)above / gains.count);
	}
}

#define GAIN_APPROXIMATION \
	"model and alpha are not published; computing time follows from the published gain of the smallest slices, then a ring"

static void gain_rows(const struct repro *repro, const struct fill *fill)
{
	double gain = repro_given(repro, "gain_of_4"),
	       published = repro_given(repro, "gain_of_half");
	static struct samples figures[2][GAINS];
	static struct racks racks;
	char above[64], name[128], condition[512];
	const char *const names[GAINS] = { "median rack", "best rack", above };

	snprintf(above, sizeof(above), "racks above %g", published);
	memset(figures, 0, sizeof(figures));
	for (uint32_t at = 0; at < clusters_of(repro); at++) {
		make(repro, fill, at, &racks);
		gains_of_cluster(&racks, compute_for(gain), published, figures);
	}
	for (uint32_t figure = 0; figure < GAINS; figure++) {
		struct row row = {
			.name = name,
			.condition = condition,
			.unit = figure == ABOVE ? "share of racks" : "times",
			.baseline_name = figure == ABOVE ? NULL : "electrical, extents",
			.baseline = 1,
			.approximation = fill->mix ? GAIN_APPROXIMATION :
						     GAIN_APPROXIMATION "; " TRACE_APPROXIMATION,
		};

		samples_row(&figures[1][figure], &row);
		snprintf(name, sizeof(name), "rack-throughput%s/%s%s%s", fill->figures,
			 fill->mix ? "" : fill->name, fill->mix ? "" : ", ", names[figure]);
		snprintf(
			condition, sizeof(condition),
			"64 racks: %s; %u clusters; computing found from %gx for slices of 4; ports lit "
			"within 4 fibres each way (ports counted only: %.3f)",
			fill->words, clusters_of(repro), gain, samples_mean(&figures[0][figure]));
		row_print(&row);
	}
}

/*
 * Servers of the prototype have a port for each dimension of a plane. A slice uses the ports of
 * dimensions in which it extends.
 */
static double prototype_gain(const uint32_t extent[2])
{
	uint32_t used = 0;

	for (uint32_t axis = 0; axis < 2; axis++)
		used += extent[axis] > 1;
	return 2.0 / used;
}

/* The gain in bandwidth of a slice of 4 << @size accelerators. */
static double tenant_gain(uint32_t size)
{
	return used_by(size, FIBRED) / used_by(size, EXTENTS);
}

static void prototype_row(void)
{
	row_print(&(struct row){
		.name = "tenant-bandwidth/2x1x1 of a 2x2 torus",
		.condition =
			"two servers, one port in x and one in y each: ports to the other one, "
			"optical against electrical; ratio of bandwidths before protocols",
		.ours = prototype_gain((uint32_t[]){ 2, 1 }),
		.unit = "times",
		.baseline_name = "electrical",
		.baseline = 1,
		.approximation = "counted ports, not measured on a network",
	});
}

static void tenant_rows(const struct mix *mix)
{
	double gain = 0, most = 0, total = 0;

	for (uint32_t size = 0; size < 4; size++) {
		gain += mix->weight[size] * tenant_gain(size);
		total += mix->weight[size];
		most = fmax(most, tenant_gain(size));
	}
	row_print(&(struct row){
		.name = "tenant-bandwidth/mean slice",
		.condition =
			"sizes 4, 8, 16, 32 as often as in production, all ports in rings within 4 "
			"fibres from server to server, against extents",
		.ours = gain / total,
		.unit = "times",
		.baseline_name = "electrical, extents",
		.baseline = 1,
	});
	row_print(&(struct row){
		.name = "tenant-bandwidth/best slice",
		.condition = "the size of 4, 8, 16, 32 with the largest gain",
		.ours = most,
		.unit = "times",
		.baseline_name = "electrical, extents",
		.baseline = 1,
	});
}

static void tenants_of_cluster(const struct repro *repro, const struct fill *fill, uint32_t number,
			       struct samples figures[2])
{
	static struct racks racks;
	double sum = 0, most = 0;
	uint32_t count = 0;

	make(repro, fill, number, &racks);
	for (uint32_t at = 0; at < racks.slices_count; at++) {
		double gain;

		if (racks.slices[at].gone)
			continue;
		gain = tenant_gain(size_of(&racks.slices[at]));
		sum += gain;
		most = fmax(most, gain);
		count++;
	}
	samples_add(&figures[0], sum / count);
	samples_add(&figures[1], most);
}

/* The same for slices that run at the same time. */
static void traced_tenant_rows(const struct repro *repro, const struct fill *fill)
{
	static const char *const names[] = { "mean slice", "best slice" };
	struct samples figures[2] = { 0 };
	char name[128], condition[512];
	struct row row = {
		.name = name,
		.condition = condition,
		.unit = "times",
		.baseline_name = "electrical, extents",
		.baseline = 1,
		.approximation = TRACE_APPROXIMATION,
	};

	for (uint32_t at = 0; at < clusters_of(repro); at++)
		tenants_of_cluster(repro, fill, at, figures);
	snprintf(
		condition, sizeof(condition),
		"concurrent slices: %s; %u clusters; all ports in rings within 4 fibres from server to server, against extents",
		fill->words, clusters_of(repro));
	for (uint32_t figure = 0; figure < 2; figure++) {
		snprintf(name, sizeof(name), "tenant-bandwidth%s/%s, %s", fill->figures, fill->name,
			 names[figure]);
		samples_row(&figures[figure], &row);
		row_print(&row);
	}
}

int main(int argc, char **argv)
{
	struct repro repro;
	struct mix mix, with_racks;
	const struct fill fills[] = {
		{ "", "4 to 32", "filled at random, 4 to 32, aligned first fit", &mix, TRACE_SETS },
		{ "", "4 to 64", "filled at random, 4 to 64, aligned first fit", &with_racks,
		  TRACE_SETS },
		{ "-trace", trace_names[TRACE_AS_IT_IS], TRACE_WORDS_AS_IT_IS, NULL,
		  TRACE_AS_IT_IS },
		{ "-trace", trace_names[TRACE_WIDE], TRACE_WORDS_WIDE, NULL, TRACE_WIDE },
	};

	cluster_begin(&repro, argc, argv);
	mix = (struct mix){ { repro_given(&repro, "weight_4"), repro_given(&repro, "weight_8"),
			      repro_given(&repro, "weight_16"),
			      repro_given(&repro, "weight_32") } };
	with_racks = mix;
	with_racks.weight[4] = repro_given(&repro, "weight_64");
	shape_rows();
	ring_rows();
	for (uint32_t fill = 0; fill < sizeof(fills) / sizeof(*fills); fill++)
		use_rows(&repro, &fills[fill]);
	prototype_row();
	tenant_rows(&mix);
	for (uint32_t fill = 0; fill < sizeof(fills) / sizeof(*fills); fill++) {
		/* Racks with a single slice have their own row above. */
		if (fills[fill].mix != &with_racks)
			gain_rows(&repro, &fills[fill]);
		if (!fills[fill].mix)
			traced_tenant_rows(&repro, &fills[fill]);
	}
	return 0;
}
