// SPDX-License-Identifier: GPL-2.0-only
/* The table of fabrics, and the work queues that all fabrics share. */
#include <linux/kstrtox.h>

#include "core/base/base.h"

/* Allocated when the module loads, destroyed when it unloads. */
struct workqueue_struct *morph_wq, *morph_act_wq, *morph_signal_wq, *morph_repair_wq;
struct workqueue_struct *morph_step_wq, *morph_turn_wq;

DEFINE_MUTEX(morph_registry_lock);	/* the table of fabrics */
DEFINE_XARRAY_ALLOC(morph_fabrics);

/* Longest time for which a caller without a fabric waits for the table. */
struct morph_fabric *morph_fabric_find(u32 id)
{
	struct morph_fabric *fabric;

	mutex_lock(&morph_registry_lock);
	fabric = xa_load(&morph_fabrics, id);
	if (fabric)
		get_device(&fabric->dev);
	mutex_unlock(&morph_registry_lock);
	return fabric;
}

struct morph_fabric *morph_fabric_next(u32 *id)
{
	struct morph_fabric *fabric;
	unsigned long index = *id;

	mutex_lock(&morph_registry_lock);
	fabric = xa_find(&morph_fabrics, &index, ULONG_MAX, XA_PRESENT);
	if (fabric)
		get_device(&fabric->dev);
	mutex_unlock(&morph_registry_lock);
	*id = index;
	return fabric;
}

static bool is_number(const char *name, unsigned int base)
{
	s64 number;
	int ret = kstrtos64(name, base, &number);

	return !ret || ret == -ERANGE;
}

bool morph_reads_as_number(const char *name)
{
	/* 08 is a number for programs that read decimal digits only. */
	return is_number(name, 0) || is_number(name, 10);
}

int morph_fabric_check(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	return fabric->state == MORPH_FABRIC_READY ? 0 : -ENODEV;
}

void morph_fabric_pause(struct morph_fabric *fabric)
{
	morph_fabric_unlock(fabric);
	cond_resched();
	morph_fabric_lock(fabric);
}

int morph_fabric_check_profile(struct morph_fabric *fabric, u32 checksum,
			       struct morph_refusal *refusal)
{
	if (!checksum || checksum == fabric->graph->params.checksum)
		return 0;
	return morph_refuse(refusal, -ESTALE, MORPH_REASON_PROFILE, 0, 0,
			    "the changes were planned for another profile; plan again");
}
