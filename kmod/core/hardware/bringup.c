// SPDX-License-Identifier: GPL-2.0-only
/* Bring-up: set a fabric to a known state, whatever state the hardware has. */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"

/* Number of settings per operation. */
#define BRINGUP_CHUNK	4096u

/* Switch all lasers off, so that no light is on while elements move. */
static int lasers_off(struct morph_fabric *fabric, struct morph_laser_setting *settings)
{
	u32 ports = fabric->graph->ports_count;
	u32 first, i, n;
	int ret;

	for (first = 0; first < ports; first += n) {
		n = min(ports - first, BRINGUP_CHUNK);
		for (i = 0; i < n; i++)
			settings[i] = (struct morph_laser_setting){ .port = first + i };
		ret = morph_hw_set_lasers(fabric, NULL, settings, n);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Park each element and read it back. One that does not obey is marked failed; bring-up continues.
 */
static int bringup_elements(struct morph_fabric *fabric, struct morph_element_setting *settings)
{
	u32 count = fabric->graph->elements_count;
	struct morph_culprit culprit = { .part = MORPH_PART_ELEMENT };
	u32 first, i, n;
	int ret;

	for (first = 0; first < count; first += n) {
		n = min(count - first, BRINGUP_CHUNK);
		for (i = 0; i < n; i++)
			settings[i] = (struct morph_element_setting){
				.element = first + i,
				.state = optics_park_state(fabric->graph, first + i),
			};
		ret = morph_hw_set_elements(fabric, NULL, settings, n);
		if (!ret)
			ret = morph_hw_get_elements(fabric, NULL, settings, n);
		if (ret)
			return ret;
		mutex_lock(&fabric->lock);
		for (i = 0; i < n; i++) {
			morph_fabric_pause_after(fabric, i);
			morph_hw_record_state(fabric, first + i, settings[i].state);
			if (settings[i].state == optics_park_state(fabric->graph, first + i))
				continue;
			culprit.index = first + i;
			morph_report_finding(fabric, &culprit, MORPH_HEALTH_FAILED);
		}
		mutex_unlock(&fabric->lock);
	}
	return 0;
}

/* All lasers are off, so a receiver that sees light is faulty. */
static int bringup_receivers(struct morph_fabric *fabric, struct morph_receiver_reading *readings)
{
	u32 ports = fabric->graph->ports_count;
	struct morph_culprit culprit = { .part = MORPH_PART_RECEIVER };
	u32 first, i, n;
	int ret;

	for (first = 0; first < ports; first += n) {
		n = min(ports - first, BRINGUP_CHUNK);
		for (i = 0; i < n; i++)
			readings[i] = (struct morph_receiver_reading){
				.port = first + i,
				.lanes = fabric->graph->all_lanes,
			};
		ret = morph_hw_get_receivers(fabric, NULL, readings, n);
		if (ret)
			return ret;
		mutex_lock(&fabric->lock);
		for (i = 0; i < n; i++) {
			morph_fabric_pause_after(fabric, i);
			if (!readings[i].lit)
				continue;
			culprit.index = first + i;
			culprit.lanes = readings[i].lit;
			morph_report_finding(fabric, &culprit, MORPH_HEALTH_FAILED);
		}
		mutex_unlock(&fabric->lock);
	}
	return 0;
}

/* Probe all accelerators: one that does not answer is not allocated. */
static int bringup_probe(struct morph_fabric *fabric, struct morph_probe *probes)
{
	u32 count = fabric->graph->accelerators_count;
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	u32 first, i, n;
	int ret;

	for (first = 0; first < count; first += n) {
		n = min(count - first, BRINGUP_CHUNK);
		for (i = 0; i < n; i++)
			probes[i] = (struct morph_probe){ .accelerator = first + i };
		ret = morph_hw_probe(fabric, NULL, probes, n);
		if (ret)
			return ret;
		mutex_lock(&fabric->lock);
		for (i = 0; i < n; i++) {
			morph_fabric_pause_after(fabric, i);
			culprit.index = first + i;
			if (probes[i].alive)
				morph_report_answer(fabric, first + i);
			else
				morph_report_finding(fabric, &culprit, MORPH_HEALTH_FAILED);
		}
		mutex_unlock(&fabric->lock);
	}
	return 0;
}

/* Set hardware in an unknown state to a known state. */
int morph_bringup(struct morph_fabric *fabric)
{
	size_t each = max(sizeof(struct morph_receiver_reading), sizeof(struct morph_probe));
	void *buffer;
	int ret;

	buffer = kvcalloc(BRINGUP_CHUNK, each, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	ret = lasers_off(fabric, buffer);
	if (!ret)
		ret = bringup_elements(fabric, buffer);
	if (!ret)
		ret = morph_hw_wait(fabric, fabric->graph->params.settle_ns);
	if (!ret)
		ret = bringup_receivers(fabric, buffer);
	if (!ret)
		ret = bringup_probe(fabric, buffer);
	kvfree(buffer);
	if (ret)
		dev_err(&fabric->dev, "hardware could not be brought to a known state: %d\n", ret);
	return ret;
}

/* Switch all lasers off at shutdown, in any state of the fabric. */
void morph_bringup_lasers_off(struct morph_fabric *fabric)
{
	struct morph_laser_setting *settings;

	settings = kvcalloc(BRINGUP_CHUNK, sizeof(*settings), GFP_KERNEL);
	if (!settings)
		return;
	lasers_off(fabric, settings);
	kvfree(settings);
}
