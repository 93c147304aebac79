// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control and inspection of a device, below /sys/kernel/debug/morph_sim/<instance>.
 * Documentation/sim.rst describes the files. None of this is an ABI.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "sim.h"

#define LINE_BYTES	256

static struct dentry *root;

/* Take a line from user space and hand it to @act under the control mutex. */
static ssize_t line_write(struct file *file, const char __user *user, size_t bytes,
			  int (*act)(struct sim_hardware *hw, char *line))
{
	struct seq_file *seq = file->private_data;
	struct sim_hardware *hw = seq->private;
	char line[LINE_BYTES];
	int err;

	if (bytes >= sizeof(line))
		return -E2BIG;
	if (copy_from_user(line, user, bytes))
		return -EFAULT;
	line[bytes] = '\0';
	mutex_lock(&hw->control_mutex);
	hw->refusal.text[0] = '\0';
	err = act(hw, line);
	mutex_unlock(&hw->control_mutex);
	return err ?: bytes;
}

/* Let a stepped clock advance by a number of ns. */
static int advance_line(struct sim_hardware *hw, char *line)
{
	u64 ns;

	if (kstrtou64(strim(line), 0, &ns) || ns > SIM_MAX_NS) {
		snprintf(hw->refusal.text, sizeof(hw->refusal.text),
			 "must be a number of ns, at most %llu", SIM_MAX_NS);
		return -EINVAL;
	}
	if (hw->config->clock == SIM_CLOCK_REAL) {
		snprintf(hw->refusal.text, sizeof(hw->refusal.text),
			 "the clock is real; a stepped clock is required");
		return -EOPNOTSUPP;
	}
	sim_advance_to(hw, sim_now(hw) + ns);
	return 0;
}

/* Call the hook for the shutdown of the machine. */
static int shutdown_line(struct sim_hardware *hw, char *line)
{
	struct device *dev = &hw->instance->dev;

	dev->bus->shutdown(dev);
	return 0;
}

/* Call the hook for the end of a suspend. */
static int resume_line(struct sim_hardware *hw, char *line)
{
	struct device *dev = &hw->instance->dev;

	return dev->bus->pm->resume ? dev->bus->pm->resume(dev) : -EOPNOTSUPP;
}

static int fault_show(struct seq_file *file, void *unused)
{
	sim_faults_show(file->private, file);
	return 0;
}

static int knobs_show(struct seq_file *file, void *unused)
{
	sim_knobs_show(file);
	return 0;
}

static int log_show(struct seq_file *file, void *unused)
{
	sim_log_show(file->private, file);
	return 0;
}

static int dark_line(struct sim_hardware *hw, char *line)
{
	return sim_dark_begin(hw);
}

static int dark_show(struct seq_file *file, void *unused)
{
	sim_dark_show(file->private, file);
	return 0;
}

static int clock_show(struct seq_file *file, void *unused)
{
	const struct sim_hardware *hw = file->private;

	seq_printf(file, "%llu\n", sim_now(hw));
	return 0;
}

static int error_show(struct seq_file *file, void *unused)
{
	struct sim_hardware *hw = file->private;

	mutex_lock(&hw->control_mutex);
	if (hw->refusal.text[0])
		seq_printf(file, "%s\n", hw->refusal.text);
	mutex_unlock(&hw->control_mutex);
	return 0;
}

static int nothing_show(struct seq_file *file, void *unused)
{
	return 0;
}

