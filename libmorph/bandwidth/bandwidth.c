// SPDX-License-Identifier: LGPL-2.1-or-later
/* A bandwidth problem: builder, layout for the search, and access to the solution. */
#include "../util/sort.h"
#include "bandwidth.h"

/* ------------------------------------------------------- building and reading */

#define MOST_WAVELENGTHS 256
#define MOST_PORTS 1024
#define MOST_FIBRES 4096
#define MOST_PARTS (1U << 16) /* accelerators or guides */
#define MOST_GROUPS 4096
#define MOST_HOPS (1U << 20)
#define MOST_GUIDES 64 /* of a hop */
#define MOST_CIRCUITS 1024 /* of a hop, for each lane of its group */

MORPH_API struct morph_bandwidth *morph_bandwidth_new(struct morph_ctx *ctx, uint32_t wavelengths)
{
	struct morph_bandwidth *bw;

	if (!wavelengths || wavelengths > MOST_WAVELENGTHS) {
		lm_fail(ctx, EINVAL, "a fibre has 1 to %d wavelengths, not %u", MOST_WAVELENGTHS,
			wavelengths);
		return NULL;
	}
	bw = calloc(1, sizeof(*bw));
	if (!bw) {
		lm_no_memory(ctx, "create a bandwidth problem");
		return NULL;
	}
	bw->ctx = ctx;
	bw->wavelengths = wavelengths;
	return bw;
}

MORPH_API void morph_bandwidth_free(struct morph_bandwidth *bw)
{
	if (!bw)
		return;
	lm_bw_unprepare(bw);
	free(bw->resources.list);
	free(bw->accelerators.list);
	free(bw->guides.list);
	free(bw->groups.list);
	free(bw->hops.list);
	free(bw->ways.list);
	free(bw);
}

#define GROW(bw, array, more) ARRAY_GROW((bw)->ctx, (bw)->array, more, "add to a bandwidth problem")

/* ----------------------------------------------------------------- building */

static int check_ports(struct morph_bandwidth *bw, uint32_t transmit, uint32_t receive)
{
	if (transmit <= MOST_PORTS && receive <= MOST_PORTS)
		return 0;
	return lm_fail(bw->ctx, E2BIG,
		       "an accelerator has at most %d ports each way, not %u and %u", MOST_PORTS,
		       transmit, receive);
}

static int check_fibres(struct morph_bandwidth *bw, uint32_t fibres)
{
	if (fibres <= MOST_FIBRES)
		return 0;
	return lm_fail(bw->ctx, E2BIG, "a guide has at most %d fibres, not %u", MOST_FIBRES,
		       fibres);
}

static int check_wish(struct morph_bandwidth *bw, uint32_t least, uint32_t most)
{
	if (!most || least <= most)
		return 0;
	return lm_fail(bw->ctx, EINVAL, "the minimum of a group is %u, its maximum only %u", least,
		       most);
}

static int check_number(struct morph_bandwidth *bw, uint32_t number, uint32_t count,
			const char *what)
{
	if (number < count)
		return 0;
	return lm_fail(bw->ctx, ENOENT, "no %s %u: %u were added", what, number, count);
}

static void add_resource(struct morph_bandwidth *bw, enum morph_bandwidth_part part, uint32_t index,
			 uint32_t fibres)
{
	bw->resources.list[bw->resources.count++] = (struct bw_resource){
		.part = part,
		.index = index,
		.fibres = fibres,
	};
	bw->prepared = false;
	bw->solved = false;
}

MORPH_API int morph_bandwidth_add_accelerator(struct morph_bandwidth *bw, uint32_t transmit,
					      uint32_t receive)
{
	uint32_t number = bw->accelerators.count;
	int error = check_ports(bw, transmit, receive);

	if (!error && number == MOST_PARTS)
		error = lm_fail(bw->ctx, E2BIG, "a bandwidth problem has at most %u accelerators",
				MOST_PARTS);
	if (!error)
		error = GROW(bw, accelerators, 1);
	if (!error)
		error = GROW(bw, resources, 2);
	if (error)
		return error;
	bw->accelerators.list[bw->accelerators.count++] = bw->resources.count;
	add_resource(bw, MORPH_BANDWIDTH_TRANSMIT, number, transmit);
	add_resource(bw, MORPH_BANDWIDTH_RECEIVE, number, receive);
	return (int)number;
}

