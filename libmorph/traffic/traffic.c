// SPDX-License-Identifier: LGPL-2.1-or-later
/* Building a traffic problem, and reading its solution. */
#include <math.h>

#include "traffic.h"

#define MOST_LINKS 1024
#define MOST_PATHS (1U << 20)

MORPH_API struct morph_traffic *morph_traffic_new(struct morph_ctx *ctx)
{
	struct morph_traffic *te = calloc(1, sizeof(*te));

	if (!te) {
		lm_no_memory(ctx, "create a traffic problem");
		return NULL;
	}
	te->ctx = ctx;
	return te;
}

MORPH_API void morph_traffic_free(struct morph_traffic *te)
{
	if (!te)
		return;
	free(te->capacities.list);
	free(te->demands.list);
	free(te->paths.list);
	free(te->links.list);
	free(te->prices);
	free(te->loads);
	free(te->memory);
	free(te->turns.list);
	free(te->room.list);
	free(te->wanting.list);
	free(te->left.list);
	lm_te_servers_free(te->servers);
	free(te);
}

#define GROW(te, array, more) ARRAY_GROW((te)->ctx, (te)->array, more, "add to a traffic problem")

static int check_number(struct morph_traffic *te, double number, const char *what)
{
	if (isfinite(number) && number >= 0)
		return 0;
	return lm_fail(te->ctx, EINVAL, "%s is %g; must be a number, 0 or more", what, number);
}

int morph_traffic_add_link(struct morph_traffic *te, double capacity)
{
	int error = check_number(te, capacity, "a link's capacity");

	if (!error && te->capacities.count == MOST_LINKS)
		error = lm_fail(te->ctx, E2BIG, "a traffic problem has at most %d links",
				MOST_LINKS);
	if (!error)
		error = GROW(te, capacities, 1);
	if (error)
		return error;
	te->capacities.list[te->capacities.count] = capacity;
	return (int)te->capacities.count++;
}

MORPH_API int morph_traffic_add_demand(struct morph_traffic *te, double amount, double weight)
{
	int error = check_number(te, amount, "a demand's amount");

	if (!error && !(isfinite(weight) && weight > 0))
		error = lm_fail(te->ctx, EINVAL,
				"the weight of a demand is %g; must be a number above 0", weight);
	if (!error && te->demands.count == MOST_PATHS)
		error = lm_fail(te->ctx, E2BIG, "a traffic problem has at most %u demands",
				MOST_PATHS);
	if (!error)
		error = GROW(te, demands, 1);
	if (error)
		return error;
	te->demands.list[te->demands.count] = (struct te_demand){
		.amount = amount,
		.weight = weight,
		.first = UINT32_MAX,
	};
	return (int)te->demands.count++;
}

int lm_te_check_demand(const struct morph_traffic *te, uint32_t demand)
{
	if (demand < te->demands.count)
		return 0;
	return lm_fail(te->ctx, ENOENT, "no demand %u: %u were added", demand, te->demands.count);
}

static int check_path(struct morph_traffic *te, uint32_t demand, const uint32_t *links,
		      size_t count)
{
	int error = lm_te_check_demand(te, demand);

	if (error)
		return error;
	if (count > MORPH_TRAFFIC_HOPS)
		return lm_fail(te->ctx, E2BIG, "a path has %zu links, at most %d are possible",
			       count, MORPH_TRAFFIC_HOPS);
	if (te->paths.count == MOST_PATHS)
		return lm_fail(te->ctx, E2BIG, "a traffic problem has at most %u paths",
			       MOST_PATHS);
	for (size_t at = 0; at < count; at++) {
		if (links[at] >= te->capacities.count)
			return lm_fail(te->ctx, ENOENT, "no link %u: %u were added", links[at],
				       te->capacities.count);
		for (size_t other = 0; other < at; other++)
			if (links[other] == links[at])
				return lm_fail(te->ctx, EINVAL, "a path lists link %u twice",
					       links[at]);
	}
	return 0;
}

