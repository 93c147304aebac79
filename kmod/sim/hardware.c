// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power on and off: build the hardware of an instance and register its fabric.
 */
#include <linux/debugfs.h>
#include <linux/firmware.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "sim.h"

static int load_profile(struct sim_hardware *hw, const struct firmware **firmware)
{
	struct device *dev = &hw->instance->dev;
	struct sim_refusal why = {};
	char path[64];
	int err;

	snprintf(path, sizeof(path), "morph/%s.bin", hw->config->profile);
	err = request_firmware(firmware, path, dev);
	if (err) {
		dev_err(dev, "no profile '%s': firmware file %s not found (%d)\n",
			hw->config->profile, path, err);
		return err;
	}
	err = sim_profile_read(&hw->optics, (*firmware)->data, (*firmware)->size, &why);
	if (err == -EINVAL)
		dev_err(dev, "profile '%s' refused: %s\n", hw->config->profile, why.text);
	if (err) {
		release_firmware(*firmware);
		*firmware = NULL;
	}
	return err;
}

/* Derive a UUID from a seed. It is stable, and marked as synthetic (version 8). */
static void seeded_uuid(u64 seed, u8 *uuid)
{
	u64 halves[2] = { sim_mix(seed), sim_mix(~seed) };
	u32 i;

	for (i = 0; i < 16; i++)
		uuid[i] = halves[i / 8] >> (8 * (i % 8));
	uuid[6] = (uuid[6] & 0x0f) | 0x80;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

static void fabric_uuid(struct sim_hardware *hw)
{
	const char *c = dev_name(&hw->instance->dev);
	u64 hash = 0;

	if (!uuid_is_null(&hw->config->uuid)) {
		export_uuid(hw->uuid, &hw->config->uuid);
		return;
	}
	for (; *c; c++)
		hash = sim_mix(hash ^ (u8)*c);
	seeded_uuid(hash, hw->uuid);
}

/* Parse "accelerator=address ...", the PCI addresses of accelerators. */
static int read_pci(struct sim_hardware *hw)
{
	struct device *dev = &hw->instance->dev;
	char *text, *rest, *word;
	int err = 0;

	text = kstrdup(hw->config->pci, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	rest = text;
	while (!err && (word = strsep(&rest, " ,\n"))) {
		unsigned int accelerator, domain, bus, slot, function;
		int length = 0;

		if (!*word)
			continue;
		if (sscanf(word, "%u=%x:%x:%x.%x%n", &accelerator, &domain, &bus, &slot, &function,
			   &length) != 5 || word[length] || domain > 0xffff || bus > 0xff ||
		    slot > 0x1f || function > 7 ||
		    accelerator >= hw->optics.accelerators_count) {
			dev_err(dev, "pci: '%s' is not <accelerator below %u>=<dddd:bb:ss.f>\n",
				word, hw->optics.accelerators_count);
			err = -EINVAL;
			break;
		}
		snprintf(hw->identities[accelerator].pci, sizeof(hw->identities[accelerator].pci),
			 "%04x:%02x:%02x.%x", domain, bus, slot, function);
	}
	kfree(text);
	return err;
}

static int make_identities(struct sim_hardware *hw)
{
	u64 seed = hw->config->seed;
	u32 i;

	hw->identities = kvcalloc(hw->optics.accelerators_count, sizeof(*hw->identities),
				  GFP_KERNEL);
	if (!hw->identities)
		return -ENOMEM;
	for (i = 0; i < 16; i++)
		seed = sim_mix(seed ^ hw->uuid[i]);
	for (i = 0; i < hw->optics.accelerators_count; i++)
		seeded_uuid(seed ^ sim_mix(i), hw->identities[i].uuid);
	return read_pci(hw);
}

static void override_times(struct sim_hardware *hw)
{
	const struct sim_config *config = hw->config;

	if (config->settle_ns != SIM_FROM_PROFILE)
		hw->optics.settle_ns = config->settle_ns;
	if (config->relock_ns != SIM_FROM_PROFILE)
		hw->optics.relock_ns = config->relock_ns;
	if (config->write_ns != SIM_FROM_PROFILE) {
		hw->optics.write_fixed_ns = config->write_ns;
		hw->optics.write_each_ns = 0;
	}
	hw->write_fixed_ns = hw->optics.write_fixed_ns;
	hw->write_each_ns = hw->optics.write_each_ns;
	hw->monitor_ns = config->monitor_ns;
	sim_set_seed(&hw->optics, config->seed);
}

static int allocate(struct sim_hardware *hw)
{
	const u32 ports = hw->optics.ports_count;
	int err;

	err = sim_change_init(hw);
	if (err)
		return err;
	hw->log = kvcalloc(SIM_LOG_ENTRIES, sizeof(*hw->log), GFP_KERNEL);
	hw->patrol_locked = kvcalloc(ports, sizeof(*hw->patrol_locked), GFP_KERNEL);
	hw->patrol_at = kvcalloc(ports, sizeof(*hw->patrol_at), GFP_KERNEL);
	return hw->log && hw->patrol_locked && hw->patrol_at ? 0 : -ENOMEM;
}

static bool times_are_overridden(const struct sim_config *config)
{
	return config->settle_ns != SIM_FROM_PROFILE || config->relock_ns != SIM_FROM_PROFILE ||
	       config->write_ns != SIM_FROM_PROFILE;
}

/* The peers of the edges, for the core; NULL without edges, or memory. */
static u8 (*edge_peers(const struct sim_optics *o))[16]
{
	u8 (*peers)[16] = kvcalloc(o->edges_count, sizeof(*peers), GFP_KERNEL);
	u32 i;

	for (i = 0; peers && i < o->edges_count; i++)
		memcpy(peers[i], o->edges[i].peer_uuid, sizeof(*peers));
	return peers;
}

/* The core waits for the times of the profile, so it gets a copy with the configured ones. */
static int register_fabric(struct sim_hardware *hw, const struct firmware *firmware)
{
	u8 (*peers)[16] = edge_peers(&hw->optics);
	struct morph_fabric_desc desc = {
		.name = dev_name(&hw->instance->dev),
		.profile = firmware->data,
		.profile_bytes = firmware->size,
		.simulated = true,
		.peers = peers,
	};
	void *changed = NULL;
	unsigned long flags;
	int err;

	memcpy(desc.uuid, hw->uuid, sizeof(desc.uuid));
	if (!peers)
		return -ENOMEM;
	if (times_are_overridden(hw->config)) {
		changed = kvmemdup(firmware->data, firmware->size, GFP_KERNEL);
		if (!changed) {
			kvfree(peers);
			return -ENOMEM;
		}
		sim_profile_set_times(changed, firmware->size, &hw->optics);
		desc.profile = changed;
	}
	err = morph_fabric_register(hw->fabric, &desc);
	kvfree(changed);
	kvfree(peers);
	if (err) {
		dev_err(&hw->instance->dev, "the core refused the fabric (%d)\n", err);
		return err;
	}
	spin_lock_irqsave(hw->lock, flags);
	hw->booting = false;
	spin_unlock_irqrestore(hw->lock, flags);
	return 0;
}

/* Free the requests in flight: they end with the device and never complete. */
static void free_queue(struct sim_hardware *hw)
{
	struct timerqueue_node *node;

	while ((node = timerqueue_getnext(&hw->queue))) {
		struct sim_event *event = container_of(node, struct sim_event, node);

		timerqueue_del(&hw->queue, node);
		if (event->type == SIM_EVENT_REQUEST)
			kvfree(container_of(event, struct sim_request, event));
	}
}

static void free_hardware(struct sim_hardware *hw)
{
	free_queue(hw);
	sim_fault_free(hw);
	kvfree(hw->patrol_at);
	kvfree(hw->patrol_locked);
	kvfree(hw->log);
	kvfree(hw->identities);
	sim_change_free(hw);
	sim_profile_free(&hw->optics);
	mutex_destroy(&hw->control_mutex);
	kfree(hw);
}

/* Inject the configured faults, so that the hardware is broken when the core first sees it. */
static int break_hardware(struct sim_hardware *hw)
{
	char *text = kstrdup(hw->config->start_faults, GFP_KERNEL), *rest = text, *line;
	int err = 0;

	if (!text)
		return -ENOMEM;
	mutex_lock(&hw->control_mutex);
	while (!err && (line = strsep(&rest, ";")))
		if (*skip_spaces(line))
			err = sim_fault_line(hw, line);
	if (err)
		dev_err(&hw->instance->dev, "start_faults: %s\n", hw->refusal.text);
	mutex_unlock(&hw->control_mutex);
	kfree(text);
	return err;
}

static int power_up(struct sim_hardware *hw, const struct firmware *firmware)
{
	int err;

	override_times(hw);
	fabric_uuid(hw);
	err = allocate(hw) ?: make_identities(hw);
	if (err)
		return err;
	hw->fabric = morph_fabric_alloc(&hw->instance->dev, &sim_fabric_ops, hw);
	if (IS_ERR(hw->fabric))
		return PTR_ERR(hw->fabric);
	sim_power_on(hw);
	sim_debugfs_add(hw);
	sim_patrol_start(hw);
	err = break_hardware(hw) ?: register_fabric(hw, firmware);
	if (err) {
		debugfs_remove_recursive(hw->debugfs);
		sim_clock_stop(hw);
		morph_fabric_put(hw->fabric);
		return err;
	}
	sim_edges_join(hw);
	return 0;
}

/**
 * sim_hardware_create() - power a device on and register its fabric
 * @instance: device, being probed
 *
 * Return: the hardware, or an error pointer with the reason in the kernel log.
 */
struct sim_hardware *sim_hardware_create(struct sim_instance *instance)
{
	const struct firmware *firmware = NULL;
	struct sim_hardware *hw;
	int err;

	hw = kzalloc(sizeof(*hw), GFP_KERNEL);
	if (!hw)
		return ERR_PTR(-ENOMEM);
	hw->instance = instance;
	hw->config = &instance->config;
	hw->booting = true;
	spin_lock_init(&hw->own_lock);
	hw->lock = &hw->own_lock;
	mutex_init(&hw->control_mutex);
	INIT_LIST_HEAD(&hw->faults);
	sim_clock_init(hw);
	err = load_profile(hw, &firmware) ?: sim_edges_init(hw) ?: power_up(hw, firmware);
	release_firmware(firmware);
	if (err) {
		free_hardware(hw);
		return ERR_PTR(err);
	}
	return hw;
}

/**
 * sim_hardware_destroy() - remove the device without notice
 * @hw: freed here
 *
 * Operations return -ENODEV, requests in flight never complete, and the fabric is
 * unregistered. After that no operation runs. The clock is stopped before, so nothing
 * calls the core.
 */
void sim_hardware_destroy(struct sim_hardware *hw)
{
	debugfs_remove_recursive(hw->debugfs);
	sim_edges_part(hw);
	sim_clock_stop(hw);
	morph_fabric_unregister(hw->fabric);
	morph_fabric_put(hw->fabric);
	free_hardware(hw);
}
