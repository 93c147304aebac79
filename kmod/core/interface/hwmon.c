// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwmon: temperature and received power on the provider's device, for sensors and other monitors.
 *
 * A channel is one receiver. On a fabric with many receivers it is a server, and its power is the
 * lowest one of the server's receivers: nobody reads 27,000 lines. A channel without circuits has
 * no power.
 *
 * Any user may read the files. Therefore one read at a time asks the device, and a reading serves
 * all readers for a second.
 */
#include <linux/hwmon.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"

#if IS_REACHABLE(CONFIG_HWMON)

#define MOST_CHANNELS	1024u	/* more receivers than this: a channel for each server */
#define READ_AT_ONCE	16u	/* receivers, on the stack */
#define FRESH		HZ

/* Guarded by the lock of struct morph_hwmon, besides the constant ports and label. */
struct power_channel {
	u32 first, ports_count;		/* in morph_hwmon.ports */
	bool read;			/* the next two fields are valid */
	unsigned long read_at;		/* jiffies */
	long value;			/* microwatts, or a negative errno */
	char label[MORPH_NAME_BYTES + sizeof("lowest of ")];
};

/* Constant besides lock and the readings of the channels. */
struct morph_hwmon {
	struct morph_fabric *fabric;
	struct device *dev;
	char name[32];
	struct mutex lock;		/* one read at a time; taken before fabric->lock */
	struct hwmon_channel_info temperature, power;
	const struct hwmon_channel_info *info[3];
	struct hwmon_chip_info chip;
	u32 *power_config;
	u32 *ports;			/* by channel */
	u32 channels_count;
	struct power_channel channels[];
};

/* --------------------------------------------------------------------- read */

/* The lanes of a receiver on which light must arrive. Caller holds fabric->lock. */
static u64 lanes_in_use(struct morph_fabric *fabric, u32 port)
{
	u32 code = fabric->graph->rx_guide[port];
	const struct morph_link *link;
	u64 lanes = 0;

	if (code == OPTICS_NONE || !ledger_of(fabric)->state->rx_lanes[port])
		return 0;
	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[code >> 1], node) {
		const struct morph_route *route = link->route;

		if (route->role != MORPH_ROUTE_LIVE || !route->circuit || route->path.rx != port)
			continue;
		if (route->circuit->state == MORPH_CIRCUIT_LIT ||
		    route->circuit->state == MORPH_CIRCUIT_FAILED)
			lanes |= route->path.lanes;
	}
	return lanes;
}

/* Choose some receivers in use from *next on, and advance it. Return their number. */
static u32 choose_receivers(struct morph_hwmon *hwmon, const struct power_channel *channel,
			    u32 *next, struct morph_receiver_reading *readings)
{
	struct morph_fabric *fabric = hwmon->fabric;
	u32 count = 0, port;
	u64 lanes;

	mutex_lock(&fabric->lock);
	for (; *next < channel->ports_count && count < READ_AT_ONCE; ++*next) {
		port = hwmon->ports[channel->first + *next];
		lanes = lanes_in_use(fabric, port);
		if (lanes)
			readings[count++] = (struct morph_receiver_reading){ .port = port,
									     .lanes = lanes };
	}
	mutex_unlock(&fabric->lock);
	return count;
}

/* The lowest power of the receivers in use, in microwatts. -ENODATA: none is in use. */
static long ask_device(struct morph_hwmon *hwmon, const struct power_channel *channel)
{
	struct morph_receiver_reading readings[READ_AT_ONCE];
	u32 next = 0, lowest = U32_MAX, count, i;
	bool any = false;
	int ret;

	while (next < channel->ports_count) {
		count = choose_receivers(hwmon, channel, &next, readings);
		ret = morph_hw_get_receivers(hwmon->fabric, NULL, readings, count);
		if (ret)
			return ret;
		for (i = 0; i < count; i++)
			lowest = min(lowest, optics_power_nw(readings[i].min_mdbm));
		any |= count;
	}
	if (!any)
		return -ENODATA;
	return DIV_ROUND_CLOSEST(lowest, 1000u);
}

static long read_power(struct morph_hwmon *hwmon, u32 index)
{
	struct power_channel *channel = &hwmon->channels[index];
	long value;

	if (mutex_lock_interruptible(&hwmon->lock))
		return -ERESTARTSYS;
	if (!channel->read || time_after(jiffies, channel->read_at + FRESH)) {
		channel->value = ask_device(hwmon, channel);
		channel->read_at = jiffies;
		channel->read = true;
	}
	value = channel->value;
	mutex_unlock(&hwmon->lock);
	return value;
}

static int hwmon_read(struct device *dev, enum hwmon_sensor_types type, u32 attribute, int channel,
		      long *value)
{
	struct morph_hwmon *hwmon = dev_get_drvdata(dev);

	if (type == hwmon_temp) {
		*value = READ_ONCE(recovery_of(hwmon->fabric)->temperature);
		/* The provider has not reported it yet. */
		return *value ? 0 : -ENODATA;
	}
	*value = read_power(hwmon, channel);
	return *value < 0 ? *value : 0;
}

static int hwmon_read_string(struct device *dev, enum hwmon_sensor_types type, u32 attribute,
			     int channel, const char **text)
{
	struct morph_hwmon *hwmon = dev_get_drvdata(dev);

	*text = type == hwmon_temp ? "interposer" : hwmon->channels[channel].label;
	return 0;
}

