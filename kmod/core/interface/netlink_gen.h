/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/morph.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_MORPH_GEN_H
#define _LINUX_MORPH_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <linux/morph_netlink.h>
#include <linux/morph.h>

/* Common nested types */
extern const struct nla_policy morph_change_nl_policy[MORPH_A_CHANGE_DST_EDGE + 1];
extern const struct nla_policy morph_preference_nl_policy[MORPH_A_PREFERENCE_SPARE + 1];

extern const struct nla_policy morph_fabric_get_nl_policy[MORPH_A_FABRIC_ID + 1];

extern const struct nla_policy morph_accelerator_get_nl_policy[MORPH_A_ACCELERATOR_ID + 1];

extern const struct nla_policy morph_accelerator_set_nl_policy[MORPH_A_ACCELERATOR_PCI + 1];

extern const struct nla_policy morph_guide_get_nl_policy[MORPH_A_GUIDE_ID + 1];

extern const struct nla_policy morph_element_get_nl_policy[MORPH_A_ELEMENT_ID + 1];

extern const struct nla_policy morph_slice_get_nl_policy[MORPH_A_SLICE_NAME + 1];

extern const struct nla_policy morph_slice_create_nl_policy[MORPH_A_SLICE_LEND + 1];

extern const struct nla_policy morph_slice_set_nl_policy[MORPH_A_SLICE_PREFERENCE + 1];

extern const struct nla_policy morph_slice_delete_nl_policy[MORPH_A_SLICE_FORCE + 1];

extern const struct nla_policy morph_circuit_get_nl_policy[MORPH_A_CIRCUIT_ID + 1];

extern const struct nla_policy morph_circuit_apply_nl_policy[MORPH_A_TXN_EPOCH + 1];

extern const struct nla_policy morph_txn_get_nl_policy[MORPH_A_TXN_ID + 1];

extern const struct nla_policy morph_txn_step_nl_policy[MORPH_A_TXN_EPOCH + 1];

extern const struct nla_policy morph_hardware_set_nl_policy[MORPH_A_HARDWARE_CORDONED + 1];

extern const struct nla_policy morph_hardware_fail_nl_policy[MORPH_A_HARDWARE_INDEX + 1];

extern const struct nla_policy morph_hardware_test_nl_policy[MORPH_A_HARDWARE_ACCEPT + 1];

extern const struct nla_policy morph_hardware_get_nl_policy[MORPH_A_HARDWARE_INDEX + 1];

extern const struct nla_policy morph_replace_nl_policy[MORPH_A_REPLACE_SPARE + 1];

extern const struct nla_policy morph_why_not_nl_policy[MORPH_A_WHY_NOT_LANES_COUNT + 1];

extern const struct nla_policy morph_quota_get_nl_policy[MORPH_A_QUOTA_GRANT + 1];

extern const struct nla_policy morph_quota_set_nl_policy[MORPH_A_QUOTA_GRANT + 1];

extern const struct nla_policy morph_stats_get_nl_policy[MORPH_A_STATS_FABRIC + 1];

extern const struct nla_policy morph_edge_get_nl_policy[MORPH_A_EDGE_ID + 1];

extern const struct nla_policy morph_controller_get_nl_policy[MORPH_A_CONTROLLER_ID + 1];

extern const struct nla_policy morph_controller_take_nl_policy[MORPH_A_CONTROLLER_FORCE + 1];

extern const struct nla_policy morph_controller_renew_nl_policy[MORPH_A_CONTROLLER_LEASE_NS + 1];

extern const struct nla_policy morph_controller_drop_nl_policy[MORPH_A_CONTROLLER_ID + 1];

extern const struct nla_policy morph_controller_settle_nl_policy[MORPH_A_CONTROLLER_EPOCH + 1];

extern const struct nla_policy morph_reservation_get_nl_policy[MORPH_A_RESERVATION_GUIDE + 1];

extern const struct nla_policy morph_reservation_set_nl_policy[MORPH_A_RESERVATION_LANES + 1];

/* Ops table for morph */
extern const struct genl_ops morph_nl_ops[30];

int morph_nl_fabric_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_fabric_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int morph_nl_accelerator_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_accelerator_get_dumpit(struct sk_buff *skb,
				    struct netlink_callback *cb);
int morph_nl_accelerator_set_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_guide_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_guide_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int morph_nl_element_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_element_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int morph_nl_slice_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_slice_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int morph_nl_slice_create_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_slice_set_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_slice_delete_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_circuit_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_circuit_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int morph_nl_circuit_apply_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_txn_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_txn_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int morph_nl_txn_step_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_hardware_set_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_hardware_fail_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_hardware_test_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_hardware_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_hardware_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int morph_nl_replace_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_why_not_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_quota_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_quota_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int morph_nl_quota_set_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int morph_nl_edge_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_edge_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int morph_nl_controller_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_controller_get_dumpit(struct sk_buff *skb,
				   struct netlink_callback *cb);
int morph_nl_controller_take_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_controller_renew_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_controller_drop_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_controller_settle_doit(struct sk_buff *skb,
				    struct genl_info *info);
int morph_nl_reservation_get_doit(struct sk_buff *skb, struct genl_info *info);
int morph_nl_reservation_get_dumpit(struct sk_buff *skb,
				    struct netlink_callback *cb);
int morph_nl_reservation_set_doit(struct sk_buff *skb, struct genl_info *info);

#endif /* _LINUX_MORPH_GEN_H */
