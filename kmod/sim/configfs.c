// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances in configfs: /sys/kernel/config/morph_sim/<name>/.
 *
 * Make a directory, write its attributes, and write 1 to "live". This write registers
 * the fabric, or fails with the errno of the reason. While live the attributes are fixed.
 */
#include <linux/configfs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "sim.h"

struct sim_group {
	struct config_group group;
	struct mutex lock;		/* guards what follows */
	struct sim_config config;
	struct sim_instance *instance;
};

static struct sim_group *to_group(struct config_item *item)
{
	return container_of(to_config_group(item), struct sim_group, group);
}

/* Lock a group to change its configuration; -EBUSY while it is live. */
static int lock_config(struct sim_group *group)
{
	mutex_lock(&group->lock);
	if (!group->instance)
		return 0;
	mutex_unlock(&group->lock);
	return -EBUSY;
}

/* Copy one line without its end. */
static int copy_line(char *to, size_t size, const char *page, size_t count)
{
	size_t length = count && page[count - 1] == '\n' ? count - 1 : count;

	if (length >= size)
		return -ENAMETOOLONG;
	memcpy(to, page, length);
	to[length] = '\0';
	return 0;
}

/* A number of the configuration. */
struct number {
	size_t offset;
	u64 most;
	bool has_default;	/* "default": the profile's */
};

static const struct number number_seed = { offsetof(struct sim_config, seed), U64_MAX - 1, false };
static const struct number number_settle_ns = {
	offsetof(struct sim_config, settle_ns), SIM_MAX_NS, true
};

static const struct number number_relock_ns = {
	offsetof(struct sim_config, relock_ns), SIM_MAX_NS, true
};

static const struct number number_write_ns = {
	offsetof(struct sim_config, write_ns), SIM_MAX_NS, true
};

static const struct number number_monitor_ns = {
	offsetof(struct sim_config, monitor_ns), SIM_MAX_NS, false
};

static u64 *number_of(struct sim_group *group, const struct number *number)
{
	return (u64 *)((u8 *)&group->config + number->offset);
}

static ssize_t number_show(struct config_item *item, const struct number *number, char *page)
{
	struct sim_group *group = to_group(item);
	u64 value;

	mutex_lock(&group->lock);
	value = *number_of(group, number);
	mutex_unlock(&group->lock);
	if (value == SIM_FROM_PROFILE)
		return sysfs_emit(page, "default\n");
	return sysfs_emit(page, "%llu\n", value);
}

static ssize_t number_store(struct config_item *item, const struct number *number,
			    const char *page, size_t count)
{
	struct sim_group *group = to_group(item);
	u64 value;
	int err;

	if (number->has_default && sysfs_streq(page, "default")) {
		value = SIM_FROM_PROFILE;
	} else {
		err = kstrtou64(page, 0, &value);
		if (err)
			return err;
		if (value > number->most)
			return -ERANGE;
	}
	err = lock_config(group);
	if (err)
		return err;
	*number_of(group, number) = value;
	mutex_unlock(&group->lock);
	return count;
}

#define NUMBER(name)									\
static ssize_t sim_##name##_show(struct config_item *item, char *page)			\
{											\
	return number_show(item, &number_##name, page);					\
}											\
static ssize_t sim_##name##_store(struct config_item *item, const char *page,		\
				  size_t count)						\
{											\
	return number_store(item, &number_##name, page, count);				\
}

NUMBER(seed)
NUMBER(settle_ns)
NUMBER(relock_ns)
NUMBER(write_ns)
NUMBER(monitor_ns)

CONFIGFS_ATTR(sim_, seed);
CONFIGFS_ATTR(sim_, settle_ns);
CONFIGFS_ATTR(sim_, relock_ns);
CONFIGFS_ATTR(sim_, write_ns);
CONFIGFS_ATTR(sim_, monitor_ns);

static ssize_t sim_profile_show(struct config_item *item, char *page)
{
	struct sim_group *group = to_group(item);
	ssize_t length;

	mutex_lock(&group->lock);
	length = sysfs_emit(page, "%s\n", group->config.profile);
	mutex_unlock(&group->lock);
	return length;
}

static ssize_t sim_profile_store(struct config_item *item, const char *page, size_t count)
{
	struct sim_group *group = to_group(item);
	char name[sizeof(group->config.profile)];
	int err;

	err = copy_line(name, sizeof(name), page, count);
	if (err)
		return err;
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(name))
		return -EINVAL;
	err = lock_config(group);
	if (err)
		return err;
	strscpy(group->config.profile, name, sizeof(group->config.profile));
	mutex_unlock(&group->lock);
	return count;
}

