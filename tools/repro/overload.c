// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several controllers that decide on lanes from their own views. The rows have the excess over the
 * capacity of links when the plans are added, for linear programs and for regularised plans. Then
 * they have, in whole lanes, the share of refused reservations and the loss by rounding. The
 * instances are those of the bench, libmorph/bench/meshes.h.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <morph/plan.h>

#include "../../libmorph/internal/planner.h"
#include "../../libmorph/bench/meshes.h"
#include "../../libmorph/bench/oracle.h"
#include "../../libmorph/bench/random.h"
#include "repro.h"

#define MESHES 32
#define EPOCHS 8
#define CONTROLLERS 4
#define LOAD 0.6 /* linear programs carry 95 % of it */
#define PATHS (MESH_DEMANDS * MESH_PATHS)

/*
 * How a controller plans. Published figures for linear programs are of plans without an earlier
 * state.
 */
enum way {
	COLD,
	WARM,
	REGULAR,
	WAYS,
};

static const char *const way_names[REGULAR] = { "linear program, cold", "linear program, warm" };

/* Sums over the epochs of a mesh. */
struct sums {
	double sent, carried, overload, worst; /* lanes; the worst links' excess, as a share */
	double asked, refused; /* in whole lanes */
	double lost; /* refused on all paths of the demand */
};

struct setting {
	struct morph_ctx *ctx;
	struct morph_traffic *traffic;
	const struct mesh *mesh;
	uint64_t seed;
	double noise;
	void *warm[CONTROLLERS];
};

static void solve_regular(const struct setting *setting, const double *amounts, double *flows)
{
	for (uint32_t at = 0; at < setting->mesh->demands_count; at++)
		morph_traffic_set_amount(setting->traffic, at, amounts[at]);
	if (morph_traffic_solve(setting->traffic, NULL, NULL))
		repro_wrong("%s", morph_error_text(setting->ctx));
	for (uint32_t at = 0; at < setting->mesh->paths_count; at++)
		flows[at] = morph_traffic_flow(setting->traffic, at);
}

static void solve(const struct setting *setting, enum way way, uint32_t controller,
		  const double *amounts, double *flows)
{
	void *oracle = setting->warm[controller];

	if (way == REGULAR) {
		solve_regular(setting, amounts, flows);
		return;
	}
	if (way == COLD)
		oracle = oracle_new(setting->mesh);
	if (!oracle || !oracle_solve(oracle, setting->mesh, amounts, flows))
		repro_wrong("the linear program has no solution");
	if (way == COLD)
		oracle_free(oracle);
}

/* The controllers' installed plans. */
struct installed {
	double flows[PATHS];
	uint32_t lanes[PATHS];
};

/* A controller plans for all servers, and installs the part that leaves its own servers. */
static void install(const struct setting *setting, uint32_t epoch, uint32_t controller,
		    const double *flows, struct installed *installed)
{
	const struct mesh *mesh = setting->mesh;
	uint32_t lanes[PATHS];

	if (morph_traffic_round(setting->traffic, flows, epoch, NULL, lanes))
		repro_wrong("%s", morph_error_text(setting->ctx));
	for (uint32_t at = 0; at < mesh->paths_count; at++) {
		if (mesh->source[mesh->paths[at].demand] % CONTROLLERS != controller)
			continue;
		installed->flows[at] = flows[at];
		installed->lanes[at] = lanes[at];
	}
}

static void count_overload(const struct mesh *mesh, const double *flows, struct sums *sums)
{
	double loads[MESH_LINKS] = { 0 }, worst = 0;

	for (uint32_t at = 0; at < mesh->paths_count; at++)
		for (uint32_t hop = 0; hop < mesh->paths[at].hops; hop++)
			loads[mesh->paths[at].links[hop]] += flows[at];
	for (uint32_t link = 0; link < mesh->links_count; link++) {
		sums->overload += fmax(loads[link] - MESH_LANES, 0);
		worst = fmax(worst, loads[link] / MESH_LANES - 1);
	}
	sums->worst += worst;
}

