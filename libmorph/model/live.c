// SPDX-License-Identifier: LGPL-2.1-or-later
/* A ledger filled from the fabric's kernel. */
#include "live.h"

void lm_live_free(struct live *live)
{
	morph_list_free(live->accelerators);
	morph_list_free(live->guides);
	morph_list_free(live->elements);
	morph_list_free(live->hardware);
	morph_list_free(live->reservations);
	morph_list_free(live->circuits);
	morph_list_free(live->slices);
	memset(live, 0, sizeof(*live));
}

static int read_lists(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller, bool slices,
		      struct live *live)
{
	int error = morph_admin_list(ctx, MORPH_OBJECT_ACCELERATOR, fabric, MORPH_ANY,
				     &live->accelerators);

	if (!error)
		error = morph_admin_list(ctx, MORPH_OBJECT_GUIDE, fabric, MORPH_ANY, &live->guides);
	if (!error)
		error = morph_admin_list(ctx, MORPH_OBJECT_ELEMENT, fabric, MORPH_ANY,
					 &live->elements);
	if (!error)
		error = morph_admin_list(ctx, MORPH_OBJECT_HARDWARE, fabric, MORPH_ANY,
					 &live->hardware);
	if (!error && controller)
		error = morph_admin_list(ctx, MORPH_OBJECT_RESERVATION, fabric, controller,
					 &live->reservations);
	if (!error && (controller || slices))
		error = morph_admin_list(ctx, MORPH_OBJECT_CIRCUIT, fabric, MORPH_ANY,
					 &live->circuits);
	if (!error && slices)
		error = morph_admin_list(ctx, MORPH_OBJECT_SLICE, fabric, MORPH_ANY, &live->slices);
	return error;
}

/* Check that the fabric has the model's profile, and read its publish counter. */
static int read_seq(struct morph_ledger *ledger, uint32_t fabric, uint64_t *seq)
{
	struct morph_object *info = NULL;
	int error = morph_admin_get(ledger->ctx, MORPH_OBJECT_FABRIC, fabric, MORPH_ANY, 0, &info);

	if (!error) {
		*seq = morph_object_uint(info, "seq");
		error = morph_model_check(ledger->ctx, ledger->model, info);
	}
	morph_object_free(info);
	return error;
}

int lm_live_read(struct morph_ledger *ledger, uint32_t fabric, uint32_t controller, bool slices,
		 struct live *live)
{
	uint64_t before = 0, after = 0;
	int error;

	for (int attempt = 0; attempt < LM_RETRIES; attempt++) {
		lm_live_free(live);
		error = read_seq(ledger, fabric, &before);
		if (!error)
			error = read_lists(ledger->ctx, fabric, controller, slices, live);
		if (!error)
			error = read_seq(ledger, fabric, &after);
		if (error || before == after)
			return error;
	}
	return lm_fail(ledger->ctx, EAGAIN,
		       "read the use of fabric %u: it changed during each of %d tries", fabric,
		       LM_RETRIES);
}

/* -------------------------------------------------------------------- take over */

static bool unusable(uint32_t health, uint32_t cordoned)
{
	return health != MORPH_HEALTH_OK || cordoned;
}

/* The kernel has one entry for each part of the profile. */
static int check_count(struct morph_ledger *ledger, const char *what, const struct morph_list *list,
		       uint32_t count)
{
	if (morph_list_count(list) == count)
		return 0;
	return lm_fail(ledger->ctx, EPROTO, "the kernel has %zu %s, the profile has %u",
		       morph_list_count(list), what, count);
}

static int take_accelerators(struct morph_ledger *ledger, const struct morph_list *list)
{
	int error = check_count(ledger, "accelerators", list, ledger->graph->accelerators_count);

	for (size_t at = 0; at < morph_list_count(list) && !error; at++) {
		const struct morph_object *it = morph_list_get(list, at);
		uint32_t id = morph_object_uint(it, "id"), use = morph_object_uint(it, "use");
		uint32_t slice = morph_object_uint(it, "slice");
		bool held = use == MORPH_USE_HELD || use == MORPH_USE_DRAINING;

		error = morph_ledger_hold(ledger, id, !held ? 0 : slice ? slice : UINT32_MAX);
		if (!error)
			error = morph_ledger_set_spare(ledger, id, use == MORPH_USE_SPARE);
		if (!error)
			error = morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, id,
						  unusable(morph_object_uint(it, "health"),
							   morph_object_uint(it, "cordoned")));
	}
	return error;
}

