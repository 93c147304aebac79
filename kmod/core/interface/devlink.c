// SPDX-License-Identifier: GPL-2.0-only
/*
 * devlink: health reporters on the provider's device.
 *
 * The state of a reporter is error while the core counts unhealthy parts or degraded slices. Each
 * increase of the count is an error report with a dump of what is unhealthy. The functions of
 * devlink sleep and take locks that are held while devlink reads a dump here, so a work item calls
 * them without fabric->lock.
 */
#include <net/devlink.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "netlink.h"

#if IS_ENABLED(CONFIG_NET_DEVLINK)

#define EXAMINED_AT_ONCE	2048u	/* parts, in one hold of fabric->lock */
#define FOUND_AT_ONCE		8u	/* unhealthy parts, on the stack */
#define MOST_SHOWN		64u	/* entries of a dump */
#define REPORT_DELAY		(HZ / 50)	/* a failover does not wait for a report */

enum reporter_kind {
	REPORT_ACCELERATORS,
	REPORT_LIGHT,
	REPORT_SLICES,
	REPORT_KINDS,
};

struct reporter {
	struct morph_fabric *fabric;
	enum reporter_kind kind;
	struct devlink_health_reporter *handle;
	u32 count;			/* at the last run of the work; under fabric->lock */
};

struct morph_devlink {
	struct delayed_work work;
	struct reporter reporters[REPORT_KINDS];
};

static const char * const problems[] = {
	[REPORT_ACCELERATORS] = "accelerators are not healthy",
	[REPORT_LIGHT] = "lasers, receivers, elements or guides are not healthy",
	[REPORT_SLICES] = "slices are degraded",
};

/* --------------------------------------------------------------------- show */

static const char * const health_names[] = {
	[MORPH_HEALTH_OK] = "ok",
	[MORPH_HEALTH_SUSPECT] = "suspect",
	[MORPH_HEALTH_FAILED] = "failed",
	[MORPH_HEALTH_QUARANTINED] = "quarantined",
};

/* As morphctl writes them. */
static const char * const part_names[] = {
	[MORPH_PART_ACCELERATOR] = "accelerator",
	[MORPH_PART_LASER] = "laser",
	[MORPH_PART_RECEIVER] = "receiver",
	[MORPH_PART_ELEMENT] = "element",
	[MORPH_PART_GUIDE] = "guide",
};

struct unhealthy {
	u32 part, index, health;
	char pci[MORPH_PCI_BYTES];	/* of an accelerator, or empty */
};

/* The part that a search examines next, and the last kind of parts. */
struct place {
	u32 part, index, last_part;
};

static void add_unhealthy(struct morph_fabric *fabric, const struct place *at,
			  struct unhealthy *found)
{
	found->part = at->part;
	found->index = at->index;
	found->health = morph_health_marked(fabric, at->part, at->index);
	found->pci[0] = '\0';
	if (at->part == MORPH_PART_ACCELERATOR)
		strscpy(found->pci, ledger_of(fabric)->chips[at->index].identity.pci,
			sizeof(found->pci));
}

/* Examine some parts in one hold of fabric->lock. Return the number of unhealthy ones. */
static u32 find_unhealthy(struct morph_fabric *fabric, struct place *at, struct unhealthy *found)
{
	u32 count = 0, examined;

	mutex_lock(&fabric->lock);
	for (examined = 0; examined < EXAMINED_AT_ONCE && count < FOUND_AT_ONCE; examined++) {
		if (at->index >= morph_part_count(fabric, at->part)) {
			if (at->part++ == at->last_part)
				break;
			at->index = 0;
			continue;
		}
		if (morph_health_marked(fabric, at->part, at->index) != MORPH_HEALTH_OK)
			add_unhealthy(fabric, at, &found[count++]);
		at->index++;
	}
	mutex_unlock(&fabric->lock);
	return count;
}

static void show_part(struct devlink_fmsg *fmsg, const struct unhealthy *found)
{
	devlink_fmsg_obj_nest_start(fmsg);
	devlink_fmsg_string_pair_put(fmsg, "part", part_names[found->part]);
	devlink_fmsg_u32_pair_put(fmsg, "index", found->index);
	devlink_fmsg_string_pair_put(fmsg, "health", health_names[found->health]);
	if (found->pci[0])
		devlink_fmsg_string_pair_put(fmsg, "pci", found->pci);
	devlink_fmsg_obj_nest_end(fmsg);
}

