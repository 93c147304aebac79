// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Light of phases on a slice. The schedule is a loop of steps that begin by calls. A step leads to
 * the next phase, and a jump to another one. Both keep common circuits. The changing rank has the
 * lock of changes and that of the lit phase, so no rank is in it or enters before another phase is
 * lit. While an unload is requested no rank changes light; otherwise a faster rank could always be
 * first.
 */
#include "slice_phases.h"

/* Failures that can be absent at another time. */
static int passing(int error)
{
	return error == -EINTR || error == -EBUSY || error == -ECANCELED ? -EAGAIN : error;
}

static int check_repair(struct morph_slice_phases *phasing)
{
	struct morph_slice *slice = phasing->slice;
	struct morph_slice_info info;
	int error;

	memset(&info, 0, sizeof(info));
	error = lm_ioctl(slice->ctx, slice->fd, MORPH_SLICE_INFO, &info, sizeof(info),
			 "read slice %u", slice->number);
	if (!error && info.state == MORPH_SLICE_LOST)
		error = lm_fail(slice->ctx, ENODEV, "slice %u is lost", slice->number);
	phasing->repairing = !error && info.state == MORPH_SLICE_REPAIRING;
	phasing->degraded = !error && info.state == MORPH_SLICE_DEGRADED;
	return phasing->repairing ? -EAGAIN : error;
}

int lm_phasing_read(struct morph_slice_phases *phasing, struct morph_schedule_info *info)
{
	struct morph_slice *slice = phasing->slice;
	int error;

	memset(info, 0, sizeof(*info));
	info->schedule = phasing->schedule;
	error = lm_ioctl(slice->ctx, slice->fd, MORPH_SCHEDULE_INFO, info, sizeof(*info),
			 "read schedule %u of slice %u", phasing->schedule, slice->number);
	if (!error && info->schedule != phasing->schedule)
		error = lm_fail(slice->ctx, ENOENT, "slice %u has no schedule %u", slice->number,
				phasing->schedule);
	return error;
}

int lm_phasing_look(struct morph_slice_phases *phasing, struct morph_schedule_info *info)
{
	int error = check_repair(phasing);

	return passing(error ? error : lm_phasing_read(phasing, info));
}

int lm_phasing_check(struct morph_slice_phases *phasing, const struct morph_schedule_info *schedule)
{
	struct morph_slice *slice = phasing->slice;
	struct morph_list *circuits;
	int error;

	if (!phasing->degraded)
		return 0;
	error = passing(morph_slice_read(slice, NULL, &circuits));
	if (error)
		return error;
	for (size_t at = 0; !error && at < morph_list_count(circuits); at++) {
		const struct morph_object *circuit = morph_list_get(circuits, at);
		uint32_t number = morph_object_uint(circuit, "id");

		if (morph_object_uint(circuit, "state") == MORPH_CIRCUIT_FAILED &&
		    number - schedule->first_circuit < schedule->circuits)
			error = lm_fail(
				slice->ctx, EIO,
				"enter a phase: its circuit %u has failed, and no other path was found",
				number);
	}
	morph_list_free(circuits);
	return error;
}

bool lm_phasing_is_lit(const struct morph_schedule_info *info, uint32_t phase)
{
	return info->state == MORPH_SCHEDULE_RUNNING && info->step == phase;
}

static int go_to(struct morph_slice_phases *phasing, const struct morph_schedule_info *info,
		 uint32_t phase)
{
	struct morph_slice *slice = phasing->slice;
	int error;

	if (info->state != MORPH_SCHEDULE_RUNNING)
		return morph_slice_schedule_start(slice, phasing->schedule, phase, NULL);
	if ((info->step + 1) % phasing->count == phase)
		return morph_slice_schedule_go(slice, phasing->schedule, MORPH_ANY,
					       info->position + 1, NULL);
	error = morph_slice_schedule_go(slice, phasing->schedule, phase, info->position + 1, NULL);
	phasing->counts.jumps += !error;
	return error;
}

/*
 * Holds the lock of changes. Ranks in the same phase, which has stopped, lose nothing when it is
 * lit again.
 */
static int change(struct morph_slice_phases *phasing, const struct morph_schedule_info *info,
		  uint32_t phase, bool ahead)
{
	bool goes = info->step != MORPH_ANY && info->step != phase;
	int error = 0;

	if (goes)
		error = lm_lock_alone(phasing, LM_LOCK_USE, info->step);
	if (!error && ahead && goes)
		error = lm_lock_alone(phasing, LM_LOCK_STAY, info->step);
	if (error)
		return error;
	error = passing(go_to(phasing, info, phase));
	if (error)
		return error;
	phasing->counts.changes++;
	phasing->counts.provisioned += ahead;
	return 0;
}

int lm_phasing_light(struct morph_slice_phases *phasing, uint32_t phase, bool ahead)
{
	struct morph_schedule_info info;
	int error = lm_lock_alone(phasing, LM_LOCK_CHANGE, 0);

	if (error)
		return error;
	if (lm_lock_is_shared(phasing, LM_LOCK_ASK, MORPH_ASK_UNLOAD))
		error = -EAGAIN;
	if (!error)
		error = lm_phasing_look(phasing, &info);
	if (!error && !lm_phasing_is_lit(&info, phase))
		error = change(phasing, &info, phase, ahead);
	lm_lock_drop_phases(phasing);
	if (!error)
		error = lm_lock_share(phasing, ahead ? LM_LOCK_STAY : LM_LOCK_USE, phase);
	lm_lock_drop_alone(phasing);
	return error;
}
