// SPDX-License-Identifier: GPL-2.0-only
/* Open and close fabrics for tests. */
#include "maker.h"

#include <stdio.h>

static void fabric_finish(struct fabric *fabric, u32 steps)
{
	struct optics_refusal refusal;
	s64 bytes = optics_graph_bytes(fabric->blob, fabric->bytes, &refusal);

	if (bytes > 0) {
		fabric->graph_block = malloc((size_t)bytes);
		fabric->graph = optics_graph_build(fabric->graph_block, fabric->blob, fabric->bytes,
						   &refusal);
	}
	if (!fabric->graph) {
		printf("Bail out! profile refused at byte %lld\n", (long long)refusal.have);
		exit(1);
	}
	fabric->state =
		optics_state_init(malloc((size_t)optics_state_bytes(fabric->graph)), fabric->graph);
	fabric->steps = steps;
	fabric->work = malloc((size_t)optics_route_bytes(steps));
	memset(fabric->work, 0xa5, (size_t)optics_route_bytes(steps));
}

void fabric_open(struct fabric *fabric, u32 steps)
{
	fabric->graph = NULL;
	fabric->blob = maker_blob(&fabric->maker, &fabric->bytes);
	fabric_finish(fabric, steps);
}

bool fabric_open_file(struct fabric *fabric, const char *name, u32 steps)
{
	FILE *file = fopen(name, "rb");
	long bytes;

	memset(fabric, 0, sizeof(*fabric));
	if (!file)
		return false;
	fseek(file, 0, SEEK_END);
	bytes = ftell(file);
	rewind(file);
	fabric->bytes = (u64)bytes;
	fabric->blob = malloc((size_t)bytes);
	if (fread(fabric->blob, 1, (size_t)bytes, file) != (size_t)bytes)
		abort();
	fclose(file);
	fabric_finish(fabric, steps);
	return true;
}

void fabric_close(struct fabric *fabric)
{
	maker_free(&fabric->maker);
	free(fabric->blob);
	free(fabric->graph_block);
	free(fabric->state);
	free(fabric->work);
}

void fabric_own_all(struct fabric *fabric, u32 owner)
{
	u32 i;

	for (i = 0; i < fabric->graph->accelerators_count + fabric->graph->edges_count; i++)
		fabric->state->owner[i] = owner;
}

struct optics_view fabric_view(const struct fabric *fabric)
{
	return optics_state_view(fabric->state);
}

struct optics_route_request fabric_request(const struct fabric *fabric, u32 tx, u32 rx, u32 lanes)
{
	struct optics_route_request request = {
		.tx_accelerator = tx,
		.rx_accelerator = rx,
		.tx_planes = ~0ull,
		.rx_planes = ~0ull,
		.lanes_allowed = ~0ull,
		.lanes_count = lanes,
		.owner = fabric->state->owner[tx],
		.steps = fabric->steps,
	};

	return request;
}

void fabric_route(struct fabric *fabric, const struct optics_route_request *request,
		  struct route *route)
{
	memset(route, 0, sizeof(*route));
	route->path.hops = route->hops;
	route->error = optics_route(fabric->state, request, fabric->work, &route->path,
				    &route->steps, &route->refusal);
}

void unbound_open(struct unbound *unbound, const struct fabric *fabric)
{
	const struct optics_graph *graph = fabric->graph;
	u32 i;

	unbound->slack = calloc(2ull * graph->guides_count, sizeof(*unbound->slack));
	unbound->arcs = calloc(graph->arcs_count + 1, sizeof(*unbound->arcs));
	for (i = 0; i < graph->arcs_count; i++) {
		unbound->arcs[i].from = graph->arcs[i].from;
		unbound->arcs[i].next = graph->arcs[i].next;
	}
	unbound->graph = *graph;
	unbound->graph.slack = unbound->slack;
	unbound->graph.arcs = unbound->arcs;
	unbound->state = *fabric->state;
	unbound->state.graph = &unbound->graph;
}

void unbound_close(struct unbound *unbound)
{
	free(unbound->slack);
	free(unbound->arcs);
}