/* A line of words of the configuration. The instance parses it when it goes live. */
struct words {
	size_t offset;
	size_t size;
};

static const struct words words_pci = { offsetof(struct sim_config, pci), SIM_PCI_BYTES };
static const struct words words_peer = { offsetof(struct sim_config, peer), SIM_PEER_BYTES };
static const struct words words_start_faults = {
	offsetof(struct sim_config, start_faults), SIM_FAULTS_BYTES
};

static ssize_t words_show(struct config_item *item, const struct words *words, char *page)
{
	struct sim_group *group = to_group(item);
	ssize_t length;

	mutex_lock(&group->lock);
	length = sysfs_emit(page, "%s\n", (char *)&group->config + words->offset);
	mutex_unlock(&group->lock);
	return length;
}

static ssize_t words_store(struct config_item *item, const struct words *words,
			   const char *page, size_t count)
{
	struct sim_group *group = to_group(item);
	int err;

	err = lock_config(group);
	if (err)
		return err;
	err = copy_line((char *)&group->config + words->offset, words->size, page, count);
	mutex_unlock(&group->lock);
	return err ?: count;
}

#define WORDS(name)									\
static ssize_t sim_##name##_show(struct config_item *item, char *page)			\
{											\
	return words_show(item, &words_##name, page);					\
}											\
static ssize_t sim_##name##_store(struct config_item *item, const char *page,		\
				  size_t count)						\
{											\
	return words_store(item, &words_##name, page, count);				\
}

WORDS(pci)
WORDS(peer)
WORDS(start_faults)

static ssize_t sim_uuid_show(struct config_item *item, char *page)
{
	struct sim_group *group = to_group(item);
	ssize_t length;

	mutex_lock(&group->lock);
	length = sysfs_emit(page, "%pU\n", &group->config.uuid);
	mutex_unlock(&group->lock);
	return length;
}

static ssize_t sim_uuid_store(struct config_item *item, const char *page, size_t count)
{
	struct sim_group *group = to_group(item);
	uuid_t uuid;
	int err;

	err = uuid_parse(page, &uuid);
	if (err)
		return err;
	err = lock_config(group);
	if (err)
		return err;
	group->config.uuid = uuid;
	mutex_unlock(&group->lock);
	return count;
}

static ssize_t sim_clock_show(struct config_item *item, char *page)
{
	struct sim_group *group = to_group(item);
	enum sim_clock clock;

	mutex_lock(&group->lock);
	clock = group->config.clock;
	mutex_unlock(&group->lock);
	return sysfs_emit(page, "%s\n", sim_clock_names[clock]);
}

static ssize_t sim_clock_store(struct config_item *item, const char *page, size_t count)
{
	struct sim_group *group = to_group(item);
	int clock = __sysfs_match_string(sim_clock_names, -1, page);
	int err;

	if (clock < 0)
		return clock;
	err = lock_config(group);
	if (err)
		return err;
	group->config.clock = clock;
	mutex_unlock(&group->lock);
	return count;
}

static ssize_t sim_alarm_commanded_show(struct config_item *item, char *page)
{
	struct sim_group *group = to_group(item);
	bool value;

	mutex_lock(&group->lock);
	value = group->config.alarm_commanded;
	mutex_unlock(&group->lock);
	return sysfs_emit(page, "%d\n", value);
}

static ssize_t sim_alarm_commanded_store(struct config_item *item, const char *page, size_t count)
{
	struct sim_group *group = to_group(item);
	bool value;
	int err;

	err = kstrtobool(page, &value);
	if (err)
		return err;
	err = lock_config(group);
	if (err)
		return err;
	group->config.alarm_commanded = value;
	mutex_unlock(&group->lock);
	return count;
}

static ssize_t sim_live_show(struct config_item *item, char *page)
{
	struct sim_group *group = to_group(item);
	bool live;

	mutex_lock(&group->lock);
	live = group->instance && sim_instance_live(group->instance);
	mutex_unlock(&group->lock);
	return sysfs_emit(page, "%d\n", live);
}

static void take_down(struct sim_group *group)
{
	if (group->instance)
		sim_instance_destroy(group->instance);
	group->instance = NULL;
}

/* Bring an instance up. Replace one that was removed meanwhile. */
static int bring_up(struct sim_group *group)
{
	struct sim_instance *instance;

	if (group->instance && sim_instance_live(group->instance))
		return 0;
	take_down(group);
	instance = sim_instance_create(config_item_name(&group->group.cg_item), &group->config);
	if (IS_ERR(instance))
		return PTR_ERR(instance);
	group->instance = instance;
	return 0;
}

static ssize_t sim_live_store(struct config_item *item, const char *page, size_t count)
{
	struct sim_group *group = to_group(item);
	bool live;
	int err;

	err = kstrtobool(page, &live);
	if (err)
		return err;
	mutex_lock(&group->lock);
	if (live)
		err = bring_up(group);
	else
		take_down(group);
	mutex_unlock(&group->lock);
	return err ?: count;
}

CONFIGFS_ATTR(sim_, profile);
CONFIGFS_ATTR(sim_, pci);
CONFIGFS_ATTR(sim_, peer);
CONFIGFS_ATTR(sim_, start_faults);
CONFIGFS_ATTR(sim_, uuid);
CONFIGFS_ATTR(sim_, clock);
CONFIGFS_ATTR(sim_, alarm_commanded);
CONFIGFS_ATTR(sim_, live);

static struct configfs_attribute *group_attributes[] = {
	&sim_attr_profile,
	&sim_attr_seed,
	&sim_attr_settle_ns,
	&sim_attr_relock_ns,
	&sim_attr_write_ns,
	&sim_attr_monitor_ns,
	&sim_attr_clock,
	&sim_attr_alarm_commanded,
	&sim_attr_uuid,
	&sim_attr_pci,
	&sim_attr_peer,
	&sim_attr_start_faults,
	&sim_attr_live,
	NULL,
};

static void group_release(struct config_item *item)
{
	struct sim_group *group = to_group(item);

	mutex_destroy(&group->lock);
	kfree(group);
}

static struct configfs_item_operations group_item_ops = {
	.release = group_release,
};

static const struct config_item_type group_type = {
	.ct_item_ops = &group_item_ops,
	.ct_attrs = group_attributes,
	.ct_owner = THIS_MODULE,
};

static struct config_group *make_group(struct config_group *parent, const char *name)
{
	struct sim_group *group;

	if (!sim_name_legal(name)) {
		pr_err("morph_sim: '%s' is not a name: at most 31 of a-z A-Z 0-9 _ . : -\n", name);
		return ERR_PTR(-EINVAL);
	}
	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return ERR_PTR(-ENOMEM);
	mutex_init(&group->lock);
	sim_config_init(&group->config);
	config_group_init_type_name(&group->group, name, &group_type);
	return &group->group;
}

static void drop_group(struct config_group *parent, struct config_item *item)
{
	struct sim_group *group = to_group(item);

	mutex_lock(&group->lock);
	take_down(group);
	mutex_unlock(&group->lock);
	config_item_put(item);
}

static struct configfs_group_operations subsystem_group_ops = {
	.make_group = make_group,
	.drop_item = drop_group,
};

static const struct config_item_type subsystem_type = {
	.ct_group_ops = &subsystem_group_ops,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = "morph_sim",
			.ci_type = &subsystem_type,
		},
	},
};

int sim_configfs_init(void)
{
	config_group_init(&subsystem.su_group);
	mutex_init(&subsystem.su_mutex);
	return configfs_register_subsystem(&subsystem);
}

void sim_configfs_exit(void)
{
	configfs_unregister_subsystem(&subsystem);
}