/* Show @most unhealthy parts of some kinds. */
static void show_parts(struct morph_fabric *fabric, struct devlink_fmsg *fmsg, struct place at,
		       u32 most)
{
	struct unhealthy found[FOUND_AT_ONCE];
	u32 shown = 0, count, i;

	devlink_fmsg_arr_pair_nest_start(fmsg, "parts");
	while (shown < most && at.part <= at.last_part) {
		count = find_unhealthy(fabric, &at, found);
		for (i = 0; i < count && shown < most; i++, shown++)
			show_part(fmsg, &found[i]);
		cond_resched();
	}
	devlink_fmsg_arr_pair_nest_end(fmsg);
}

static bool slice_is_degraded(struct morph_slice *slice)
{
	bool degraded;

	mutex_lock(&slice->fabric->lock);
	degraded = slice_recovery(slice)->was_degraded;
	mutex_unlock(&slice->fabric->lock);
	return degraded;
}

static void show_slices(struct morph_fabric *fabric, struct devlink_fmsg *fmsg, u32 most)
{
	struct morph_slice *slice;
	u32 shown = 0, number;

	devlink_fmsg_arr_pair_nest_start(fmsg, "slices");
	for (number = 0; shown < most && (slice = morph_nl_slice_from(fabric, &number)); number++) {
		if (slice_is_degraded(slice)) {
			devlink_fmsg_u32_put(fmsg, number);
			shown++;
		}
		morph_slice_put(slice);
	}
	devlink_fmsg_arr_pair_nest_end(fmsg);
}

/* Caller holds fabric->lock. */
static u32 problems_now(struct morph_fabric *fabric, enum reporter_kind kind)
{
	if (kind == REPORT_ACCELERATORS)
		return ledger_of(fabric)->failed;
	if (kind == REPORT_LIGHT)
		return ledger_of(fabric)->impaired;
	return recovery_of(fabric)->degraded;
}

static u32 count_problems(struct morph_fabric *fabric, enum reporter_kind kind)
{
	u32 count;

	mutex_lock(&fabric->lock);
	count = problems_now(fabric, kind);
	mutex_unlock(&fabric->lock);
	return count;
}

/* Show the present state. A part that changes meanwhile may be missing from it. */
static int show(const struct reporter *reporter, struct devlink_fmsg *fmsg)
{
	static const struct place accelerators = { MORPH_PART_ACCELERATOR, 0,
						   MORPH_PART_ACCELERATOR };
	static const struct place light = { MORPH_PART_LASER, 0, MORPH_PART_GUIDE };
	u32 count = count_problems(reporter->fabric, reporter->kind);
	u32 most = min(count, MOST_SHOWN);

	devlink_fmsg_u32_pair_put(fmsg, "count", count);
	if (reporter->kind == REPORT_SLICES)
		show_slices(reporter->fabric, fmsg, most);
	else
		show_parts(reporter->fabric, fmsg,
			   reporter->kind == REPORT_LIGHT ? light : accelerators, most);
	return 0;
}

static int reporter_dump(struct devlink_health_reporter *handle, struct devlink_fmsg *fmsg,
			 void *context, struct netlink_ext_ack *extack)
{
	return show(devlink_health_reporter_priv(handle), fmsg);
}

static int reporter_diagnose(struct devlink_health_reporter *handle, struct devlink_fmsg *fmsg,
			     struct netlink_ext_ack *extack)
{
	return show(devlink_health_reporter_priv(handle), fmsg);
}

static const struct devlink_health_reporter_ops reporter_ops[] = {
	[REPORT_ACCELERATORS] = {
		.name = "accelerator", .dump = reporter_dump, .diagnose = reporter_diagnose,
	},
	[REPORT_LIGHT] = {
		.name = "light", .dump = reporter_dump, .diagnose = reporter_diagnose,
	},
	[REPORT_SLICES] = {
		.name = "slice", .dump = reporter_dump, .diagnose = reporter_diagnose,
	},
};