MORPH_API int morph_bandwidth_add_guide(struct morph_bandwidth *bw, uint32_t fibres)
{
	uint32_t number = bw->guides.count;
	int error = check_fibres(bw, fibres);

	if (!error && number == MOST_PARTS)
		error = lm_fail(bw->ctx, E2BIG, "a bandwidth problem has at most %u guides",
				MOST_PARTS);
	if (!error)
		error = GROW(bw, guides, 1);
	if (!error)
		error = GROW(bw, resources, 1);
	if (error)
		return error;
	bw->guides.list[bw->guides.count++] = bw->resources.count;
	add_resource(bw, MORPH_BANDWIDTH_GUIDE, number, fibres);
	return (int)number;
}

MORPH_API int morph_bandwidth_add_group(struct morph_bandwidth *bw, uint32_t least, uint32_t most)
{
	int error = check_wish(bw, least, most);

	if (!error && bw->groups.count == MOST_GROUPS)
		error = lm_fail(bw->ctx, E2BIG, "a bandwidth problem has at most %d groups",
				MOST_GROUPS);
	if (!error)
		error = GROW(bw, groups, 1);
	if (error)
		return error;
	bw->groups.list[bw->groups.count] = (struct bw_group){
		.least = least,
		.most = most ? most : UINT32_MAX,
		.hops = UINT32_MAX,
	};
	bw->prepared = false;
	bw->solved = false;
	return (int)bw->groups.count++;
}

static int check_guides(struct morph_bandwidth *bw, const uint32_t *guides, size_t count)
{
	if (count > MOST_GUIDES)
		return lm_fail(bw->ctx, E2BIG, "a hop has %zu guides, at most %d are possible",
			       count, MOST_GUIDES);
	for (size_t at = 0; at < count; at++) {
		int error = check_number(bw, guides[at], bw->guides.count, "guide");

		if (error)
			return error;
		for (size_t other = 0; other < at; other++)
			if (guides[other] == guides[at])
				return lm_fail(bw->ctx, EINVAL, "a hop lists guide %u twice",
					       guides[at]);
	}
	return 0;
}

static int check_hop(struct morph_bandwidth *bw, uint32_t group, uint32_t source, uint32_t target,
		     uint32_t circuits)
{
	int error = check_number(bw, group, bw->groups.count, "group");

	if (!error)
		error = check_number(bw, source, bw->accelerators.count, "accelerator");
	if (!error)
		error = check_number(bw, target, bw->accelerators.count, "accelerator");
	if (error)
		return error;
	if (source == target)
		return lm_fail(bw->ctx, EINVAL, "a hop connects accelerator %u to itself", source);
	if (!circuits)
		return lm_fail(bw->ctx, EINVAL, "a hop has no circuits");
	if (circuits > MOST_CIRCUITS)
		return lm_fail(bw->ctx, E2BIG,
			       "a hop has %u circuits for each unit, at most %d are possible",
			       circuits, MOST_CIRCUITS);
	if (bw->hops.count == MOST_HOPS)
		return lm_fail(bw->ctx, E2BIG, "a bandwidth problem has at most %u hops",
			       MOST_HOPS);
	return 0;
}

