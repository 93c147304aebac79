// SPDX-License-Identifier: GPL-2.0-only
/* morph_net.ko: network devices whose frames pass over lit circuits. */
#include <linux/module.h>
#include <net/rtnetlink.h>

#include "morph_version.h"
#include "net.h"

struct workqueue_struct *net_wq;
unsigned int net_scale = 1;

static int scale_set(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, 1000000);
}

static const struct kernel_param_ops scale_ops = { .set = scale_set, .get = param_get_uint };

module_param_cb(scale, &scale_ops, &net_scale, 0444);
MODULE_PARM_DESC(scale, "divide the rate of each circuit by this number (default: 1)");

static int __init net_init(void)
{
	int ret;

	net_wq = alloc_workqueue("morph-net", WQ_UNBOUND, 0);
	if (!net_wq)
		return -ENOMEM;
	ret = rtnl_link_register(&net_link_ops);
	if (ret)
		destroy_workqueue(net_wq);
	return ret;
}

static void __exit net_exit(void)
{
	/* Removes all devices, and with them all slices. */
	rtnl_link_unregister(&net_link_ops);
	net_slices_exit();
	destroy_workqueue(net_wq);
}

module_init(net_init);
module_exit(net_exit);

MODULE_ALIAS_RTNL_LINK("morph");
MODULE_DESCRIPTION("Network devices over the circuits of photonic fabrics");
MODULE_AUTHOR("The morph developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(MORPH_VERSION);
