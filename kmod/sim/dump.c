// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file "hardware": all physical state, one line for each object, for checkers
 * that trust neither the core nor this tracer. Documentation/sim.rst has the format.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "sim.h"

/* The groups of lines. A file position numbers the lines of all groups. */
enum group { HEAD, ACCELERATORS, ELEMENTS, GUIDES, LASERS, RECEIVERS, EDGES, GROUPS };

static u32 group_lines(const struct sim_hardware *hw, enum group group)
{
	const struct sim_optics *o = &hw->optics;

	switch (group) {
	case HEAD:
		return 1;
	case ACCELERATORS:
		return o->accelerators_count;
	case ELEMENTS:
		return o->elements_count;
	case GUIDES:
		return o->guides_count;
	case EDGES:
		return o->edges_count;
	default:
		return o->ports_count;
	}
}

static void *dump_start(struct seq_file *file, loff_t *position)
{
	const struct sim_hardware *hw = file->private;
	loff_t lines = 0;
	enum group group;

	for (group = HEAD; group < GROUPS; group++)
		lines += group_lines(hw, group);
	return *position < lines ? position : NULL;
}

static void *dump_next(struct seq_file *file, void *unused, loff_t *position)
{
	++*position;
	return dump_start(file, position);
}

static void dump_stop(struct seq_file *file, void *unused)
{
}

static void show_head(struct sim_hardware *hw, struct seq_file *file)
{
	const struct sim_optics *o = &hw->optics;

	seq_printf(file, "profile %s %08x\n", o->name, o->checksum);
	seq_printf(file, "clock %llu seed %llu operation %llu\n", sim_now(hw), o->seed,
		   hw->calls[SIM_CALL_PROGRAM]);
}

static void show_element(struct sim_hardware *hw, struct seq_file *file, u32 index)
{
	const struct sim_element *e = &hw->optics.elements[index];
	u64 now = sim_now(hw);

	seq_printf(file, "element %u state %u drift_mdb %d", index, e->state,
		   sim_drift_mdb(&hw->optics, index, now));
	if (e->settled_at > now)
		seq_printf(file, " from %u settles_ns %llu", e->previous, e->settled_at - now);
	seq_putc(file, '\n');
}

static void show_laser(struct sim_hardware *hw, struct seq_file *file, u32 port)
{
	const struct sim_transmitter *tx = &hw->optics.transmitters[port];

	if (!tx->on && !tx->dead && !tx->weak)
		return;
	seq_printf(file, "laser %u on 0x%llx emits 0x%llx weak 0x%llx weak_mdb %u\n", port, tx->on,
		   tx->on & ~tx->dead, tx->weak, tx->weak_mdb);
}

/* The powers on @lanes that the tracer has found. */
static void show_powers(const struct sim_optics *o, struct seq_file *file, u64 lanes)
{
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = __ffs64(lanes);

		if (o->light->total[lane])
			seq_printf(file, " %u:%d", lane, sim_mdbm(o->light->total[lane]));
	}
	seq_putc(file, '\n');
}

/* The light that arrives at an edge from the peer. */
static void show_edge(struct sim_hardware *hw, struct seq_file *file, u32 edge)
{
	struct sim_optics *o = &hw->optics;

	sim_trace_edge(o, edge, sim_now(hw));
	seq_printf(file, "edge %u %s power", edge, o->edges[edge].peer ? "joined" : "open");
	show_powers(o, file, o->all_lanes);
}

static void show_receiver(struct sim_hardware *hw, struct seq_file *file, u32 port)
{
	struct sim_optics *o = &hw->optics;
	struct sim_reading reading;
	u64 lanes;

	sim_receive(o, port, o->all_lanes, sim_now(hw), false, &reading);
	for (lanes = o->all_lanes; lanes; lanes &= lanes - 1)
		if (o->light->total[__ffs64(lanes)])
			break;
	if (!lanes && !o->receivers[port].deaf)
		return;
	seq_printf(file, "receiver %u lit 0x%llx locked 0x%llx%s power", port, reading.lit,
		   reading.locked, o->receivers[port].deaf ? " deaf" : "");
	show_powers(o, file, lanes);
}

static int dump_show(struct seq_file *file, void *position)
{
	struct sim_hardware *hw = file->private;
	const struct sim_optics *o = &hw->optics;
	loff_t index = *(loff_t *)position;
	enum group group = HEAD;
	unsigned long flags;

	while (index >= group_lines(hw, group))
		index -= group_lines(hw, group++);
	spin_lock_irqsave(hw->lock, flags);
	switch (group) {
	case HEAD:
		show_head(hw, file);
		break;
	case ACCELERATORS:
		seq_printf(file, "accelerator %lld alive %d\n", index,
			   o->accelerators[index].alive);
		break;
	case ELEMENTS:
		show_element(hw, file, index);
		break;
	case GUIDES:
		if (o->guides[index].extra_mdb)
			seq_printf(file, "guide %lld extra_mdb %u\n", index,
				   o->guides[index].extra_mdb);
		break;
	case LASERS:
		show_laser(hw, file, index);
		break;
	case EDGES:
		show_edge(hw, file, index);
		break;
	default:
		show_receiver(hw, file, index);
		break;
	}
	spin_unlock_irqrestore(hw->lock, flags);
	return 0;
}

static const struct seq_operations dump_ops = {
	.start = dump_start,
	.next = dump_next,
	.stop = dump_stop,
	.show = dump_show,
};

static int dump_open(struct inode *inode, struct file *file)
{
	int err = seq_open(file, &dump_ops);

	if (!err)
		((struct seq_file *)file->private_data)->private = inode->i_private;
	return err;
}

const struct file_operations sim_dump_fops = {
	.owner = THIS_MODULE,
	.open = dump_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release,
};