static int ascending(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

MORPH_API int morph_bandwidth_add_hop(struct morph_bandwidth *bw, uint32_t group, uint32_t source,
				      uint32_t target, uint32_t circuits, const uint32_t *guides,
				      size_t count)
{
	uint32_t uses = (uint32_t)count + 2, *way;
	int error = check_hop(bw, group, source, target, circuits);

	if (!error)
		error = check_guides(bw, guides, count);
	if (!error)
		error = GROW(bw, hops, 1);
	if (!error)
		error = GROW(bw, ways, uses);
	if (error)
		return error;
	bw->hops.list[bw->hops.count] = (struct bw_hop){
		.group = group,
		.next = bw->groups.list[group].hops,
		.circuits = circuits,
		.first = bw->ways.count,
		.count = uses,
	};
	way = bw->ways.list + bw->ways.count;
	way[0] = bw->accelerators.list[source];
	way[1] = bw->accelerators.list[target] + 1;
	for (size_t at = 0; at < count; at++)
		way[2 + at] = bw->guides.list[guides[at]];
	/* Sorted, so that equal types compare equal. */
	qsort(way, uses, sizeof(*way), ascending);
	bw->ways.count += uses;
	bw->groups.list[group].hops = bw->hops.count;
	bw->prepared = false;
	bw->solved = false;
	return (int)bw->hops.count++;
}

int morph_bandwidth_set_accelerator(struct morph_bandwidth *bw, uint32_t accelerator,
				    uint32_t transmit, uint32_t receive)
{
	int error = check_number(bw, accelerator, bw->accelerators.count, "accelerator");

	if (!error)
		error = check_ports(bw, transmit, receive);
	if (error)
		return error;
	bw->resources.list[bw->accelerators.list[accelerator]].fibres = transmit;
	bw->resources.list[bw->accelerators.list[accelerator] + 1].fibres = receive;
	return 0;
}

int morph_bandwidth_set_guide(struct morph_bandwidth *bw, uint32_t guide, uint32_t fibres)
{
	int error = check_number(bw, guide, bw->guides.count, "guide");

	if (!error)
		error = check_fibres(bw, fibres);
	if (!error)
		bw->resources.list[bw->guides.list[guide]].fibres = fibres;
	return error;
}

int morph_bandwidth_set_group(struct morph_bandwidth *bw, uint32_t group, uint32_t least,
			      uint32_t most)
{
	int error = check_number(bw, group, bw->groups.count, "group");

	if (!error)
		error = check_wish(bw, least, most);
	if (error)
		return error;
	bw->groups.list[group].least = least;
	bw->groups.list[group].most = most ? most : UINT32_MAX;
	return 0;
}

/* ------------------------------------------------------------------ answers */

uint32_t morph_bandwidth_of_group(const struct morph_bandwidth *bw, uint32_t group)
{
	return bw->solved && group < bw->groups.count ? bw->groups.list[group].bandwidth : 0;
}

/* Hops of one type number their circuits one after the other, in the order of wavelengths. */
MORPH_API size_t morph_bandwidth_lanes(const struct morph_bandwidth *bw, uint32_t number,
				       uint32_t *wavelengths, size_t room)
{
	const struct bw_hop *hop;
	size_t circuits, seen = 0;

	if (!bw->solved || number >= bw->hops.count)
		return 0;
	hop = &bw->hops.list[number];
	circuits = (size_t)hop->circuits * bw->groups.list[hop->group].bandwidth;
	for (uint32_t wavelength = 0; wavelengths && wavelength < bw->wavelengths; wavelength++) {
		size_t taken = bw->kept.taken[(size_t)hop->type * bw->wavelengths + wavelength];

		for (size_t at = seen; at < seen + taken; at++)
			if (at >= hop->before && at < hop->before + circuits &&
			    at - hop->before < room)
				wavelengths[at - hop->before] = wavelength;
		seen += taken;
	}
	return circuits;
}

uint32_t lm_bw_lane(const struct morph_bandwidth *bw, uint32_t number, uint32_t circuit)
{
	const struct bw_hop *hop = &bw->hops.list[number];
	size_t place = (size_t)hop->before + circuit, seen = 0;
	uint32_t wavelength = 0;

	for (; wavelength + 1 < bw->wavelengths; wavelength++) {
		seen += bw->kept.taken[(size_t)hop->type * bw->wavelengths + wavelength];
		if (seen > place)
			break;
	}
	return wavelength;
}

MORPH_API int morph_bandwidth_group(const struct morph_bandwidth *bw, uint32_t group,
				    struct morph_bandwidth_group *out)
{
	struct morph_bandwidth_group info = { 0 };
	int error = lm_opts_check(bw->ctx, out, sizeof(*out), "morph_bandwidth_group");

	if (error)
		return error;
	if (group != MORPH_ANY && group >= bw->groups.count)
		return lm_fail(bw->ctx, ENOENT, "no group %u: %u were added", group,
			       bw->groups.count);
	if (bw->solved)
		info = group == MORPH_ANY ? bw->short_of : bw->groups.list[group].stop;
	info.lanes = group == MORPH_ANY ? 0 : morph_bandwidth_of_group(bw, group);
	lm_answer_copy(out, &info, sizeof(info));
	return 0;
}

MORPH_API uint64_t morph_bandwidth_load(const struct morph_bandwidth *bw,
					enum morph_bandwidth_part part, uint32_t index)
{
	uint64_t load = 0;

	for (uint32_t at = 0; bw->solved && at < bw->groups.count; at++) {
		const struct bw_group *group = &bw->groups.list[at];

		for (uint32_t use = 0; use < group->count; use++) {
			const struct bw_use *its = &bw->uses[group->first + use];
			const struct bw_resource *resource = &bw->resources.list[its->resource];

			if (resource->part == part && resource->index == index)
				load += (uint64_t)its->circuits * group->bandwidth;
		}
	}
	return load;
}

/* --------------------------------------------------------------------- layout */

/* Layout of a problem for the search: uses of groups, types of hops, and users of resources. */

#define MOST_PAIRS (1U << 24) /* of type and wavelength, or of resource and wavelength */
#define MOST_PLANS 1024U /* a problem of six groups has at most 720, see bandwidth_fill.c */
#define MOST_LEVELS (1U << 20) /* of groups, in all plans together */

#define MAKE(list, count) ((list) = calloc((count) + 1, sizeof(*(list))))

/* List the resources that the hops of a group use, each once. */
static void sum_uses(struct morph_bandwidth *bw, struct bw_group *group, uint32_t *where)
{
	for (uint32_t at = group->hops; at != UINT32_MAX; at = bw->hops.list[at].next) {
		const struct bw_hop *hop = &bw->hops.list[at];

		for (uint32_t way = 0; way < hop->count; way++) {
			uint32_t resource = bw->ways.list[hop->first + way];
			struct bw_use *use = &bw->uses[where[resource]];

			/*
			 * The entry is from another group, unless it points into this group's list.
			 */
			if (where[resource] < group->first ||
			    where[resource] >= group->first + group->count ||
			    use->resource != resource) {
				where[resource] = group->first + group->count++;
				use = &bw->uses[where[resource]];
				*use = (struct bw_use){ .resource = resource };
			}
			use->circuits += hop->circuits;
		}
	}
}

static int by_way(const void *one, const void *other, void *context)
{
	const struct morph_bandwidth *bw = context;
	const struct bw_hop *a = &bw->hops.list[*(const uint32_t *)one];
	const struct bw_hop *b = &bw->hops.list[*(const uint32_t *)other];
	int order;

	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	order = memcmp(bw->ways.list + a->first, bw->ways.list + b->first,
		       a->count * sizeof(*bw->ways.list));
	return order ? order : (a > b) - (a < b);
}

static bool alike(const struct morph_bandwidth *bw, const struct bw_hop *a, const struct bw_hop *b)
{
	return a->count == b->count && !memcmp(bw->ways.list + a->first, bw->ways.list + b->first,
					       a->count * sizeof(*bw->ways.list));
}

/* Hops that use the same resources get one type. */
static void sort_types(struct morph_bandwidth *bw, uint32_t *order)
{
	for (uint32_t at = 0; at < bw->hops.count; at++)
		order[at] = at;
	lm_sort(order, bw->hops.count, sizeof(*order), by_way, bw);
	bw->types_count = 0;
	for (uint32_t at = 0; at < bw->hops.count; at++) {
		struct bw_hop *hop = &bw->hops.list[order[at]];

		if (!at || !alike(bw, hop, &bw->hops.list[order[at - 1]]))
			bw->types[bw->types_count++] =
				(struct bw_type){ .first = hop->first, .count = hop->count };
		hop->type = bw->types_count - 1;
	}
}

static void list_users(struct morph_bandwidth *bw)
{
	uint32_t first = 0;

	for (uint32_t at = 0; at < bw->resources.count; at++)
		bw->resources.list[at].count = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t type = 0; type < bw->types_count; type++) {
			for (uint32_t way = 0; way < bw->types[type].count; way++) {
				uint32_t at = bw->ways.list[bw->types[type].first + way];
				struct bw_resource *resource = &bw->resources.list[at];

				if (pass)
					bw->users[resource->first + resource->count] = type;
				resource->count++;
			}
		}
		for (uint32_t at = 0; !pass && at < bw->resources.count; at++) {
			struct bw_resource *resource = &bw->resources.list[at];

			resource->first = first;
			first += resource->count;
			resource->count = 0;
		}
	}
}