int morph_traffic_add_path(struct morph_traffic *te, uint32_t demand, const uint32_t *links,
			   size_t count)
{
	int error = check_path(te, demand, links, count);

	if (!error)
		error = GROW(te, paths, 1);
	if (!error)
		error = GROW(te, links, (uint32_t)count);
	if (error)
		return error;
	te->paths.list[te->paths.count] = (struct te_path){
		.demand = demand,
		.next = te->demands.list[demand].first,
		.first = te->links.count,
		.count = (uint32_t)count,
	};
	if (count)
		memcpy(te->links.list + te->links.count, links, count * sizeof(*links));
	te->links.count += (uint32_t)count;
	te->demands.list[demand].first = te->paths.count;
	if (++te->demands.list[demand].paths > te->most_paths)
		te->most_paths = te->demands.list[demand].paths;
	return (int)te->paths.count++;
}

int morph_traffic_set_capacity(struct morph_traffic *te, uint32_t link, double capacity)
{
	int error = check_number(te, capacity, "a link's capacity");

	if (!error && link >= te->capacities.count)
		error = lm_fail(te->ctx, ENOENT, "no link %u: %u were added", link,
				te->capacities.count);
	if (!error)
		te->capacities.list[link] = capacity;
	return error;
}

int morph_traffic_set_amount(struct morph_traffic *te, uint32_t demand, double amount)
{
	int error = check_number(te, amount, "a demand's amount");

	if (!error)
		error = lm_te_check_demand(te, demand);
	if (!error)
		te->demands.list[demand].amount = amount;
	return error;
}

double morph_traffic_capacity(const struct morph_traffic *te, uint32_t link)
{
	return link < te->capacities.count ? te->capacities.list[link] : 0;
}

double morph_traffic_flow(const struct morph_traffic *te, uint32_t path)
{
	return path < te->paths.count ? te->paths.list[path].flow : 0;
}

double morph_traffic_price(const struct morph_traffic *te, uint32_t link)
{
	return link < te->solved_links ? te->prices[link] : 0;
}

double morph_traffic_load(const struct morph_traffic *te, uint32_t link)
{
	return link < te->solved_links ? te->loads[link] : 0;
}

/* May part @number of @count be read into a structure of the caller? 0 or a noted errno. */
static int check_read(const struct morph_traffic *te, const void *out, size_t known,
		      const char *type, const char *part, uint32_t number, uint32_t count)
{
	int ret = lm_opts_check(te->ctx, out, known, type);

	if (!ret && number >= count)
		ret = lm_fail(te->ctx, ENOENT, "no %s %u: %u were added", part, number, count);
	return ret;
}

MORPH_API int morph_traffic_link(const struct morph_traffic *te, uint32_t link,
				 struct morph_traffic_link *out)
{
	struct morph_traffic_link info = { .sz = sizeof(info) };
	int ret = check_read(te, out, sizeof(info), "morph_traffic_link", "link", link,
			     te->capacities.count);

	if (ret)
		return ret;
	info.src_host = info.dst_host = MORPH_ANY;
	if (te->servers)
		lm_te_link_ends(te->servers, link, &info.src_host, &info.dst_host);
	info.capacity = morph_traffic_capacity(te, link);
	info.load = morph_traffic_load(te, link);
	info.price = morph_traffic_price(te, link);
	lm_answer_copy(out, &info, sizeof(info));
	return 0;
}

MORPH_API int morph_traffic_path(const struct morph_traffic *te, uint32_t path,
				 struct morph_traffic_path *out)
{
	struct morph_traffic_path info = { .sz = sizeof(info) };
	int ret = check_read(te, out, sizeof(info), "morph_traffic_path", "path", path,
			     te->paths.count);

	if (ret)
		return ret;
	info.flow = morph_traffic_flow(te, path);
	info.count = morph_traffic_path_links(te, path, &info.links);
	lm_answer_copy(out, &info, sizeof(info));
	return 0;
}
