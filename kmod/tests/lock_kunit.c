// SPDX-License-Identifier: GPL-2.0-only
/* The order in which the tasks of users get fabric->lock. */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "fake.h"
#include "suites.h"

#define MOST_TASKS	8u

/* Threads that wait for the lock, and the order in which they get it. */
struct lock_scene {
	struct kunit *test;
	struct morph_fabric *fabric;	/* only its lock is in use */
	struct morph_user *users[2];
	struct completion done;
	char order[MOST_TASKS + 1];
	u32 begun, ended;
};

struct lock_task {
	struct lock_scene *scene;
	u32 user;
};

static int lock_init(struct kunit *test)
{
	struct lock_scene *scene = kunit_kzalloc(test, sizeof(*scene), GFP_KERNEL);

	if (!scene)
		return -ENOMEM;
	scene->fabric = kunit_kzalloc(test, sizeof(*scene->fabric), GFP_KERNEL);
	scene->users[0] = morph_user_get(KUIDT_INIT(4343));
	scene->users[1] = morph_user_get(KUIDT_INIT(4344));
	if (!scene->fabric || !scene->users[0] || !scene->users[1])
		return -ENOMEM;
	mutex_init(&scene->fabric->lock);
	morph_lock_order_init(&scene->fabric->lock_order);
	init_completion(&scene->done);
	scene->test = test;
	test->priv = scene;
	mutex_lock(&scene->fabric->lock);
	return 0;
}

static void lock_exit(struct kunit *test)
{
	struct lock_scene *scene = test->priv;

	morph_user_put(scene->users[0]);
	morph_user_put(scene->users[1]);
}

static int take_lock(void *data)
{
	struct lock_task *task = data;
	struct lock_scene *scene = task->scene;
	struct morph_acting acting;

	morph_act_for(&acting, scene->users[task->user]);
	morph_fabric_lock(scene->fabric);
	scene->order[scene->ended++] = 'A' + task->user;
	mutex_unlock(&scene->fabric->lock);
	morph_act_end(&acting);
	complete(&scene->done);
	return 0;
}

/* Start a thread for a user, and wait until it waits for the lock. */
static void begin_task(struct lock_scene *scene, u32 user)
{
	struct lock_task *task = kunit_kzalloc(scene->test, sizeof(*task), GFP_KERNEL);
	u32 waiting = scene->fabric->lock_order.waiting;

	KUNIT_ASSERT_NOT_NULL(scene->test, task);
	*task = (struct lock_task){ .scene = scene, .user = user };
	KUNIT_ASSERT_FALSE(scene->test, IS_ERR(kthread_run(take_lock, task, "lock-test")));
	while (READ_ONCE(scene->fabric->lock_order.waiting) == waiting)
		usleep_range(100, 1000);
	scene->begun++;
}

/* Give the lock back and compare the order of the tasks. */
static void expect_order(struct lock_scene *scene, const char *order)
{
	mutex_unlock(&scene->fabric->lock);
	for (; scene->begun; scene->begun--)
		wait_for_completion(&scene->done);
	KUNIT_EXPECT_STREQ(scene->test, order, scene->order);
	KUNIT_EXPECT_EQ(scene->test, 0u, scene->fabric->lock_order.waiting);
}

static struct morph_lock_user *entry_of(struct lock_scene *scene, u32 user)
{
	u32 i;

	for (i = 0; i < MORPH_LOCK_USERS; i++)
		if (scene->fabric->lock_order.users[i].key == __kuid_val(scene->users[user]->uid))
			return &scene->fabric->lock_order.users[i];
	return NULL;
}

static void lock_user_with_many_tasks_delays_another_once(struct kunit *test)
{
	struct lock_scene *scene = test->priv;

	begin_task(scene, 0);
	begin_task(scene, 0);
	begin_task(scene, 0);
	begin_task(scene, 1);
	begin_task(scene, 0);
	expect_order(scene, "ABAAA");
}

/* The first task is admitted when it comes. The others follow the time that their users had. */
static void lock_user_with_long_holds_waits(struct kunit *test)
{
	struct lock_scene *scene = test->priv;

	begin_task(scene, 0);
	begin_task(scene, 0);
	begin_task(scene, 1);
	begin_task(scene, 1);
	begin_task(scene, 1);
	entry_of(scene, 0)->held_ns = NSEC_PER_SEC;
	expect_order(scene, "ABBBA");
}

/* A user who comes after a long time gets the lock next, and then takes turns with the others. */
static void lock_user_gains_nothing_by_a_rest(struct kunit *test)
{
	struct lock_scene *scene = test->priv;

	begin_task(scene, 0);
	begin_task(scene, 0);
	entry_of(scene, 0)->held_ns = NSEC_PER_SEC;
	expect_order(scene, "AA");
	mutex_lock(&scene->fabric->lock);
	begin_task(scene, 0);
	begin_task(scene, 1);
	KUNIT_EXPECT_GE(test, entry_of(scene, 1)->held_ns, (u64)NSEC_PER_SEC);
	expect_order(scene, "AAAB");
}

static struct kunit_case lock_cases[] = {
	KUNIT_CASE(lock_user_with_many_tasks_delays_another_once),
	KUNIT_CASE(lock_user_with_long_holds_waits),
	KUNIT_CASE(lock_user_gains_nothing_by_a_rest),
	{}
};

struct kunit_suite morph_lock_suite = {
	.name = "morph_lock",
	.init = lock_init,
	.exit = lock_exit,
	.test_cases = lock_cases,
};
