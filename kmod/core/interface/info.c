// SPDX-License-Identifier: GPL-2.0-only
/* The records that describe a fabric and its hardware, for the device file and for netlink. */
#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"

void morph_fabric_fill_info(struct morph_fabric *fabric, struct morph_fabric_info *info)
{
	const struct optics_graph *graph = fabric->graph;

	lockdep_assert_held(&fabric->lock);
	info->abi_version = MORPH_ABI_VERSION;
	info->fabric = fabric->id;
	memcpy(info->uuid, fabric->uuid, sizeof(info->uuid));
	strscpy(info->name, fabric->name, sizeof(info->name));
	strscpy(info->profile, graph->params.name, sizeof(info->profile));
	info->profile_checksum = graph->params.checksum;
	info->features = fabric->simulated ? MORPH_FABRIC_SIMULATED : 0;
	info->state = fabric->state;
	info->accelerators = graph->accelerators_count;
	info->hosts = graph->hosts_count;
	info->elements = graph->elements_count;
	info->guides = graph->guides_count;
	info->planes = graph->params.planes;
	info->wavelengths = graph->params.wavelengths;
	info->edges = graph->edges_count;
	info->free = ledger_of(fabric)->free;
	info->spares = ledger_of(fabric)->spares;
	info->lent = ledger_of(fabric)->lent;
	info->slices = ledger_of(fabric)->slices_count;
	info->lane_mbps = graph->params.lane_mbps;
	info->settle_ns = graph->params.settle_ns;
	info->relock_ns = graph->params.relock_ns;
	info->seq = fabric->seq;
}

void morph_accelerator_fill_info(struct morph_fabric *fabric, u32 index,
				 struct morph_accelerator_info *info)
{
	const struct optics_accelerator *place = &fabric->graph->accelerators[index];
	const struct morph_chip *chip = &ledger_of(fabric)->chips[index];

	lockdep_assert_held(&fabric->lock);
	info->accelerator = index;
	info->host = place->host;
	info->x = place->x;
	info->y = place->y;
	info->z = place->z;
	info->use = morph_chip_use(chip);
	info->health = chip->health;
	info->cordoned = chip->cordoned;
	memcpy(info->pci, chip->identity.pci, sizeof(info->pci));
	memcpy(info->uuid, chip->identity.uuid, sizeof(info->uuid));
	info->last_verified_ns = chip->last_verified_ns;
}

void morph_guide_fill_info(struct morph_fabric *fabric, u32 index, struct morph_guide_info *info)
{
	const struct optics_guide *guide = &fabric->graph->guides[index];

	lockdep_assert_held(&fabric->lock);
	info->guide = index;
	info->type = guide->class;
	info->health = morph_health_get(fabric, MORPH_PART_GUIDE, index);
	info->cordoned = morph_health_cordoned(fabric, MORPH_PART_GUIDE, index);
	info->lanes = fabric->graph->all_lanes;
	info->lanes_free = fabric->graph->all_lanes &
			   ~optics_guide_taken(ledger_of(fabric)->state, index);
	info->loss_mdb = guide->loss_mdb;
}

void morph_element_fill_info(struct morph_fabric *fabric, u32 index,
			     struct morph_element_info *info)
{
	lockdep_assert_held(&fabric->lock);
	info->element = index;
	info->tile = fabric->graph->elements[index].tile;
	info->state = morph_hw_state(fabric, index);
	info->health = morph_health_get(fabric, MORPH_PART_ELEMENT, index);
	info->cordoned = morph_health_cordoned(fabric, MORPH_PART_ELEMENT, index);
	info->pins = ledger_of(fabric)->state->element_pins[index];
}

void morph_edge_fill_info(struct morph_fabric *fabric, u32 index, struct morph_edge_info *info)
{
	const struct optics_graph *graph = fabric->graph;
	u32 end = optics_edge_end(graph, index);

	lockdep_assert_held(&fabric->lock);
	info->edge = index;
	info->guide = graph->tx_guide[end] >> 1;
	memcpy(info->peer_uuid, fabric->peers[index], sizeof(info->peer_uuid));
	info->peer_edge = le32_to_cpu(graph->edges[index].peer_edge);
	info->least_mdbm = optics_edge_least(graph, index);
	info->most_mdbm = optics_edge_most(graph, index);
	info->lanes_out = ledger_of(fabric)->state->rx_lanes[end];
	info->lanes_in = ledger_of(fabric)->state->tx_lanes[end];
	strscpy(info->name, graph->edges[index].name, sizeof(info->name));
}