static bool make_colours(const struct morph_bandwidth *bw, struct bw_colours *colours)
{
	return MAKE(colours->taken, (size_t)bw->types_count * bw->wavelengths) &&
	       MAKE(colours->load, (size_t)bw->resources.count * bw->wavelengths) &&
	       MAKE(colours->placed, bw->types_count);
}

/* Allocate the arrays whose size depends on the number of types. */
static bool make_memory(struct morph_bandwidth *bw)
{
	size_t groups = bw->groups.count ? bw->groups.count : 1;

	bw->room = MOST_LEVELS / groups < MOST_PLANS ? MOST_LEVELS / (uint32_t)groups : MOST_PLANS;
	if (!make_colours(bw, &bw->now) || !make_colours(bw, &bw->good) ||
	    !make_colours(bw, &bw->kept) || !MAKE(bw->active, groups) ||
	    !MAKE(bw->plans[0], bw->room * groups) || !MAKE(bw->plans[1], bw->room * groups))
		return false;
	if (bw->wavelengths == 1)
		return true;
	bw->chain = lm_bw_chain_new(bw);
	bw->exhaust = lm_bw_exhaust_new(bw);
	bw->weigh = lm_bw_weigh_new(bw);
	return bw->chain && bw->exhaust && bw->weigh;
}

