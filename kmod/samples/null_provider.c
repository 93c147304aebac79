// SPDX-License-Identifier: GPL-2.0-only
/*
 * The smallest complete provider: its device accepts every command, answers every
 * query, and never shows light. Documentation/provider-guide.rst explains it. A real
 * driver accesses its hardware where this one accesses "registers".
 *
 * The core brings the fabric up, allocates slices and watches their accelerators. It
 * refuses circuits with EIO, because no receiver ever sees their light.
 *
 *	insmod null_provider.ko profile=server4
 *	echo 2 > /sys/module/null_provider/parameters/dead
 */
#include <linux/firmware.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <morph_provider.h>
#include <optics/profile.h>

/*
 * The device. Fields above the lock are constant while the fabric is registered; fields
 * below it are the registers. Bits of @dead are atomic.
 */
struct null_device {
	struct morph_fabric *fabric;
	struct workqueue_struct *queue;	/* executes writes in order */
	u32 elements_count;
	u32 accelerators_count;
	u32 ports_count;
	spinlock_t lock;		/* guards what follows */
	u32 *elements;			/* state of each */
	u64 *lasers;			/* by transmit port: lanes that are on */
	unsigned long *dead;		/* accelerators without heartbeat */
};

/* A write in flight. The arrays of the core are valid only until the operation returns. */
struct null_request {
	struct work_struct work;
	struct null_device *null;
	u64 cookie;
	u32 count;
	struct morph_element_setting *elements;	/* the one or the other */
	struct morph_laser_setting *lasers;
};

static char *profile = "server4";
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile, "profile of the fabric (server4)");

/* A real driver reports false. Tests set 0, to see the rules for real hardware. */
static bool simulated = true;
module_param(simulated, bool, 0444);
MODULE_PARM_DESC(simulated, "report the hardware as simulated (1)");

/* ------------------------------------------------------------------- writes */

static void request_work(struct work_struct *work)
{
	struct null_request *request = container_of(work, struct null_request, work);
	struct null_device *null = request->null;
	u32 i;

	spin_lock(&null->lock);
	for (i = 0; request->elements && i < request->count; i++)
		null->elements[request->elements[i].element] = request->elements[i].state;
	for (i = 0; request->lasers && i < request->count; i++)
		null->lasers[request->lasers[i].port] = request->lasers[i].lanes;
	spin_unlock(&null->lock);
	morph_fabric_complete(null->fabric, request->cookie, 0, NULL, 0);
	kvfree(request->elements);
	kvfree(request->lasers);
	kfree(request);
}

/* Wait for memory: its lack would end a prepared change. */
#define NULL_GFP	(GFP_KERNEL | __GFP_NOFAIL)

static struct null_request *request_new(struct null_device *null, u64 cookie, u32 count)
{
	struct null_request *request = kzalloc(sizeof(*request), NULL_GFP);

	INIT_WORK(&request->work, request_work);
	request->null = null;
	request->cookie = cookie;
	request->count = count;
	return request;
}

/* A copy of the core's array. kvmemdup() does not exist in Linux 6.1. */
static void *copy_settings(const void *settings, size_t bytes)
{
	void *copy = kvmalloc(bytes, NULL_GFP);

	memcpy(copy, settings, bytes);
	return copy;
}

/* Submit a complete request. request_work() completes it. */
static int request_submit(struct null_request *request)
{
	queue_work(request->null->queue, &request->work);
	return -EINPROGRESS;
}

static int null_set_elements(struct morph_fabric *fabric, u64 cookie,
			     const struct morph_element_setting *settings, u32 count)
{
	struct null_device *null = morph_fabric_priv(fabric);
	struct null_request *request;
	u32 i;

	for (i = 0; i < count; i++)
		if (settings[i].element >= null->elements_count)
			return -EINVAL;
	request = request_new(null, cookie, count);
	request->elements = copy_settings(settings, array_size(count, sizeof(*settings)));
	return request_submit(request);
}

static int null_set_lasers(struct morph_fabric *fabric, u64 cookie,
			   const struct morph_laser_setting *settings, u32 count)
{
	struct null_device *null = morph_fabric_priv(fabric);
	struct null_request *request;
	u32 i;

	for (i = 0; i < count; i++)
		if (settings[i].port >= null->ports_count)
			return -EINVAL;
	request = request_new(null, cookie, count);
	request->lasers = copy_settings(settings, array_size(count, sizeof(*settings)));
	return request_submit(request);
}

/* -------------------------------------------------------------------- reads */

static int null_get_elements(struct morph_fabric *fabric, u64 cookie,
			     struct morph_element_setting *settings, u32 count)
{
	struct null_device *null = morph_fabric_priv(fabric);
	u32 i;