static const struct devlink_ops devlink_ops = {};

/* ------------------------------------------------------------------- report */

static void report(struct reporter *reporter)
{
	struct morph_fabric *fabric = reporter->fabric;
	u32 count, before;
	char text[80];

	mutex_lock(&fabric->lock);
	count = problems_now(fabric, reporter->kind);
	before = reporter->count;
	reporter->count = count;
	mutex_unlock(&fabric->lock);
	if (count > before) {
		snprintf(text, sizeof(text), "%u %s", count, problems[reporter->kind]);
		devlink_health_report(reporter->handle, text, NULL);
	} else if (before && !count) {
		devlink_health_reporter_state_update(reporter->handle,
						     DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
	}
}

static void report_work(struct work_struct *work)
{
	struct morph_devlink *devlink = container_of(to_delayed_work(work),
						     struct morph_devlink, work);
	u32 i;

	for (i = 0; i < REPORT_KINDS; i++)
		report(&devlink->reporters[i]);
}

void morph_devlink_update(struct morph_fabric *fabric)
{
	struct morph_devlink *devlink = interface_of(fabric)->devlink;
	u32 i;

	lockdep_assert_held(&fabric->lock);
	if (!devlink)
		return;
	for (i = 0; i < REPORT_KINDS; i++)
		if (devlink->reporters[i].count != problems_now(fabric, i))
			break;
	if (i < REPORT_KINDS)
		queue_delayed_work(morph_wq, &devlink->work, REPORT_DELAY);
}

/* ----------------------------------------------------------- add and remove */

static void destroy_reporters(struct morph_devlink *devlink)
{
	u32 i;

	for (i = 0; i < REPORT_KINDS; i++)
		if (devlink->reporters[i].handle)
			devlink_health_reporter_destroy(devlink->reporters[i].handle);
}

static int create_reporters(struct morph_fabric *fabric, struct morph_devlink *devlink)
{
	struct devlink_health_reporter *handle;
	u32 i;

	for (i = 0; i < REPORT_KINDS; i++) {
		devlink->reporters[i].fabric = fabric;
		devlink->reporters[i].kind = i;
		handle = devlink_health_reporter_create(priv_to_devlink(devlink), &reporter_ops[i],
							0, &devlink->reporters[i]);
		if (IS_ERR(handle))
			return PTR_ERR(handle);
		devlink->reporters[i].handle = handle;
	}
	return 0;
}

void morph_devlink_add(struct morph_fabric *fabric)
{
	struct device *parent = fabric->dev.parent;
	struct morph_devlink *devlink;
	struct devlink *handle;

	/* Tracepoints of devlink read the name of the driver. */
	if (!parent || !parent->driver)
		return;
	handle = devlink_alloc(&devlink_ops, sizeof(*devlink), parent);
	if (!handle)
		goto err;
	devlink = devlink_priv(handle);
	INIT_DELAYED_WORK(&devlink->work, report_work);
	if (create_reporters(fabric, devlink))
		goto err_free;
	devlink_register(handle);
	mutex_lock(&fabric->lock);
	interface_of(fabric)->devlink = devlink;
	morph_devlink_update(fabric);
	mutex_unlock(&fabric->lock);
	return;

err_free:
	destroy_reporters(devlink);
	devlink_free(handle);
err:
	dev_warn(&fabric->dev, "cannot report health by devlink\n");
}

void morph_devlink_remove(struct morph_fabric *fabric)
{
	struct morph_devlink *devlink = interface_of(fabric)->devlink;

	if (!devlink)
		return;
	mutex_lock(&fabric->lock);
	interface_of(fabric)->devlink = NULL;
	mutex_unlock(&fabric->lock);
	cancel_delayed_work_sync(&devlink->work);
	devlink_unregister(priv_to_devlink(devlink));
	destroy_reporters(devlink);
	devlink_free(priv_to_devlink(devlink));
}

#else

void morph_devlink_update(struct morph_fabric *fabric)
{
}

void morph_devlink_add(struct morph_fabric *fabric)
{
}

void morph_devlink_remove(struct morph_fabric *fabric)
{
}

#endif
