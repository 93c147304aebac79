// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances: a bus of their own, a driver for it, and the module's parameters.
 *
 * A device on the bus is a socket; the driver's probe creates its hardware.
 * Unbinding through sysfs is hot removal; binding again is a new power-on.
 */
#include <linux/module.h>
#include <linux/pm.h>
#include <linux/slab.h>

#include "morph_version.h"
#include "sim.h"

#define MOST_PARAMETERS	16
#define NAME_MOST	31	/* as morph_fabric_desc allows */

static char *profile[MOST_PARAMETERS];
static int profiles_count;
module_param_array(profile, charp, &profiles_count, 0444);
MODULE_PARM_DESC(profile, "profiles of the instances sim0, sim1, ... to create at load");

static unsigned long long seed = 1;
module_param(seed, ullong, 0444);
MODULE_PARM_DESC(seed, "random seed (default: 1)");

static unsigned long long settle_ns = SIM_FROM_PROFILE;
module_param(settle_ns, ullong, 0444);
MODULE_PARM_DESC(settle_ns, "settle time instead of the profile's");

static unsigned long long relock_ns = SIM_FROM_PROFILE;
module_param(relock_ns, ullong, 0444);
MODULE_PARM_DESC(relock_ns, "relock time instead of the profile's");

static unsigned long long write_ns = SIM_FROM_PROFILE;
module_param(write_ns, ullong, 0444);
MODULE_PARM_DESC(write_ns, "time of a programming request instead of the profile's");

static unsigned long long monitor_ns;
module_param(monitor_ns, ullong, 0444);
MODULE_PARM_DESC(monitor_ns, "time from a loss to its alarm (default: 0)");

static struct device *parent;
static struct workqueue_struct *removals;
static struct sim_instance *instances[MOST_PARAMETERS];

const char * const sim_clock_names[] = {
	[SIM_CLOCK_REAL] = "real",
	[SIM_CLOCK_STEPPED] = "stepped",
	[SIM_CLOCK_SKIPPING] = "skipping",
	NULL,
};

static struct sim_instance *to_instance(struct device *dev)
{
	return container_of(dev, struct sim_instance, dev);
}

static int sim_probe(struct device *dev)
{
	struct sim_instance *instance = to_instance(dev);
	struct sim_hardware *hw = sim_hardware_create(instance);

	instance->probe_error = PTR_ERR_OR_ZERO(hw);
	if (IS_ERR(hw))
		return PTR_ERR(hw);
	instance->hardware = hw;
	return 0;
}

static void sim_remove(struct device *dev)
{
	struct sim_instance *instance = to_instance(dev);
	struct sim_hardware *hw = instance->hardware;

	instance->hardware = NULL;
	sim_hardware_destroy(hw);
}

static void sim_shutdown(struct device *dev)
{
	struct sim_instance *instance = to_instance(dev);

	if (instance->hardware)
		morph_fabric_shutdown(instance->hardware->fabric);
}

static int __maybe_unused sim_suspend(struct device *dev)
{
	struct sim_instance *instance = to_instance(dev);

	if (instance->hardware && morph_fabric_is_lit(instance->hardware->fabric)) {
		dev_notice(dev, "no suspend while a laser is on\n");
		return -EBUSY;
	}
	return 0;
}

/* The hardware has lost its power: each element wakes in the last of its states. */
static int __maybe_unused sim_resume(struct device *dev)
{
	struct sim_hardware *hw = to_instance(dev)->hardware;
	u32 i;

	if (!hw)
		return 0;
	for (i = 0; i < hw->optics.elements_count; i++)
		sim_flip(hw, i, hw->optics.kinds[hw->optics.elements[i].kind].states - 1);
	morph_fabric_resume(hw->fabric);
	return 0;
}

static SIMPLE_DEV_PM_OPS(sim_pm, sim_suspend, sim_resume);

/* Not constant: older kernels write to it. */
static struct
bus_type sim_bus = {
	.name = "morph_sim",
	.probe = sim_probe,
	.remove = sim_remove,
	.shutdown = sim_shutdown,
	.pm = &sim_pm,
};

static struct device_driver sim_driver = {
	.name = "morph_sim",
	.bus = &sim_bus,
	.owner = THIS_MODULE,
	.probe_type = PROBE_FORCE_SYNCHRONOUS,
};

static void instance_release(struct device *dev)
{
	kfree(to_instance(dev));
}

static void removal(struct work_struct *work)
{
	device_release_driver(&container_of(work, struct sim_instance, removal)->dev);
}

/* Schedule the removal of the device. From any context. */
void sim_instance_pull(struct sim_instance *instance)
{
	queue_work(removals, &instance->removal);
}

void sim_config_init(struct sim_config *config)
{
	memset(config, 0, sizeof(*config));
	config->seed = seed;
	config->settle_ns = settle_ns;
	config->relock_ns = relock_ns;
	config->write_ns = write_ns;
	config->monitor_ns = monitor_ns;
}

