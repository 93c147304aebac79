// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a profile. The simulator's reader must accept exactly the profiles that kmod/optics
 * accepts. With an accepted profile, routing between all ports must work.
 */
#include "fuzz.h"
#include "maker.h"
#include "simprofile.h"

#define STEPS 256u
#define MOST_PAIRS 64u
#define MOST_BYTES (64u << 10)

static void route_all(const struct optics_graph *graph)
{
	struct optics_state *state = optics_state_init(malloc(optics_state_bytes(graph)), graph);
	u32 all = graph->accelerators_count, pairs = 0;
	struct fabric fabric = { .graph = graph, .state = state, .steps = STEPS };

	fabric.work = malloc(optics_route_bytes(STEPS));
	fabric_own_all(&fabric, 1);
	for (u32 from = 0; from < all; from++)
		for (u32 to = 0; to < all && pairs < MOST_PAIRS; to++) {
			struct optics_route_request request = fabric_request(&fabric, from, to, 1);
			struct optics_view view = fabric_view(&fabric);
			struct optics_verdict verdict;
			struct route route;

			pairs++;
			fabric_route(&fabric, &request, &route);
			if (route.error)
				continue;
			MUST(!optics_claim(state, &route.path, &route.refusal));
			optics_validate(&view, &route.path, 1, 1, false, &verdict, &route.refusal);
			/*
			 * the router's path is valid, though its light may be too weak or too
			 * strong
			 */
			MUST(route.refusal.reason == OPTICS_OK ||
			     route.refusal.reason == OPTICS_MARGIN ||
			     route.refusal.reason == OPTICS_OVERLOAD);
			optics_release(state, &route.path);
		}
	free(fabric.work);
	free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct morph_profile_header *header;
	const struct optics_graph *graph = NULL;
	struct optics_refusal refusal = { 0 };
	char why[SIMPROFILE_WHY] = "";
	void *block = NULL;
	bool accepted;
	s64 bytes;
	u8 *blob;

	if (size > MOST_BYTES)
		return 0;
	blob = malloc(size);
	memcpy(blob, data, size);
	if (size >= sizeof(*header)) {
		header = (void *)blob;
		header->total_bytes = htole64(size);
		profile_seal(blob, size);
	}
	bytes = optics_graph_bytes(blob, size, &refusal);
	if (bytes > 0) {
		block = malloc((size_t)bytes);
		graph = optics_graph_build(block, blob, size, &refusal);
	}
	if (!graph)
		MUST(refusal.reason == OPTICS_BAD_PROFILE);
	accepted = simprofile_accepts(blob, size, why);
	if (accepted != !!graph) {
		fprintf(stderr, "optics %s at byte %lld, the simulator says: %s\n",
			graph ? "accepts" : "refuses", (long long)refusal.have, why);
		abort();
	}
	if (graph)
		route_all(graph);
	free(block);
	free(blob);
	return 0;
}
