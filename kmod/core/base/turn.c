// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work that a user causes by ending something: expired leases and released slices. It waits for
 * devices and for busy slices. The work of one user must not delay the work of another. So at most
 * MORPH_USER_TURNS work items of a user run at once. The others wait in order.
 */
#include "core/base/base.h"

/* Guards morph_turn.node, and turns and turns_running of all users. */
static DEFINE_SPINLOCK(turn_lock);

/* The function may free the turn and the user. */
static void run_turn(struct work_struct *work)
{
	struct morph_turn *turn = container_of(work, struct morph_turn, work);
	struct morph_acting acting;

	morph_act_for(&acting, turn->user);
	turn->run(work);
	morph_act_end(&acting);
}

void morph_turn_init(struct morph_turn *turn, work_func_t run)
{
	turn->run = run;
	INIT_WORK(&turn->work, run_turn);
	INIT_LIST_HEAD(&turn->node);
}

void morph_turn_queue(struct morph_turn *turn, struct morph_user *user)
{
	unsigned long flags;

	turn->user = user;
	user = morph_user_payer(user);
	spin_lock_irqsave(&turn_lock, flags);
	if (user->turns_running < MORPH_USER_TURNS) {
		user->turns_running++;
		queue_work(morph_turn_wq, &turn->work);
	} else {
		list_add_tail(&turn->node, &user->turns);
	}
	spin_unlock_irqrestore(&turn_lock, flags);
}

/* One work item of the user has ended: queue the next one. Caller holds turn_lock. */
static void pass_turn(struct morph_user *user)
{
	struct morph_turn *next = list_first_entry_or_null(&user->turns, struct morph_turn, node);

	if (next) {
		list_del_init(&next->node);
		queue_work(morph_turn_wq, &next->work);
	} else {
		user->turns_running--;
	}
}

bool morph_turn_cancel(struct morph_turn *turn, struct morph_user *user)
{
	unsigned long flags;
	bool cancelled;

	spin_lock_irqsave(&turn_lock, flags);
	cancelled = !list_empty(&turn->node);
	if (cancelled) {
		list_del_init(&turn->node);
	} else if (cancel_work(&turn->work)) {
		pass_turn(morph_user_payer(user));
		cancelled = true;
	}
	spin_unlock_irqrestore(&turn_lock, flags);
	return cancelled;
}

void morph_turn_end(struct morph_user *user)
{
	unsigned long flags;

	spin_lock_irqsave(&turn_lock, flags);
	pass_turn(morph_user_payer(user));
	spin_unlock_irqrestore(&turn_lock, flags);
}