/*
 * The traffic that links carry. A path carries the share that its worst link leaves. A link drops
 * the traffic beyond its capacity in equal shares.
 */
static double count_carried(const struct mesh *mesh, const double *flows)
{
	double loads[MESH_LINKS] = { 0 }, carried = 0;

	for (uint32_t at = 0; at < mesh->paths_count; at++)
		for (uint32_t hop = 0; hop < mesh->paths[at].hops; hop++)
			loads[mesh->paths[at].links[hop]] += flows[at];
	for (uint32_t at = 0; at < mesh->paths_count; at++) {
		double share = 1;

		for (uint32_t hop = 0; hop < mesh->paths[at].hops; hop++)
			share = fmin(share, MESH_LANES / loads[mesh->paths[at].links[hop]]);
		carried += share * flows[at];
	}
	return carried;
}

/* ------------------------------------------------------------- reservations */

/* A controller's next requests: its paths in order. */
struct turn {
	uint32_t next[CONTROLLERS], left[CONTROLLERS]; /* path; lanes requested for it */
	uint32_t waiting; /* over all paths */
};

static uint32_t controller_of(const struct mesh *mesh, uint32_t path)
{
	return mesh->source[mesh->paths[path].demand] % CONTROLLERS;
}

static void turns_begin(struct turn *turn, const struct mesh *mesh, const uint32_t *lanes)
{
	memset(turn, 0, sizeof(*turn));
	for (uint32_t at = 0; at < mesh->paths_count; at++) {
		turn->left[controller_of(mesh, at)] += lanes[at] > 0;
		turn->waiting += lanes[at] > 0;
	}
}

/*
 * Choose the next controller at random, so that every order of all requests has the same
 * probability.
 */
static uint32_t turn_of(struct turn *turn, const struct mesh *mesh, const uint32_t *lanes,
			uint64_t *random)
{
	uint32_t chance = random_below(random, turn->waiting), controller = 0, path;

	while (chance >= turn->left[controller])
		chance -= turn->left[controller++];
	path = turn->next[controller];
	while (!lanes[path] || controller_of(mesh, path) != controller)
		path++;
	turn->next[controller] = path + 1;
	turn->left[controller]--;
	turn->waiting--;
	return path;
}

/* Grant the lanes of a path that are free, up to the requested number. */
static uint32_t grant(const struct mesh *mesh, uint32_t at, uint32_t wanted, uint32_t *left)
{
	const struct mesh_path *path = &mesh->paths[at];

	for (uint32_t hop = 0; hop < path->hops; hop++)
		if (left[path->links[hop]] < wanted)
			wanted = left[path->links[hop]];
	for (uint32_t hop = 0; hop < path->hops; hop++)
		left[path->links[hop]] -= wanted;
	return wanted;
}

/*
 * The controllers reserve concurrently, as with the driver, in random order. A request that does
 * not fit is refused. With @again, the controller then tries the other paths of the demand, from
 * the next one on. Returns the lanes that remain refused.
 */
static uint32_t reserve(const struct mesh *mesh, const uint32_t *lanes, uint64_t random, bool again)
{
	uint32_t left[MESH_LINKS], refused = 0;
	struct turn turn;

	for (uint32_t link = 0; link < mesh->links_count; link++)
		left[link] = MESH_LANES;
	turns_begin(&turn, mesh, lanes);
	while (turn.waiting) {
		uint32_t path = turn_of(&turn, mesh, lanes, &random);
		uint32_t demand = mesh->paths[path].demand, lacking = lanes[path];

		lacking -= grant(mesh, path, lacking, left);
		for (uint32_t at = path + 1;
		     again && lacking && at < mesh->paths_count && mesh->paths[at].demand == demand;
		     at++)
			lacking -= grant(mesh, at, lacking, left);
		for (uint32_t at = path;
		     again && lacking && at > 0 && mesh->paths[at - 1].demand == demand; at--)
			lacking -= grant(mesh, at - 1, lacking, left);
		refused += lacking;
	}
	return refused;
}