static umode_t hwmon_is_visible(const void *data, enum hwmon_sensor_types type, u32 attribute,
				int channel)
{
	return 0444;
}

static const struct hwmon_ops hwmon_ops = {
	.is_visible = hwmon_is_visible,
	.read = hwmon_read,
	.read_string = hwmon_read_string,
};

static const u32 temperature_config[] = { HWMON_T_INPUT | HWMON_T_LABEL, 0 };

/* ----------------------------------------------------------------- channels */

static void add_receivers(struct morph_hwmon *hwmon)
{
	u32 planes = hwmon->fabric->graph->params.planes, i;

	for (i = 0; i < hwmon->channels_count; i++) {
		struct power_channel *channel = &hwmon->channels[i];

		hwmon->ports[i] = i;
		channel->first = i;
		channel->ports_count = 1;
		snprintf(channel->label, sizeof(channel->label), "receiver %u.%u", i / planes,
			 i % planes);
	}
}

/* Sort the receivers by server: count them, then place them. */
static void add_servers(struct morph_hwmon *hwmon)
{
	const struct optics_graph *graph = hwmon->fabric->graph;
	struct power_channel *channel;
	u32 planes = graph->params.planes, first = 0, i;

	for (i = 0; i < graph->accelerators_count; i++)
		hwmon->channels[graph->accelerators[i].host].ports_count += planes;
	for (i = 0; i < hwmon->channels_count; i++) {
		channel = &hwmon->channels[i];
		channel->first = first;
		first += channel->ports_count;
		channel->ports_count = 0;
		snprintf(channel->label, sizeof(channel->label), "lowest of %s",
			 graph->hosts[i].name);
	}
	for (i = 0; i < graph->ports_count; i++) {
		channel = &hwmon->channels[graph->accelerators[i / planes].host];
		hwmon->ports[channel->first + channel->ports_count++] = i;
	}
}

static void hwmon_free(struct morph_hwmon *hwmon)
{
	kvfree(hwmon->ports);
	kvfree(hwmon->power_config);
	mutex_destroy(&hwmon->lock);
	kvfree(hwmon);
}

static struct morph_hwmon *hwmon_alloc(struct morph_fabric *fabric)
{
	const struct optics_graph *graph = fabric->graph;
	bool by_server = graph->ports_count > MOST_CHANNELS;
	u32 channels = by_server ? graph->hosts_count : graph->ports_count, i;
	struct morph_hwmon *hwmon;

	hwmon = kvzalloc(struct_size(hwmon, channels, channels), GFP_KERNEL);
	if (!hwmon)
		return NULL;
	hwmon->fabric = fabric;
	hwmon->channels_count = channels;
	mutex_init(&hwmon->lock);
	/* A zero ends the list. */
	hwmon->power_config = kvcalloc(channels + 1, sizeof(u32), GFP_KERNEL);
	hwmon->ports = kvcalloc(graph->ports_count, sizeof(u32), GFP_KERNEL);
	if (!hwmon->power_config || !hwmon->ports) {
		hwmon_free(hwmon);
		return NULL;
	}
	for (i = 0; i < channels; i++)
		hwmon->power_config[i] = HWMON_P_INPUT | HWMON_P_LABEL;
	if (by_server)
		add_servers(hwmon);
	else
		add_receivers(hwmon);
	hwmon->temperature = (struct hwmon_channel_info){ hwmon_temp, temperature_config };
	hwmon->power = (struct hwmon_channel_info){ hwmon_power, hwmon->power_config };
	hwmon->info[0] = &hwmon->temperature;
	hwmon->info[1] = &hwmon->power;
	hwmon->chip = (struct hwmon_chip_info){ &hwmon_ops, hwmon->info };
	return hwmon;
}

/* ----------------------------------------------------------- add and remove */

void morph_hwmon_add(struct morph_fabric *fabric)
{
	struct device *parent = fabric->dev.parent;
	struct morph_hwmon *hwmon;

	if (!parent)
		return;
	hwmon = hwmon_alloc(fabric);
	if (!hwmon)
		goto err;
	/* For example morph_fabric0. hwmon permits no '-' in names. */
	snprintf(hwmon->name, sizeof(hwmon->name), "morph_fabric%u", fabric->id);
	hwmon->dev = hwmon_device_register_with_info(parent, hwmon->name, hwmon, &hwmon->chip,
						     NULL);
	if (IS_ERR(hwmon->dev)) {
		hwmon_free(hwmon);
		goto err;
	}
	interface_of(fabric)->hwmon = hwmon;
	return;

err:
	dev_warn(&fabric->dev, "cannot show temperature and power by hwmon\n");
}

/* Waits for readers. The provider has unregistered, so they do not wait for the device. */
void morph_hwmon_remove(struct morph_fabric *fabric)
{
	struct morph_hwmon *hwmon = interface_of(fabric)->hwmon;

	if (!hwmon)
		return;
	interface_of(fabric)->hwmon = NULL;
	hwmon_device_unregister(hwmon->dev);
	hwmon_free(hwmon);
}

#else

void morph_hwmon_add(struct morph_fabric *fabric)
{
}

void morph_hwmon_remove(struct morph_fabric *fabric)
{
}

#endif
