// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A fake udev with the nodes of fault_nodes, which replaces libudev. Entries of its list and its
 * devices are nodes. A monitor returns the same list, from its front.
 */
#include <errno.h>
#include <stddef.h>

#include "faults.h"

static const struct fault_node no_nodes[] = { { 0 } };
const struct fault_node *fault_nodes = no_nodes;

static int handle; /* a single handle for udev, enumerations and monitors */

static void *handle_new(void)
{
	return fault_strikes("udev") ? NULL : &handle;
}

static int result(void)
{
	return fault_strikes("udev") ? -EIO : 0;
}

static const struct fault_node *node_or_end(const struct fault_node *node)
{
	return node->path ? node : NULL;
}

void *fault_udev_new(void)
{
	return handle_new();
}

void *fault_udev_unref(void *udev)
{
	(void)udev;
	return NULL;
}

/* -------------------------------------------------------------- enumeration */

void *fault_udev_enumerate_new(void *udev)
{
	(void)udev;
	return handle_new();
}

void *fault_udev_enumerate_unref(void *enumerate)
{
	(void)enumerate;
	return NULL;
}

int fault_udev_enumerate_add_match_subsystem(void *enumerate, const char *subsystem)
{
	(void)enumerate;
	(void)subsystem;
	return result();
}

int fault_udev_enumerate_scan_devices(void *enumerate)
{
	(void)enumerate;
	return result();
}

const void *fault_udev_enumerate_get_list_entry(void *enumerate)
{
	(void)enumerate;
	return node_or_end(fault_nodes);
}

const void *fault_udev_list_entry_get_next(const struct fault_node *entry)
{
	return node_or_end(entry + 1);
}

const char *fault_udev_list_entry_get_name(const struct fault_node *entry)
{
	return (const char *)entry; /* the node that becomes a device */
}

/* ------------------------------------------------------------------ devices */

const void *fault_udev_device_new_from_syspath(void *udev, const char *path)
{
	(void)udev;
	return fault_strikes("udev") ? NULL : path;
}

void *fault_udev_device_unref(void *device)
{
	(void)device;
	return NULL;
}

const char *fault_udev_device_get_devnode(const struct fault_node *device)
{
	return *device->path ? device->path : NULL;
}

const char *fault_udev_device_get_action(const struct fault_node *device)
{
	return device->action;
}

/* ------------------------------------------------------------------ monitor */

void *fault_udev_monitor_new_from_netlink(void *udev, const char *name)
{
	(void)udev;
	(void)name;
	return handle_new();
}

void *fault_udev_monitor_unref(void *monitor)
{
	(void)monitor;
	return NULL;
}

int fault_udev_monitor_filter_add_match_subsystem_devtype(void *monitor, const char *subsystem,
							  const char *type)
{
	(void)monitor;
	(void)subsystem;
	(void)type;
	return result();
}

int fault_udev_monitor_enable_receiving(void *monitor)
{
	(void)monitor;
	return result();
}

int fault_udev_monitor_get_fd(void *monitor)
{
	(void)monitor;
	return 1000; /* nothing is open there */
}

const void *fault_udev_monitor_receive_device(void *monitor)
{
	(void)monitor;
	return fault_nodes->path ? fault_nodes++ : NULL;
}