static void count_reservations(const struct setting *setting, uint32_t epoch,
			       const struct installed *installed, struct sums *sums)
{
	const struct mesh *mesh = setting->mesh;
	uint64_t random = setting->seed * EPOCHS + epoch;

	for (uint32_t at = 0; at < mesh->paths_count; at++) {
		sums->sent += installed->flows[at];
		sums->asked += installed->lanes[at];
	}
	sums->carried += count_carried(mesh, installed->flows);
	sums->refused += reserve(mesh, installed->lanes, random, false);
	sums->lost += reserve(mesh, installed->lanes, random, true);
}

/* An epoch in which every controller plans by @way from its own view. */
static void run_epoch(const struct setting *setting, uint32_t epoch, struct sums sums[WAYS])
{
	double amounts[MESH_DEMANDS], view[MESH_DEMANDS], flows[PATHS] = { 0 };
	struct installed installed = { 0 };

	mesh_epoch(setting->mesh, setting->seed, epoch, LOAD, amounts);
	for (enum way way = 0; way < WAYS; way++) {
		for (uint32_t controller = 0; controller < CONTROLLERS; controller++) {
			mesh_view(setting->mesh, setting->seed, epoch, controller, setting->noise,
				  amounts, view);
			solve(setting, way, controller, view, flows);
			install(setting, epoch, controller, flows, &installed);
		}
		count_overload(setting->mesh, installed.flows, &sums[way]);
		count_reservations(setting, epoch, &installed, &sums[way]);
	}
}

/* All epochs of the topology of a seed. */
static void run_mesh(struct morph_ctx *ctx, uint64_t seed, double noise, struct sums sums[WAYS])
{
	static struct mesh mesh;
	struct setting setting = { .ctx = ctx, .mesh = &mesh, .seed = seed, .noise = noise };

	mesh_make(&mesh, seed);
	setting.traffic = mesh_problem(ctx, &mesh, NULL);
	if (!setting.traffic)
		repro_wrong("out of memory");
	for (uint32_t at = 0; at < CONTROLLERS; at++)
		setting.warm[at] = oracle_new(&mesh);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
		run_epoch(&setting, epoch, sums);
	for (uint32_t at = 0; at < CONTROLLERS; at++)
		oracle_free(setting.warm[at]);
	morph_traffic_free(setting.traffic);
}

/* --------------------------------------------------------------------- rows */

/* Figures by mesh, of each way to plan. */
enum figure {
	VOLUME,
	WORST,
	REFUSED,
	LOST,
	ROUNDING,
	FIGURES,
};

static const char *const figure_names[FIGURES] = {
	"overload volume",	"worst link above capacity",
	"refused per thousand", "refused per thousand after a retry on other paths",
	"rounding loss",
};
static const char *const figure_units[FIGURES] = { "share of sent traffic", "share of capacity",
						   "per thousand", "per thousand",
						   "share of sent traffic" };

static double figure_of(const struct sums *sums, enum figure figure)
{
	switch (figure) {
	case VOLUME:
		return sums->overload / sums->sent;
	case WORST:
		return sums->worst / EPOCHS;
	case REFUSED:
		return 1000 * sums->refused / sums->asked;
	case LOST:
		return 1000 * sums->lost / sums->asked;
	default:
		return 1 - sums->asked / sums->sent;
	}
}

static const char *const approximation =
	"the formulation, topologies and demands of the original are not available; this is a reconstruction with 12 servers and 5 planes of circuits";

/* Compare ours with one baseline. */
static void figure_rows(struct samples figures[WAYS][FIGURES], enum way base, double noise,
			const char *condition)
{
	for (enum figure figure = 0; figure < FIGURES; figure++) {
		char name[128];
		struct row row = {
			.name = name,
			.condition = condition,
			.unit = figure_units[figure],
			.baseline_name = way_names[base],
			.baseline = samples_mean(&figures[base][figure]),
			.approximation = approximation,
		};

		if (!noise && figure < REFUSED)
			continue;
		snprintf(name, sizeof(name), "overload/noise %g %%, %s, against %s", noise * 100,
			 figure_names[figure], way_names[base]);
		samples_row(&figures[REGULAR][figure], &row);
		row_print(&row);
	}
}