static int take_guides(struct morph_ledger *ledger, const struct morph_list *list)
{
	int error = check_count(ledger, "guides", list, ledger->graph->guides_count);

	for (size_t at = 0; at < morph_list_count(list) && !error; at++) {
		const struct morph_object *it = morph_list_get(list, at);
		uint32_t id = morph_object_uint(it, "id");

		error = morph_ledger_load(ledger, id,
					  morph_object_uint(it, "lanes") &
						  ~morph_object_uint(it, "lanes-free"));
		if (!error)
			error = morph_ledger_mark(ledger, MORPH_PART_GUIDE, id,
						  unusable(morph_object_uint(it, "health"),
							   morph_object_uint(it, "cordoned")));
	}
	return error;
}

/* An element that no claim pins counts as parked. */
static int take_elements(struct morph_ledger *ledger, const struct morph_list *list)
{
	const struct optics_graph *graph = ledger->graph;
	int error = check_count(ledger, "elements", list, graph->elements_count);

	for (size_t at = 0; at < morph_list_count(list) && !error; at++) {
		const struct morph_object *it = morph_list_get(list, at);
		uint32_t id = morph_object_uint(it, "id"), state = morph_object_uint(it, "state");
		uint32_t pins = morph_object_uint(it, "pins");

		error = morph_ledger_mark(ledger, MORPH_PART_ELEMENT, id,
					  unusable(morph_object_uint(it, "health"),
						   morph_object_uint(it, "cordoned")));
		if (error)
			break;
		if (state >= graph->kinds[graph->elements[id].kind].states)
			return lm_fail(
				ledger->ctx, EPROTO,
				"element %u is in state %u, the profile has %u states for it", id,
				state, graph->kinds[graph->elements[id].kind].states);
		optics_set_state(ledger->state, id, state);
		ledger->state->element_pins[id] = pins;
		ledger->element_held[id] = pins && graph->elements[id].tile == OPTICS_NONE;
	}
	return error;
}

/* The health of accelerators, guides and elements is in their own lists. */
static int take_hardware(struct morph_ledger *ledger, const struct morph_list *list)
{
	const struct optics_graph *graph = ledger->graph;
	struct optics_state *state = ledger->state;

	memset(state->tx_dead, 0, graph->ends_count * sizeof(*state->tx_dead));
	memset(state->rx_dead, 0, graph->ends_count * sizeof(*state->rx_dead));
	for (size_t at = 0; at < morph_list_count(list); at++) {
		const struct morph_object *it = morph_list_get(list, at);
		uint32_t part = morph_object_uint(it, "part"),
			 index = morph_object_uint(it, "index");

		if ((part != MORPH_PART_LASER && part != MORPH_PART_RECEIVER) ||
		    !unusable(morph_object_uint(it, "health"), morph_object_uint(it, "cordoned")))
			continue;
		if (index >= graph->ports_count)
			return lm_fail(ledger->ctx, EPROTO,
				       "the kernel has port %u, the profile has %u ports", index,
				       graph->ports_count);
		(part == MORPH_PART_LASER ? state->tx_dead : state->rx_dead)[index] =
			graph->all_lanes;
	}
	return 0;
}

/* The lanes of a guide that circuits use. */
static uint64_t lit_lanes(const struct morph_list *circuits, uint32_t guide)
{
	uint64_t lanes = 0;

	for (size_t at = 0; at < morph_list_count(circuits); at++) {
		const struct morph_object *it = morph_list_get(circuits, at);

		for (size_t hop = 0; hop < morph_object_values(it, "guide"); hop++)
			if (lm_object_uint_at(it, "guide", hop) == guide)
				lanes |= morph_object_uint(it, "lanes");
	}
	return lanes;
}

static int open_reserved(struct morph_ledger *ledger, const struct live *live)
{
	int error = 0;

	for (size_t at = 0; at < morph_list_count(live->reservations) && !error; at++) {
		const struct morph_object *it = morph_list_get(live->reservations, at);
		uint32_t guide = morph_object_uint(it, "guide");
		uint64_t mine = morph_object_uint(it, "lanes") & ~lit_lanes(live->circuits, guide);
		uint64_t taken = guide < ledger->graph->guides_count ? ledger->guide_lanes[guide] :
								       0;

		error = morph_ledger_load(ledger, guide, taken & ~mine);
	}
	return error;
}

int lm_live_take(struct morph_ledger *ledger, const struct live *live)
{
	int error = take_accelerators(ledger, live->accelerators);

	if (!error)
		error = take_guides(ledger, live->guides);
	if (!error)
		error = take_elements(ledger, live->elements);
	if (!error)
		error = take_hardware(ledger, live->hardware);
	if (!error)
		error = open_reserved(ledger, live);
	return error;
}

MORPH_API int morph_ledger_read(struct morph_ledger *ledger, uint32_t fabric, uint32_t controller)
{
	struct live live = { .accelerators = NULL };
	int error = lm_ledger_state(ledger);

	if (!error)
		error = lm_live_read(ledger, fabric, controller, false, &live);
	if (!error)
		error = lm_live_take(ledger, &live);
	lm_live_free(&live);
	return error;
}
