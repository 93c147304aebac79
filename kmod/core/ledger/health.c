// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marks of hardware, which exclude it from new paths, and the things that a mark affects: paths, or
 * the rank of a slice. Callers hold fabric->lock.
 */
#include "core/base/base.h"
#include "core/ledger/ledger.h"

u32 morph_part_count(const struct morph_fabric *fabric, u32 part)
{
	switch (part) {
	case MORPH_PART_ACCELERATOR:
		return fabric->graph->accelerators_count;
	case MORPH_PART_LASER:
	case MORPH_PART_RECEIVER:
		return fabric->graph->ports_count;
	case MORPH_PART_ELEMENT:
		return fabric->graph->elements_count;
	case MORPH_PART_GUIDE:
		return fabric->graph->guides_count;
	}
	return 0;
}

bool morph_part_exists(const struct morph_fabric *fabric, u32 part, u32 index)
{
	return index < morph_part_count(fabric, part);
}

int morph_health_check_part(struct morph_fabric *fabric, u32 part, u32 index,
			    struct morph_refusal *refusal)
{
	u32 count = morph_part_count(fabric, part);

	if (!count)
		return morph_refuse_numbers(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, part,
					    index, 0, part,
					    "part must be 1 (accelerator), 2 (laser), 3 (receiver), 4 (element) or 5 (guide), not {need}");
	return index < count ? 0 : morph_refuse_index(refusal, part, index, count);
}

/* --------------------------------------------------------------------- read */

static u32 marks_health(u8 marks)
{
	if (!(marks & OPTICS_UNHEALTHY))
		return MORPH_HEALTH_OK;
	return marks & MORPH_MARK_QUARANTINED ? MORPH_HEALTH_QUARANTINED : MORPH_HEALTH_FAILED;
}

u32 morph_health_marked(struct morph_fabric *fabric, u32 part, u32 index)
{
	const struct optics_state *state = ledger_of(fabric)->state;

	switch (part) {
	case MORPH_PART_ACCELERATOR:
		return ledger_of(fabric)->chips[index].health;
	case MORPH_PART_LASER:
		return state->tx_dead[index] ? MORPH_HEALTH_FAILED : MORPH_HEALTH_OK;
	case MORPH_PART_RECEIVER:
		return state->rx_dead[index] ? MORPH_HEALTH_FAILED : MORPH_HEALTH_OK;
	case MORPH_PART_ELEMENT:
		return marks_health(state->element_marks[index]);
	case MORPH_PART_GUIDE:
		return marks_health(state->guide_marks[index]);
	}
	return MORPH_HEALTH_OK;
}

bool morph_health_cordoned(struct morph_fabric *fabric, u32 part, u32 index)
{
	switch (part) {
	case MORPH_PART_ACCELERATOR:
		return ledger_of(fabric)->chips[index].cordoned;
	case MORPH_PART_ELEMENT:
		return ledger_of(fabric)->state->element_marks[index] & OPTICS_CORDONED;
	case MORPH_PART_GUIDE:
		return ledger_of(fabric)->state->guide_marks[index] & OPTICS_CORDONED;
	}
	return false;
}

/* ----------------------------------------------------------------- affected */

/* Routes through an element are on the lists of the guides at its ports. */
static void find_affected(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			  struct morph_affected *affected)
{
	const struct optics_graph *graph = fabric->graph;
	const struct optics_element *element;
	const struct morph_chip *chip;
	u32 index = culprit->index;

	*affected = (struct morph_affected){ .fabric = fabric, .count = 1, .lanes = ~0ULL };
	switch (culprit->part) {
	case MORPH_PART_ACCELERATOR:
		affected->count = 0;
		chip = &ledger_of(fabric)->chips[index];
		if (morph_chip_use(chip) != MORPH_USE_HELD || chip->rank == MORPH_ANY ||
		    chip->slice->ranks[chip->rank].accelerator != index)
			break;
		affected->slice = chip->slice;
		affected->rank = chip->rank;
		break;
	case MORPH_PART_LASER:
		affected->codes = &graph->tx_guide[index];
		affected->lanes = culprit->lanes ? culprit->lanes : graph->all_lanes;
		break;
	case MORPH_PART_RECEIVER:
		affected->codes = &graph->rx_guide[index];
		affected->lanes = culprit->lanes ? culprit->lanes : graph->all_lanes;
		break;
	case MORPH_PART_ELEMENT:
		element = &graph->elements[index];
		affected->codes = &graph->port_guide[element->first_port];
		affected->count = graph->kinds[element->kind].ports;
		break;
	case MORPH_PART_GUIDE:
		affected->guide = index << 1;
		affected->codes = &affected->guide;
		break;
	}
}