/* Throughput by mesh, of linear programs without an earlier state. */
struct throughput {
	struct samples sent, carried;
};

static void ratio_row(struct samples *ratios, double noise, const char *what, const char *condition)
{
	char name[96];
	struct row row = {
		.name = name,
		.condition = condition,
		.unit = "times less overload",
		.approximation = approximation,
	};

	if (!ratios->count)
		return;
	snprintf(name, sizeof(name), "overload/noise %g %%, overload reduction from %s",
		 noise * 100, what);
	samples_median_row(ratios, &row);
	row_print(&row);
}

/* Throughput of linear programs with the same views: sent traffic and carried traffic. */
static void throughput_rows(const struct throughput *throughput, double noise,
			    const char *condition)
{
	static const char *const names[] = { "sent", "carried" };

	for (uint32_t at = 0; at < 2; at++) {
		char name[128];
		struct row row = {
			.name = name,
			.condition = condition,
			.unit = "share of the linear program's",
			.baseline_name = way_names[COLD],
			.baseline = 1,
			.approximation = approximation,
		};

		snprintf(name, sizeof(name), "overload/noise %g %%, throughput %s, relative to %s",
			 noise * 100, names[at], way_names[COLD]);
		samples_row(at ? &throughput->carried : &throughput->sent, &row);
		row_print(&row);
	}
}

static void noise_rows(const struct repro *repro, struct morph_ctx *ctx, double noise)
{
	static struct samples figures[WAYS][FIGURES], ratios[WAYS];
	static struct throughput throughput;
	uint32_t meshes = repro->quick ? 4 : MESHES;
	char condition[384];

	memset(figures, 0, sizeof(figures));
	memset(ratios, 0, sizeof(ratios));
	memset(&throughput, 0, sizeof(throughput));
	for (uint32_t at = 0; at < meshes; at++) {
		struct sums sums[WAYS] = { 0 };

		run_mesh(ctx, repro_seed(repro, at), noise, sums);
		samples_add(&throughput.sent, sums[REGULAR].sent / sums[COLD].sent);
		samples_add(&throughput.carried, sums[REGULAR].carried / sums[COLD].carried);
		for (enum way way = 0; way < WAYS; way++) {
			for (enum figure figure = 0; figure < FIGURES; figure++)
				samples_add(&figures[way][figure], figure_of(&sums[way], figure));
			if (way != REGULAR && noise)
				samples_add(&ratios[way],
					    sums[way].overload / sums[REGULAR].overload);
		}
	}
	snprintf(
		condition, sizeof(condition),
		"%d controllers, views %g %% off (lognormal), %u topologies of %d epochs, demands of "
		"which a linear program can carry 95 %%; linear programs by the dual simplex, "
		"columns in the order of paths; controllers reserve their paths in random order",
		CONTROLLERS, noise * 100, meshes, EPOCHS);
	figure_rows(figures, COLD, noise, condition);
	figure_rows(figures, WARM, noise, condition);
	throughput_rows(&throughput, noise, condition);
	ratio_row(&ratios[COLD], noise, way_names[COLD], condition);
	ratio_row(&ratios[WARM], noise, way_names[WARM], condition);
}

int main(int argc, char **argv)
{
	static const double noises[] = { 0, 0.01, 0.02, 0.05, 0.1 };
	struct morph_ctx *ctx;
	struct repro repro;

	repro_begin(&repro, argc, argv);
	if (morph_ctx_new(NULL, &ctx))
		repro_wrong("cannot create a context");
	for (uint32_t at = 0; at < sizeof(noises) / sizeof(*noises); at++)
		noise_rows(&repro, ctx, noises[at]);
	morph_ctx_free(ctx);
	return 0;
}
