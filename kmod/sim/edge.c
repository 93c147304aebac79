// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edges: fabrics joined by fibres. An edge names its peer: a fabric's UUID and an edge
 * there. Two edges that name each other are joined while both fabrics are powered, in
 * either order. One lock guards all fabrics with edges, so the tracer follows light from
 * one fabric into the other without a second lock.
 */
#include <linux/slab.h>

#include "sim.h"

static DEFINE_SPINLOCK(edge_lock);
static LIST_HEAD(edge_hardware);	/* of sim_hardware.edge_node; edge_lock */

/* Parse a word of "peer": a UUID for all edges without one, or "edge=uuid" for one edge. */
static int read_peer(struct sim_hardware *hw, const char *word)
{
	const struct sim_optics *o = &hw->optics;
	const char *text = strchr(word, '=');
	u32 first = 0, last = o->edges_count;
	unsigned int edge;
	uuid_t uuid;
	u32 i;

	if (text && (sscanf(word, "%u=", &edge) != 1 || edge >= o->edges_count)) {
		dev_err(&hw->instance->dev, "peer: '%s': no such edge, the fabric has %u\n", word,
			o->edges_count);
		return -EINVAL;
	}
	if (text) {
		first = edge;
		last = edge + 1;
	}
	if (uuid_parse(text ? text + 1 : word, &uuid)) {
		dev_err(&hw->instance->dev, "peer: '%s' is not <uuid> or <edge>=<uuid>\n", word);
		return -EINVAL;
	}
	for (i = first; i < last; i++)
		if (text || !memchr_inv(o->edges[i].peer_uuid, 0, sizeof(o->edges[i].peer_uuid)))
			export_uuid(o->edges[i].peer_uuid, &uuid);
	return 0;
}

/* Parse the peers and choose the lock of the hardware, before its first use. */
int sim_edges_init(struct sim_hardware *hw)
{
	char *text, *rest, *word;
	int err = 0;

	INIT_LIST_HEAD(&hw->edge_node);
	if (hw->optics.edges_count)
		hw->lock = &edge_lock;
	if (!hw->config->peer[0])
		return 0;
	if (hw->config->clock != SIM_CLOCK_REAL) {
		dev_err(&hw->instance->dev, "peer: joining fabrics requires the real clock\n");
		return -EINVAL;
	}
	text = kstrdup(hw->config->peer, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	rest = text;
	while (!err && (word = strsep(&rest, " ,\n")))
		if (*word)
			err = read_peer(hw, word);
	kfree(text);
	return err;
}

static bool names(const struct sim_edge *edge, const struct sim_hardware *peer, u32 peer_edge)
{
	return edge->peer_edge == peer_edge &&
	       !memcmp(edge->peer_uuid, peer->uuid, sizeof(edge->peer_uuid));
}

/* The powered device at the other side of an edge, if it names this one in turn. */
static struct sim_hardware *find_peer(struct sim_hardware *hw, u32 index)
{
	const struct sim_edge *edge = &hw->optics.edges[index];
	struct sim_hardware *peer;

	list_for_each_entry(peer, &edge_hardware, edge_node)
		if (edge->peer_edge < peer->optics.edges_count &&
		    names(edge, peer, edge->peer_edge) &&
		    names(&peer->optics.edges[edge->peer_edge], hw, index))
			return peer;
	return NULL;
}

/* Join or part an edge and its peer. Receivers behind both may lose or get light. */
static void set_joined(struct sim_hardware *hw, u32 index, struct sim_hardware *peer, bool joined)
{
	struct sim_edge *edge = &hw->optics.edges[index];
	struct sim_edge *other = &peer->optics.edges[edge->peer_edge];

	sim_change_begin(hw);
	sim_change_begin(peer);
	sim_touch_guide(hw, edge->guide >> 1);
	sim_touch_guide(peer, other->guide >> 1);
	edge->peer = joined ? &peer->optics : NULL;
	other->peer = joined ? &hw->optics : NULL;
	hw->joined += joined ? 1 : -1;
	peer->joined += joined ? 1 : -1;
	sim_change_end(hw);
	sim_change_end(peer);
}

/* The device is on: join its edges to powered peers. */
void sim_edges_join(struct sim_hardware *hw)
{
	struct sim_hardware *peer;
	unsigned long flags;
	u32 i;

	if (!hw->optics.edges_count || hw->config->clock != SIM_CLOCK_REAL)
		return;
	spin_lock_irqsave(hw->lock, flags);
	list_add_tail(&hw->edge_node, &edge_hardware);
	for (i = 0; i < hw->optics.edges_count; i++) {
		peer = hw->optics.edges[i].peer ? NULL : find_peer(hw, i);
		if (peer)
			set_joined(hw, i, peer, true);
	}
	spin_unlock_irqrestore(hw->lock, flags);
}

/* The device loses power: its peers get no light from it and no longer find it. */
void sim_edges_part(struct sim_hardware *hw)
{
	unsigned long flags;
	u32 i;

	if (!hw->optics.edges_count)
		return;
	spin_lock_irqsave(hw->lock, flags);
	list_del_init(&hw->edge_node);
	for (i = 0; i < hw->optics.edges_count; i++)
		if (hw->optics.edges[i].peer)
			set_joined(hw, i, container_of(hw->optics.edges[i].peer,
						       struct sim_hardware, optics), false);
	spin_unlock_irqrestore(hw->lock, flags);
}