static int ops_show(struct seq_file *file, void *unused)
{
	struct sim_hardware *hw = file->private;
	struct sim_counters counters;
	u64 operation, traces, visits;
	unsigned long flags;

	spin_lock_irqsave(hw->lock, flags);
	counters = hw->counters;
	operation = hw->calls[SIM_CALL_PROGRAM];
	traces = hw->optics.traces;
	visits = hw->optics.visits;
	spin_unlock_irqrestore(hw->lock, flags);
	seq_printf(file, "operation %llu\n", operation);
	seq_printf(file, "set_elements %llu\n", counters.set_elements);
	seq_printf(file, "get_elements %llu\n", counters.get_elements);
	seq_printf(file, "set_lasers %llu\n", counters.set_lasers);
	seq_printf(file, "get_lasers %llu\n", counters.get_lasers);
	seq_printf(file, "get_receivers %llu\n", counters.get_receivers);
	seq_printf(file, "probe %llu\n", counters.probes);
	seq_printf(file, "wait %llu\n", counters.waits);
	seq_printf(file, "elements_written %llu\n", counters.elements_written);
	seq_printf(file, "lasers_written %llu\n", counters.lasers_written);
	seq_printf(file, "receivers_read %llu\n", counters.receivers_read);
	seq_printf(file, "completed %llu\n", counters.completed);
	seq_printf(file, "in_flight %llu\n", counters.in_flight);
	seq_printf(file, "refused %llu\n", counters.refused);
	seq_printf(file, "signals %llu\n", counters.signals);
	seq_printf(file, "traces %llu\n", traces);
	seq_printf(file, "elements_visited %llu\n", visits);
	return 0;
}

/* A file: @show prints it, and @act executes each written line. */
#define LINE_FILE(name, show, act)						\
static int name##_open(struct inode *inode, struct file *file)			\
{										\
	return single_open(file, show, inode->i_private);			\
}										\
static ssize_t name##_write(struct file *file, const char __user *user,	\
			    size_t bytes, loff_t *position)			\
{										\
	return line_write(file, user, bytes, act);				\
}										\
static const struct file_operations name##_fops = {				\
	.owner = THIS_MODULE,							\
	.open = name##_open,							\
	.read = seq_read,							\
	.write = name##_write,							\
	.llseek = seq_lseek,							\
	.release = single_release,						\
}

LINE_FILE(fault, fault_show, sim_fault_line);
LINE_FILE(clear, nothing_show, sim_clear_line);
LINE_FILE(flip, nothing_show, sim_flip_line);
LINE_FILE(swap, nothing_show, sim_swap_line);
LINE_FILE(shutdown, nothing_show, shutdown_line);
LINE_FILE(resume, nothing_show, resume_line);
LINE_FILE(advance, clock_show, advance_line);
LINE_FILE(dark, dark_show, dark_line);
DEFINE_SHOW_ATTRIBUTE(knobs);
DEFINE_SHOW_ATTRIBUTE(log);
DEFINE_SHOW_ATTRIBUTE(clock);
DEFINE_SHOW_ATTRIBUTE(error);
DEFINE_SHOW_ATTRIBUTE(ops);

void sim_debugfs_add(struct sim_hardware *hw)
{
	struct dentry *dir = debugfs_create_dir(dev_name(&hw->instance->dev), root);

	hw->debugfs = dir;
	debugfs_create_file("fault", 0600, dir, hw, &fault_fops);
	debugfs_create_file("clear", 0600, dir, hw, &clear_fops);
	debugfs_create_file("flip", 0600, dir, hw, &flip_fops);
	debugfs_create_file("swap", 0600, dir, hw, &swap_fops);
	debugfs_create_file("shutdown", 0600, dir, hw, &shutdown_fops);
	debugfs_create_file("resume", 0600, dir, hw, &resume_fops);
	debugfs_create_file("advance", 0600, dir, hw, &advance_fops);
	debugfs_create_file("knobs", 0400, dir, hw, &knobs_fops);
	debugfs_create_file("log", 0400, dir, hw, &log_fops);
	debugfs_create_file("dark", 0600, dir, hw, &dark_fops);
	debugfs_create_file("clock", 0400, dir, hw, &clock_fops);
	debugfs_create_file("error", 0400, dir, hw, &error_fops);
	debugfs_create_file("ops", 0400, dir, hw, &ops_fops);
	debugfs_create_file("hardware", 0400, dir, hw, &sim_dump_fops);
}

void sim_debugfs_init(void)
{
	root = debugfs_create_dir("morph_sim", NULL);
}

void sim_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
