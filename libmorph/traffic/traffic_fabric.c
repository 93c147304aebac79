// SPDX-License-Identifier: LGPL-2.1-or-later
/* The traffic problem of a fabric. A link is all fibres from one server to another. */
#include "../place/place.h"
#include "traffic.h"

#define LONGER 2 /* hops that a path can have more than the shortest one */

struct te_servers {
	uint32_t hosts, guides_count, count; /* links, which are the first ones of the problem */
	struct te_link {
		uint32_t from, to;
	} * links; /* by the server that they leave */
	uint32_t *first; /* by host, and one more */
	uint32_t *link; /* by guide; OPTICS_NONE: no link */
};

void lm_te_servers_free(struct te_servers *servers)
{
	if (!servers)
		return;
	free(servers->links);
	free(servers->first);
	free(servers->link);
	free(servers);
}

/* Whether a fibre is usable, regardless of who uses it. */
static bool sound(const struct morph_ledger *ledger, const struct strand *strand)
{
	const struct optics_guide *guide = &ledger->graph->guides[strand->guides[0] >> 1];

	return !ledger->guide_marked[strand->guides[0] >> 1] &&
	       !ledger->element_marked[guide->end[0].index] &&
	       !ledger->element_marked[guide->end[1].index];
}

/* One link for each pair of servers. The list of fibres is sorted by pair. */
static int add_links(struct morph_traffic *te, struct te_servers *servers,
		     const struct morph_ledger *ledger)
{
	const struct sites *sites = &ledger->sites;
	double lanes = ledger->graph->params.wavelengths, capacity = 0;
	struct te_link *links = servers->links;
	uint32_t host = 0;
	int ret = 0;

	for (uint32_t at = 0; at < sites->strands_count && ret >= 0; at++) {
		const struct strand *strand = &sites->strands[at];
		struct te_link *last = servers->count ? &links[servers->count - 1] : NULL;

		/* This planner does not use paths over circuit switches. */
		if (strand->guides_count > 1)
			continue;
		if (!last || last->from != strand->from || last->to != strand->to) {
			while (host <= strand->from)
				servers->first[host++] = servers->count;
			links[servers->count++] = (struct te_link){ strand->from, strand->to };
			capacity = 0;
			ret = morph_traffic_add_link(te, 0);
		}
		servers->link[strand->guides[0] >> 1] = servers->count - 1;
		capacity += sound(ledger, strand) ? lanes : 0;
		if (ret >= 0)
			ret = morph_traffic_set_capacity(te, servers->count - 1, capacity);
	}
	while (host <= servers->hosts)
		servers->first[host++] = servers->count;
	return ret;
}

MORPH_API int morph_traffic_add_servers(struct morph_traffic *te, const struct morph_ledger *ledger)
{
	struct te_servers *servers;
	int ret;

	if (te->capacities.count)
		return lm_fail(te->ctx, EINVAL, "the problem has %u links already",
			       te->capacities.count);
	servers = te->servers = calloc(1, sizeof(*servers));
	if (!servers)
		goto lack;
	servers->hosts = ledger->graph->hosts_count;
	servers->guides_count = ledger->graph->guides_count;
	servers->links = calloc(ledger->sites.strands_count + 1UL, sizeof(*servers->links));
	servers->first = calloc(servers->hosts + 1UL, sizeof(*servers->first));
	servers->link = malloc((servers->guides_count + 1UL) * sizeof(*servers->link));
	if (!servers->links || !servers->first || !servers->link)
		goto lack;
	memset(servers->link, 0xff, servers->guides_count * sizeof(*servers->link));
	ret = add_links(te, servers, ledger);
	if (ret < 0)
		goto forget;
	return (int)servers->count;
lack:
	ret = lm_no_memory(te->ctx, "add servers to a traffic problem");
forget:
	lm_te_servers_free(te->servers);
	te->servers = NULL;
	te->capacities.count = 0;
	return ret;
}

void lm_te_link_ends(const struct te_servers *servers, uint32_t link, uint32_t *src_host,
		     uint32_t *dst_host)
{
	if (link >= servers->count)
		return;
	*src_host = servers->links[link].from;
	*dst_host = servers->links[link].to;
}

int morph_traffic_link_ends(const struct morph_traffic *te, uint32_t link, uint32_t *src_host,
			    uint32_t *dst_host)
{
	if (!te->servers || link >= te->servers->count)
		return lm_fail(te->ctx, ENOENT, "link %u does not join servers", link);
	lm_te_link_ends(te->servers, link, src_host, dst_host);
	return 0;
}