/* Names must be valid for devices, directories and fabrics. */
bool sim_name_legal(const char *name)
{
	static const char legal[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
	size_t length = strlen(name);

	return length && length <= NAME_MOST && strspn(name, legal) == length && name[0] != '.';
}

static int check_config(const char *name, const struct sim_config *config)
{
	struct device *other;

	if (!config->profile[0]) {
		pr_err("morph_sim: %s: the profile is missing\n", name);
		return -EINVAL;
	}
	other = bus_find_device_by_name(&sim_bus, NULL, name);
	if (other) {
		put_device(other);
		pr_err("morph_sim: an instance '%s' exists\n", name);
		return -EEXIST;
	}
	return 0;
}

/**
 * sim_instance_create() - make an instance and power it on
 * @name: legal name
 * @config: configuration, copied
 *
 * Return: the instance, bound and registered, or an error pointer.
 */
struct sim_instance *sim_instance_create(const char *name, const struct sim_config *config)
{
	struct sim_instance *instance;
	int err;

	err = check_config(name, config);
	if (err)
		return ERR_PTR(err);
	instance = kzalloc(sizeof(*instance), GFP_KERNEL);
	if (!instance)
		return ERR_PTR(-ENOMEM);
	instance->config = *config;
	instance->probe_error = -ENXIO;
	INIT_WORK(&instance->removal, removal);
	device_initialize(&instance->dev);
	instance->dev.bus = &sim_bus;
	instance->dev.parent = parent;
	instance->dev.release = instance_release;
	err = dev_set_name(&instance->dev, "%s", name) ?: device_add(&instance->dev);
	if (err) {
		put_device(&instance->dev);
		return ERR_PTR(err);
	}
	if (instance->probe_error) {
		err = instance->probe_error;
		sim_instance_destroy(instance);
		return ERR_PTR(err);
	}
	return instance;
}

void sim_instance_destroy(struct sim_instance *instance)
{
	device_del(&instance->dev);
	cancel_work_sync(&instance->removal);
	put_device(&instance->dev);
}

/* Whether the instance's hardware exists. */
bool sim_instance_live(struct sim_instance *instance)
{
	bool live;

	device_lock(&instance->dev);
	live = instance->hardware;
	device_unlock(&instance->dev);
	return live;
}

static void destroy_parameters(void)
{
	int i;

	for (i = 0; i < profiles_count; i++)
		if (instances[i])
			sim_instance_destroy(instances[i]);
}

/*
 * insmod prints -ENOENT as "unknown symbol in module", and -EINVAL as "invalid parameters". A
 * profile without a file is an invalid parameter.
 */
static int parameter_error(int err)
{
	return err == -ENOENT ? -EINVAL : err;
}

/* Create the instances of the module's parameters. */
static int create_parameters(void)
{
	struct sim_config *config = kmalloc(sizeof(*config), GFP_KERNEL);
	int i, err = 0;

	if (!config)
		return -ENOMEM;
	for (i = 0; i < profiles_count && !err; i++) {
		struct sim_instance *instance;
		char name[16];

		snprintf(name, sizeof(name), "sim%d", i);
		sim_config_init(config);
		if (strscpy(config->profile, profile[i], sizeof(config->profile)) < 0) {
			pr_err("morph_sim: profile '%s': the name is too long\n", profile[i]);
			err = -EINVAL;
			break;
		}
		instance = sim_instance_create(name, config);
		if (IS_ERR(instance)) {
			err = parameter_error(PTR_ERR(instance));
			pr_err("morph_sim: invalid parameter profile=%s: cannot create an instance (%ld)\n",
			       profile[i], PTR_ERR(instance));
			break;
		}
		instances[i] = instance;
	}
	kfree(config);
	if (err)
		destroy_parameters();
	return err;
}

static int register_bus(void)
{
	int err;

	parent = root_device_register("morph_sim");
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	err = bus_register(&sim_bus);
	if (err)
		goto err_parent;
	err = driver_register(&sim_driver);
	if (err)
		goto err_bus;
	return 0;

err_bus:
	bus_unregister(&sim_bus);
err_parent:
	root_device_unregister(parent);
	return err;
}

static void unregister_bus(void)
{
	driver_unregister(&sim_driver);
	bus_unregister(&sim_bus);
	root_device_unregister(parent);
}

static int __init sim_init(void)
{
	int err;

	removals = alloc_workqueue("morph_sim", 0, 0);
	if (!removals)
		return -ENOMEM;
	sim_debugfs_init();
	err = register_bus();
	if (err)
		goto err_debugfs;
	err = create_parameters();
	if (err)
		goto err_bus;
	err = sim_configfs_init();
	if (err)
		goto err_instances;
	return 0;

err_instances:
	destroy_parameters();
err_bus:
	unregister_bus();
err_debugfs:
	sim_debugfs_exit();
	destroy_workqueue(removals);
	return err;
}

static void __exit sim_exit(void)
{
	sim_configfs_exit();
	destroy_parameters();
	unregister_bus();
	sim_debugfs_exit();
	destroy_workqueue(removals);
}

module_init(sim_init);
module_exit(sim_exit);

MODULE_DESCRIPTION("morph: simulated photonic fabrics");
MODULE_LICENSE("GPL");
MODULE_VERSION(MORPH_VERSION);