	for (i = 0; i < count; i++) {
		if (settings[i].element >= null->elements_count)
			return -EINVAL;
		settings[i].state = READ_ONCE(null->elements[settings[i].element]);
	}
	return 0;
}

static int null_get_lasers(struct morph_fabric *fabric, u64 cookie,
			   struct morph_laser_reading *readings, u32 count)
{
	struct null_device *null = morph_fabric_priv(fabric);
	u32 i;

	for (i = 0; i < count; i++) {
		if (readings[i].port >= null->ports_count)
			return -EINVAL;
		spin_lock(&null->lock);
		readings[i].lanes = null->lasers[readings[i].port];
		spin_unlock(&null->lock);
		readings[i].weak = 0;
		readings[i].active = 1;
	}
	return 0;
}

/* The receivers of this device see no light. */
static int null_get_receivers(struct morph_fabric *fabric, u64 cookie,
			      struct morph_receiver_reading *readings, u32 count)
{
	struct null_device *null = morph_fabric_priv(fabric);
	u32 i;

	for (i = 0; i < count; i++) {
		if (readings[i].port >= null->ports_count)
			return -EINVAL;
		readings[i].lit = 0;
		readings[i].locked = 0;
		readings[i].min_mdbm = -100000;
		readings[i].max_mdbm = -100000;
	}
	return 0;
}

static int null_probe_accelerators(struct morph_fabric *fabric, u64 cookie,
				   struct morph_probe *probes, u32 count)
{
	struct null_device *null = morph_fabric_priv(fabric);
	u32 i;

	for (i = 0; i < count; i++) {
		if (probes[i].accelerator >= null->accelerators_count)
			return -EINVAL;
		probes[i].alive = !test_bit(probes[i].accelerator, null->dead);
	}
	return 0;
}

/* Stable, and different for each accelerator; a real device reads it from the chip. */
static void null_identify(struct morph_fabric *fabric, u32 accelerator,
			  struct morph_identity *identity)
{
	memset(identity, 0, sizeof(*identity));
	identity->uuid[0] = 0x6e;
	identity->uuid[14] = accelerator >> 8;
	identity->uuid[15] = accelerator;
}

static const struct morph_fabric_ops null_ops = {
	.owner = THIS_MODULE,
	.set_elements = null_set_elements,
	.get_elements = null_get_elements,
	.set_lasers = null_set_lasers,
	.get_lasers = null_get_lasers,
	.get_receivers = null_get_receivers,
	.probe = null_probe_accelerators,
	.identify = null_identify,
};

/* ------------------------------------------------------------------ signals */

static struct platform_device *null_pdev;

/* Guards null_pdev: users can write parameters during load and unload. */
static DEFINE_MUTEX(null_mutex);

/* Where a real device has an interrupt, this one has a parameter. */
static int set_dead(const char *text, const struct kernel_param *param)
{
	struct morph_signal signal = { .type = MORPH_SIGNAL_HEARTBEAT };
	struct null_device *null;
	int ret;

	ret = kstrtou32(text, 0, &signal.index);
	if (ret)
		return ret;
	mutex_lock(&null_mutex);
	null = null_pdev ? platform_get_drvdata(null_pdev) : NULL;
	if (!null) {
		ret = -ENODEV;
	} else if (signal.index >= null->accelerators_count) {
		ret = -ERANGE;
	} else {
		signal.value = test_and_change_bit(signal.index, null->dead);
		morph_fabric_signal(null->fabric, &signal, 1);
	}
	mutex_unlock(&null_mutex);
	return ret;
}

static const struct kernel_param_ops dead_ops = {
	.set = set_dead,
};

module_param_cb(dead, &dead_ops, NULL, 0200);
MODULE_PARM_DESC(dead, "number of an accelerator that dies, or comes back");

/* ------------------------------------------------------------ come and go */

/*
 * Read the sizes of the device. The core checks the profile completely, but only at
 * registration. Until then the profile is hostile, so read only the sizes.
 */
static int null_allocate(struct device *dev, struct null_device *null, const struct firmware *file)
{
	const struct morph_profile_header *header = (const void *)file->data;
	u32 planes;

	if (file->size < sizeof(*header))
		return -EINVAL;
	planes = le32_to_cpu(header->planes);
	null->elements_count = le32_to_cpu(header->elements.count);
	null->accelerators_count = le32_to_cpu(header->accelerators.count);
	if (planes > MORPH_MAX_PLANES || null->elements_count > file->size ||
	    null->accelerators_count > file->size)
		return -EINVAL;
	null->ports_count = null->accelerators_count * planes;
	null->elements = devm_kcalloc(dev, null->elements_count, sizeof(u32), GFP_KERNEL);
	null->lasers = devm_kcalloc(dev, null->ports_count, sizeof(u64), GFP_KERNEL);
	null->dead = devm_bitmap_zalloc(dev, null->accelerators_count, GFP_KERNEL);
	return null->elements && null->lasers && null->dead ? 0 : -ENOMEM;
}