static int check_size(struct morph_bandwidth *bw)
{
	size_t most = bw->hops.count > bw->resources.count ? bw->hops.count : bw->resources.count;

	for (uint32_t at = 0; at < bw->groups.count; at++)
		if (bw->groups.list[at].hops == UINT32_MAX)
			return lm_fail(bw->ctx, EINVAL, "group %u has no hops", at);
	if (most * bw->wavelengths <= MOST_PAIRS)
		return 0;
	return lm_fail(bw->ctx, E2BIG,
		       "the problem is too large: %u hops, %u ports and guides, %u wavelengths",
		       bw->hops.count, bw->resources.count, bw->wavelengths);
}

int lm_bw_prepare(struct morph_bandwidth *bw)
{
	uint32_t *scratch = NULL;
	uint32_t uses = 0;
	int error = check_size(bw);

	if (error)
		return error;
	lm_bw_unprepare(bw);
	if (!MAKE(bw->uses, bw->ways.count) || !MAKE(bw->users, bw->ways.count) ||
	    !MAKE(bw->types, bw->hops.count) ||
	    !MAKE(scratch, (size_t)bw->resources.count + bw->hops.count))
		goto no_memory;
	for (uint32_t at = 0; at < bw->groups.count; at++) {
		bw->groups.list[at].first = uses;
		bw->groups.list[at].count = 0;
		sum_uses(bw, &bw->groups.list[at], scratch);
		uses += bw->groups.list[at].count;
	}
	sort_types(bw, scratch);
	list_users(bw);
	if (!make_memory(bw))
		goto no_memory;
	free(scratch);
	bw->prepared = true;
	return 0;

no_memory:
	free(scratch);
	lm_bw_unprepare(bw);
	return lm_no_memory(bw->ctx, "solve a bandwidth problem");
}

static void drop_colours(struct bw_colours *colours)
{
	free(colours->taken);
	free(colours->load);
	free(colours->placed);
	*colours = (struct bw_colours){ 0 };
}

void lm_bw_unprepare(struct morph_bandwidth *bw)
{
	free(bw->uses);
	free(bw->users);
	free(bw->types);
	drop_colours(&bw->now);
	drop_colours(&bw->good);
	drop_colours(&bw->kept);
	free(bw->active);
	free(bw->plans[0]);
	free(bw->plans[1]);
	free(bw->chain);
	lm_bw_exhaust_free(bw->exhaust);
	lm_bw_weigh_free(bw->weigh);
	bw->uses = NULL;
	bw->users = NULL;
	bw->types = NULL;
	bw->active = NULL;
	bw->plans[0] = bw->plans[1] = NULL;
	bw->chain = NULL;
	bw->exhaust = NULL;
	bw->weigh = NULL;
	bw->prepared = false;
}
