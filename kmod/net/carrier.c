// SPDX-License-Identifier: GPL-2.0-only
/*
 * The carrier of a device: on while a lit circuit leads from its rank and another one to its rank.
 * It goes off only after a delay, so a change or a failover that ends earlier causes no flap.
 */
#include "net.h"

static bool is_lit(const struct net_rank *rank)
{
	return rank->out_lit && rank->in_lit;
}

void net_carrier_follow(struct net_slice *slice, u32 rank)
{
	struct net_port *port = rcu_dereference_protected(slice->ranks[rank].port,
							  lockdep_is_held(&slice->lock));
	bool lit = is_lit(&slice->ranks[rank]);
	unsigned long delay = 0;

	/* Do not extend the delay when further circuits go dark. */
	if (!port || lit == port->was_lit)
		return;
	port->was_lit = lit;
	if (!lit)
		delay = msecs_to_jiffies(READ_ONCE(port->carrier_delay_ms));
	mod_delayed_work(net_wq, &port->carrier_work, delay);
}

void net_carrier_work(struct work_struct *work)
{
	struct net_port *port = container_of(to_delayed_work(work), struct net_port, carrier_work);
	struct net_slice *slice = port->slice;
	bool lit;

	spin_lock(&slice->lock);
	lit = is_lit(&slice->ranks[port->rank]);
	spin_unlock(&slice->lock);
	if (lit)
		netif_carrier_on(port->dev);
	else
		netif_carrier_off(port->dev);
}
