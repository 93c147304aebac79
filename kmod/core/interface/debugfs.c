// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: /sys/kernel/debug/morph/fabricN/, for driver developers. No ABI, and read only except
 * for the file holds of builds with HOLDS=y. Each file is filled under fabric->lock, so that its
 * lines are consistent.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"

static struct dentry *morph_debugfs_root;

/* ------------------------------------------------------------------- ledger */

static u32 count_marked(const u8 *marks, u32 count, u8 mark)
{
	u32 sum = 0, i;

	for (i = 0; i < count; i++)
		sum += !!(marks[i] & mark);
	return sum;
}

static u64 count_lanes(const u64 *lanes, u32 count)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < count; i++)
		sum += optics_weight64(lanes[i]);
	return sum;
}

static int ledger_show(struct seq_file *file, void *unused)
{
	struct morph_fabric *fabric = file->private;
	const struct optics_graph *graph = fabric->graph;
	const struct optics_state *ledger;
	u32 pinned = 0, i;
	u64 pins = 0;

	mutex_lock(&fabric->lock);
	ledger = ledger_of(fabric)->state;
	for (i = 0; i < graph->elements_count; i++) {
		pinned += !!ledger->element_pins[i];
		pins += ledger->element_pins[i];
	}
	seq_printf(file, "seq                 %llu\n", fabric->seq);
	seq_printf(file, "elements            %u\n", graph->elements_count);
	seq_printf(file, "elements pinned     %u\n", pinned);
	seq_printf(file, "pins                %llu\n", pins);
	seq_printf(file, "elements unhealthy  %u\n",
		   count_marked(ledger->element_marks, graph->elements_count, OPTICS_UNHEALTHY));
	seq_printf(file, "elements held       %u\n",
		   count_marked(ledger->element_marks, graph->elements_count, OPTICS_HELD));
	seq_printf(file, "elements cordoned   %u\n",
		   count_marked(ledger->element_marks, graph->elements_count, OPTICS_CORDONED));
	seq_printf(file, "guides              %u\n", graph->guides_count);
	seq_printf(file, "guides unhealthy    %u\n",
		   count_marked(ledger->guide_marks, graph->guides_count, OPTICS_UNHEALTHY));
	seq_printf(file, "guides cordoned     %u\n",
		   count_marked(ledger->guide_marks, graph->guides_count, OPTICS_CORDONED));
	seq_printf(file, "guide lanes held    %llu\n",
		   count_lanes(ledger->guide_lanes, graph->guides_count));
	seq_printf(file, "lanes reserved      %llu\n",
		   count_lanes(ledger->guide_reserved, graph->guides_count));
	seq_printf(file, "transmit lanes held %llu\n",
		   count_lanes(ledger->tx_lanes, graph->ends_count));
	seq_printf(file, "transmit lanes on   %llu\n",
		   count_lanes(hardware_of(fabric)->tx_on, graph->ports_count));
	seq_printf(file, "receive lanes held  %llu\n",
		   count_lanes(ledger->rx_lanes, graph->ends_count));
	seq_printf(file, "elements visited    %llu\n", ledger->elements_visited);
	seq_printf(file, "lanes visited       %llu\n", ledger->lanes_visited);
	mutex_unlock(&fabric->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ledger);

/* ------------------------------------------------------------- guide_routes */

static const char role_letters[] = {
	[MORPH_ROUTE_IDLE] = '-',
	[MORPH_ROUTE_LIVE] = 'L',
	[MORPH_ROUTE_SHADOW] = 'S',
	[MORPH_ROUTE_PROTECTION] = 'P',
	[MORPH_ROUTE_HELD] = 'H',
};

/* One line for each guide that a route or a protection uses. */
static int guide_routes_show(struct seq_file *file, void *unused)
{
	struct morph_fabric *fabric = file->private;
	const struct morph_link *link;
	u32 guide;

	seq_puts(file, "# guide, lanes held, routes: role (Live, Shadow, Plan, Held plan), slice, circuit or rank, lanes\n");
	mutex_lock(&fabric->lock);
	for (guide = 0; guide < fabric->graph->guides_count; guide++) {
		if (hlist_empty(&ledger_of(fabric)->guide_routes[guide]))
			continue;
		seq_printf(file, "%u %#llx", guide, ledger_of(fabric)->state->guide_lanes[guide]);
		hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node) {
			const struct morph_route *route = link->route;

			seq_printf(file, " %c", role_letters[route->role]);
			if (route->protection)
				seq_printf(file, ":slice%u:rank%u",
					   route->protection->slice->number,
					   route->protection->rank);
			else if (route->circuit)
				seq_printf(file, ":slice%u:circuit%u",
					   route->circuit->slice->number, route->circuit->id);
			seq_printf(file, ":%#llx", route->path.lanes);
		}
		seq_putc(file, '\n');
	}
	mutex_unlock(&fabric->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(guide_routes);

/* --------------------------------------------------------------- operations */

static int operations_show(struct seq_file *file, void *unused)
{
	struct morph_fabric *fabric = file->private;
	const struct morph_op *op;
	u32 i;

	spin_lock_irq(&hardware_of(fabric)->op_lock);
	seq_printf(file, "last id %llu\n", hardware_of(fabric)->last_op);
	for (i = 0; i < ARRAY_SIZE(hardware_of(fabric)->ops_in_flight); i++)
		hlist_for_each_entry(op, &hardware_of(fabric)->ops_in_flight[i], node)
			if (atomic64_read(&op->cookie))
				seq_printf(file, "cookie %lld result bytes %zu\n",
					   atomic64_read(&op->cookie), op->bytes);
	spin_unlock_irq(&hardware_of(fabric)->op_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(operations);

/* -------------------------------------------------------------- protections */

static const char *const plan_names[] = {
	[MORPH_PLAN_NONE] = "none",
	[MORPH_PLAN_STALE] = "stale",
	[MORPH_PLAN_CURRENT] = "current",
	[MORPH_PLAN_RESERVED] = "reserved",
};

static int plans_show(struct seq_file *file, void *unused)
{
	struct morph_fabric *fabric = file->private;
	const struct morph_slice *slice;
	u32 rank;

	seq_puts(file, "# slice, rank, accelerator, plan, spare\n");
	mutex_lock(&fabric->lock);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		for (rank = 0; rank < slice->ranks_count; rank++) {
			const struct morph_protection *protection = rank_protection(slice, rank);

			seq_printf(file, "%u %u %u %s", slice->number, rank,
				   slice->ranks[rank].accelerator,
				   plan_names[morph_protection_state(protection)]);
			if (protection->spare != MORPH_ANY)
				seq_printf(file, " %u", protection->spare);
			seq_putc(file, '\n');
		}
	}
	mutex_unlock(&fabric->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(plans);

/* -------------------------------------------------------------------- stats */

static const char *const stat_names[] = {
	[MORPH_STAT_PUBLISHES] = "publishes",
	[MORPH_STAT_COMMITTED] = "committed",
	[MORPH_STAT_ROLLED_BACK] = "rolled-back",
	[MORPH_STAT_BROKEN] = "broken",
	[MORPH_STAT_REFUSED] = "refused",
	[MORPH_STAT_REVOKED] = "revoked",
	[MORPH_STAT_EXPIRED] = "expired",
	[MORPH_STAT_FAILOVERS] = "failovers",
	[MORPH_STAT_FAILOVERS_FAILED] = "failovers-failed",
	[MORPH_STAT_PLANS_USED] = "plans-used",
	[MORPH_STAT_PLANS_INLINE] = "plans-inline",
	[MORPH_STAT_REROUTES] = "reroutes",
	[MORPH_STAT_ROUTE_STEPS] = "route-steps",
	[MORPH_STAT_PROVIDER_OPS] = "provider-ops",
	[MORPH_STAT_PROVIDER_ERRORS] = "provider-errors",
	[MORPH_STAT_PROVIDER_TIMEOUTS] = "provider-timeouts",
	[MORPH_STAT_LATE_COMPLETIONS] = "late-completions",
	[MORPH_STAT_SIGNALS] = "signals",
	[MORPH_STAT_SIGNALS_LOST] = "signals-lost",
	[MORPH_STAT_EVENTS] = "events",
	[MORPH_STAT_EVENTS_LOST] = "events-lost",
	[MORPH_STAT_PATROLS] = "patrols",
	[MORPH_STAT_CONTROLLERS_EXPIRED] = "controllers-expired",
	[MORPH_STAT_RESERVATIONS] = "reservations",
	[MORPH_STAT_RESERVATION_CONFLICTS] = "reservation-conflicts",
	[MORPH_STAT_STEPS_JUDGED] = "steps-judged",
};

static int stats_show(struct seq_file *file, void *unused)
{
	struct morph_fabric *fabric = file->private;
	u32 stat;

	BUILD_BUG_ON(ARRAY_SIZE(stat_names) != MORPH_STAT_COUNT);
	for (stat = 0; stat < MORPH_STAT_COUNT; stat++)
		seq_printf(file, "%-18s %lld\n", stat_names[stat],
			   atomic64_read(&fabric->stats[stat]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

/* ---------------------------------------------------------- background work */

/* Running and queued background work, except patrol; all zero: the core is idle. */
static int rest_show(struct seq_file *file, void *unused)
{
	struct morph_fabric *fabric = file->private;
	u32 signals, plans = 0;
	struct list_head *node;

	mutex_lock(&fabric->lock);
	spin_lock_irq(&recovery_of(fabric)->signal_lock);
	signals = slices_of(fabric)->signal_count;
	spin_unlock_irq(&recovery_of(fabric)->signal_lock);
	seq_printf(file, "signals    %u\n",
		   max_t(u32, signals, !!work_busy(&recovery_of(fabric)->signal_work)));
	seq_printf(file, "urgent     %d\n", atomic_read(&slices_of(fabric)->urgent));
	seq_printf(file, "recoveries %d\n", !!work_busy(&recovery_of(fabric)->recover_work.work));
	list_for_each(node, &slices_of(fabric)->stale_protections)
		plans++;
	seq_printf(file, "plans      %u\n", plans);
	seq_printf(file, "tests      %u\n", slices_of(fabric)->testing);
	mutex_unlock(&fabric->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rest);

/* -------------------------------------------------------- add and remove */

/* Call after registration. After the removal of a file, debugfs starts no more reads of it. */
void morph_debugfs_add(struct morph_fabric *fabric)
{
	interface_of(fabric)->debugfs =
		debugfs_create_dir(dev_name(&fabric->dev), morph_debugfs_root);
	debugfs_create_file("ledger", 0400, interface_of(fabric)->debugfs, fabric, &ledger_fops);
	debugfs_create_file("guide_routes", 0400, interface_of(fabric)->debugfs, fabric,
			    &guide_routes_fops);
	debugfs_create_file("operations", 0400, interface_of(fabric)->debugfs, fabric,
			    &operations_fops);
	debugfs_create_file("plans", 0400, interface_of(fabric)->debugfs, fabric, &plans_fops);
	debugfs_create_file("rest", 0400, interface_of(fabric)->debugfs, fabric, &rest_fops);
	debugfs_create_file("stats", 0400, interface_of(fabric)->debugfs, fabric, &stats_fops);
	morph_holds_add_file(fabric, interface_of(fabric)->debugfs);
}

void morph_debugfs_remove(struct morph_fabric *fabric)
{
	debugfs_remove_recursive(interface_of(fabric)->debugfs);
	interface_of(fabric)->debugfs = NULL;
}

void morph_debugfs_init(void)
{
	morph_debugfs_root = debugfs_create_dir("morph", NULL);
}

void morph_debugfs_exit(void)
{
	debugfs_remove_recursive(morph_debugfs_root);
}