MORPH_API int morph_traffic_guide_link(const struct morph_traffic *te, uint32_t guide)
{
	if (!te->servers || guide >= te->servers->guides_count ||
	    te->servers->link[guide] == OPTICS_NONE)
		return lm_fail(te->ctx, ENOENT, "guide %u is not a fibre between servers", guide);
	return (int)te->servers->link[guide];
}

/* ------------------------------------------------------------------------ ways */

/* A search for paths of one length. */
struct way_search {
	struct morph_traffic *te;
	uint32_t demand, target, most, found;
	uint32_t *distance; /* to the target, by host */
	bool *seen;
	uint32_t links[MORPH_TRAFFIC_HOPS], hops;
};

/* Hops from each server to the target: relax links backwards until no distance decreases. */
static void measure(const struct te_servers *servers, struct way_search *search)
{
	bool nearer = true;

	for (uint32_t host = 0; host < servers->hosts; host++)
		search->distance[host] = host == search->target ? 0 : UINT32_MAX - 1;
	while (nearer) {
		nearer = false;
		for (uint32_t at = 0; at < servers->count; at++) {
			const struct te_link *link = &servers->links[at];

			if (search->distance[link->to] + 1 >= search->distance[link->from])
				continue;
			search->distance[link->from] = search->distance[link->to] + 1;
			nearer = true;
		}
	}
}

/* All simple paths of @left more hops from @host, up to the requested number. */
static int extend(struct way_search *search, uint32_t host, uint32_t left)
{
	const struct te_servers *servers = search->te->servers;
	int ret = 0;

	if (!left) {
		ret = morph_traffic_add_path(search->te, search->demand, search->links,
					     search->hops);
		search->found++;
		return ret < 0 ? ret : 0;
	}
	search->seen[host] = true;
	for (uint32_t at = servers->first[host];
	     at < servers->first[host + 1] && search->found < search->most && !ret; at++) {
		uint32_t to = servers->links[at].to;

		if (search->seen[to] || search->distance[to] > left - 1 ||
		    (to == search->target && left > 1))
			continue;
		search->links[search->hops++] = at;
		ret = extend(search, to, left - 1);
		search->hops--;
	}
	search->seen[host] = false;
	return ret;
}

static int find_ways(struct way_search *search, uint32_t src_host)
{
	uint32_t least;
	int ret = 0;

	measure(search->te->servers, search);
	least = search->distance[src_host];
	if (least > MORPH_TRAFFIC_HOPS)
		return lm_fail(search->te->ctx, EHOSTUNREACH,
			       "no path of at most %d fibres leads from host %u to host %u",
			       MORPH_TRAFFIC_HOPS, src_host, search->target);
	for (uint32_t hops = least; hops <= least + LONGER && hops <= MORPH_TRAFFIC_HOPS && !ret &&
				    search->found < search->most;
	     hops++)
		ret = extend(search, src_host, hops);
	return ret ? ret : (int)search->found;
}

MORPH_API int morph_traffic_add_ways(struct morph_traffic *te, uint32_t demand, uint32_t src_host,
				     uint32_t dst_host, uint32_t most)
{
	struct way_search search = {
		.te = te, .demand = demand, .target = dst_host, .most = most ? most : 1
	};
	uint32_t hosts = te->servers ? te->servers->hosts : 0;
	int ret = lm_te_check_demand(te, demand);

	if (ret)
		return ret;
	if (src_host >= hosts || dst_host >= hosts || src_host == dst_host)
		return lm_fail(te->ctx, EINVAL,
			       "from host %u to host %u: must be two different hosts of %u",
			       src_host, dst_host, hosts);
	search.distance = calloc(hosts, sizeof(*search.distance));
	search.seen = calloc(hosts, sizeof(*search.seen));
	if (search.distance && search.seen)
		ret = find_ways(&search, src_host);
	else
		ret = lm_no_memory(te->ctx, "find paths between servers");
	free(search.distance);
	free(search.seen);
	return ret;
}

uint32_t morph_traffic_path_links(const struct morph_traffic *te, uint32_t path,
				  const uint32_t **links)
{
	if (path >= te->paths.count)
		return 0;
	*links = te->links.list + te->paths.list[path].first;
	return te->paths.list[path].count;
}