struct morph_route *morph_affected_next(struct morph_affected *affected)
{
	struct hlist_node *node = affected->link ? affected->link->node.next : NULL;
	u32 code;

	lockdep_assert_held(&affected->fabric->lock);
	for (;;) {
		while (!node && affected->count) {
			code = *affected->codes++;
			affected->count--;
			if (code != OPTICS_NONE)
				node = ledger_of(affected->fabric)->guide_routes[code >> 1].first;
		}
		affected->link = hlist_entry_safe(node, struct morph_link, node);
		if (!affected->link || affected->link->route->path.lanes & affected->lanes)
			break;
		node = node->next;
	}
	return affected->link ? affected->link->route : NULL;
}

/* ---------------------------------------------------------------------- set */

static void mark_accelerator(struct morph_fabric *fabric, u32 index, u32 health)
{
	struct morph_chip *chip = &ledger_of(fabric)->chips[index];

	ledger_of(fabric)->failed += (int)(health != MORPH_HEALTH_OK) -
				     (int)(chip->health != MORPH_HEALTH_OK);
	chip->health = health;
	morph_chip_update(fabric, index);
}

static void set_marks(struct morph_fabric *fabric, u8 *marks, u32 health)
{
	bool was_ok = !(*marks & OPTICS_UNHEALTHY);

	*marks &= ~(OPTICS_UNHEALTHY | MORPH_MARK_QUARANTINED);
	if (health != MORPH_HEALTH_OK)
		*marks |= OPTICS_UNHEALTHY;
	if (health == MORPH_HEALTH_QUARANTINED)
		*marks |= MORPH_MARK_QUARANTINED;
	ledger_of(fabric)->impaired += (int)(health != MORPH_HEALTH_OK) - (int)!was_ok;
}

static void set_lanes(struct morph_fabric *fabric, u64 *dead, u64 lanes, u32 health)
{
	bool was_ok = !*dead;

	if (!lanes)
		lanes = fabric->graph->all_lanes;
	if (health == MORPH_HEALTH_OK)
		*dead &= ~lanes;
	else
		*dead |= lanes;
	ledger_of(fabric)->impaired += (int)(*dead != 0) - (int)!was_ok;
}

void morph_health_mark(struct morph_fabric *fabric, const struct morph_culprit *culprit, u32 health,
		       struct morph_affected *affected)
{
	struct optics_state *state = ledger_of(fabric)->state;
	u32 index = culprit->index;

	lockdep_assert_held(&fabric->lock);
	ledger_of(fabric)->marks_seq++;
	switch (culprit->part) {
	case MORPH_PART_ACCELERATOR:
		mark_accelerator(fabric, index, health);
		break;
	case MORPH_PART_LASER:
		set_lanes(fabric, &state->tx_dead[index], culprit->lanes, health);
		break;
	case MORPH_PART_RECEIVER:
		set_lanes(fabric, &state->rx_dead[index], culprit->lanes, health);
		break;
	case MORPH_PART_ELEMENT:
		set_marks(fabric, &state->element_marks[index], health);
		break;
	case MORPH_PART_GUIDE:
		set_marks(fabric, &state->guide_marks[index], health);
		break;
	}
	find_affected(fabric, culprit, affected);
}

void morph_health_mark_cordon(struct morph_fabric *fabric, const struct morph_culprit *part,
			      bool cordon, struct morph_affected *affected)
{
	u8 *marks;

	lockdep_assert_held(&fabric->lock);
	find_affected(fabric, part, affected);
	ledger_of(fabric)->marks_seq++;
	if (part->part == MORPH_PART_ACCELERATOR) {
		ledger_of(fabric)->chips[part->index].cordoned = cordon;
		morph_chip_update(fabric, part->index);
		return;
	}
	marks = part->part == MORPH_PART_ELEMENT ?
			&ledger_of(fabric)->state->element_marks[part->index] :
			&ledger_of(fabric)->state->guide_marks[part->index];
	if (cordon)
		*marks |= OPTICS_CORDONED;
	else
		*marks &= ~OPTICS_CORDONED;
}