static void put_fabric(void *fabric)
{
	morph_fabric_put(fabric);
}

static void destroy_queue(void *queue)
{
	destroy_workqueue(queue);
}

static void unregister_fabric(void *fabric)
{
	morph_fabric_unregister(fabric);
}

/*
 * The reverse order undoes it: unregister, so that the core submits nothing new; drain
 * the writes in flight; then put the fabric, which they complete.
 */
static int null_bring_up(struct device *dev, struct null_device *null, const struct firmware *file)
{
	const struct morph_fabric_desc desc = {
		.name = "null0",
		.uuid = { 0x6e, 0x75, 0x6c, 0x6c, [15] = 1 },
		.profile = file->data,
		.profile_bytes = file->size,
		.simulated = simulated,
	};
	int ret;

	null->fabric = morph_fabric_alloc(dev, &null_ops, null);
	if (IS_ERR(null->fabric))
		return PTR_ERR(null->fabric);
	ret = devm_add_action_or_reset(dev, put_fabric, null->fabric);
	if (ret)
		return ret;
	null->queue = alloc_ordered_workqueue("morph_null", 0);
	if (!null->queue)
		return -ENOMEM;
	ret = devm_add_action_or_reset(dev, destroy_queue, null->queue);
	if (ret)
		return ret;
	ret = morph_fabric_register(null->fabric, &desc);
	if (ret)
		return dev_err_probe(dev, ret, "the core refused the fabric\n");
	return devm_add_action_or_reset(dev, unregister_fabric, null->fabric);
}

static int null_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	const struct firmware *file;
	struct null_device *null;
	char path[64];
	int ret;

	null = devm_kzalloc(dev, sizeof(*null), GFP_KERNEL);
	if (!null)
		return -ENOMEM;
	spin_lock_init(&null->lock);
	snprintf(path, sizeof(path), "morph/%s.bin", profile);
	ret = request_firmware(&file, path, dev);
	if (ret)
		return dev_err_probe(dev, ret, "no profile %s\n", path);
	ret = null_allocate(dev, null, file);
	if (!ret)
		ret = null_bring_up(dev, null, file);
	release_firmware(file);
	if (!ret)
		platform_set_drvdata(pdev, null);
	return ret;
}

static void null_shutdown(struct platform_device *pdev)
{
	struct null_device *null = platform_get_drvdata(pdev);

	morph_fabric_shutdown(null->fabric);
}

static int __maybe_unused null_suspend(struct device *dev)
{
	struct null_device *null = dev_get_drvdata(dev);

	return morph_fabric_is_lit(null->fabric) ? -EBUSY : 0;
}

static int __maybe_unused null_resume(struct device *dev)
{
	struct null_device *null = dev_get_drvdata(dev);

	morph_fabric_resume(null->fabric);
	return 0;
}

static SIMPLE_DEV_PM_OPS(null_pm, null_suspend, null_resume);

static struct platform_driver null_driver = {
	.probe = null_probe,
	.shutdown = null_shutdown,
	.driver = {
		.name = "morph_null",
		.pm = &null_pm,
		.suppress_bind_attrs = true,
	},
};

/* Fail without a device: the log has the reason. */
static int __init null_init(void)
{
	struct platform_device *pdev;
	int ret;

	ret = platform_driver_register(&null_driver);
	if (ret)
		return ret;
	pdev = platform_device_register_simple("morph_null", 0, NULL, 0);
	ret = PTR_ERR_OR_ZERO(pdev);
	if (!ret && !platform_get_drvdata(pdev)) {
		platform_device_unregister(pdev);
		ret = -ENODEV;
	}
	if (ret) {
		platform_driver_unregister(&null_driver);
		return ret;
	}
	mutex_lock(&null_mutex);
	null_pdev = pdev;
	mutex_unlock(&null_mutex);
	return 0;
}

static void __exit null_exit(void)
{
	struct platform_device *pdev = null_pdev;

	mutex_lock(&null_mutex);
	null_pdev = NULL;
	mutex_unlock(&null_mutex);
	platform_device_unregister(pdev);
	platform_driver_unregister(&null_driver);
}

module_init(null_init);
module_exit(null_exit);

MODULE_DESCRIPTION("morph: sample of a provider, without hardware");
MODULE_LICENSE("GPL");
