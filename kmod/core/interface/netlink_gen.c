// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/morph.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <linux/morph_netlink.h>
#include <linux/morph.h>

/* Common nested types */
const struct nla_policy morph_change_nl_policy[MORPH_A_CHANGE_DST_EDGE + 1] = {
	[MORPH_A_CHANGE_OP] = NLA_POLICY_RANGE(NLA_U32, 1, 3),
	[MORPH_A_CHANGE_CIRCUIT] = { .type = NLA_U32, },
	[MORPH_A_CHANGE_SRC_RANK] = { .type = NLA_U32, },
	[MORPH_A_CHANGE_DST_RANK] = { .type = NLA_U32, },
	[MORPH_A_CHANGE_SRC_PLANE] = NLA_POLICY_MAX(NLA_U32, 63),
	[MORPH_A_CHANGE_DST_PLANE] = NLA_POLICY_MAX(NLA_U32, 63),
	[MORPH_A_CHANGE_LANES_COUNT] = NLA_POLICY_MAX(NLA_U32, 64),
	[MORPH_A_CHANGE_LANES] = { .type = NLA_U64, },
	[MORPH_A_CHANGE_GUIDE] = { .type = NLA_U32, },
	[MORPH_A_CHANGE_STATUS] = { .type = NLA_S32, },
	[MORPH_A_CHANGE_REASON] = { .type = NLA_U32, },
	[MORPH_A_CHANGE_PART] = NLA_POLICY_MAX(NLA_U32, 6),
	[MORPH_A_CHANGE_INDEX] = { .type = NLA_U32, },
	[MORPH_A_CHANGE_DARK_NS] = { .type = NLA_U64, },
	[MORPH_A_CHANGE_SRC_EDGE] = { .type = NLA_U32, },
	[MORPH_A_CHANGE_DST_EDGE] = { .type = NLA_U32, },
};

const struct nla_policy morph_preference_nl_policy[MORPH_A_PREFERENCE_SPARE + 1] = {
	[MORPH_A_PREFERENCE_RANK] = { .type = NLA_U32, },
	[MORPH_A_PREFERENCE_SPARE] = { .type = NLA_U32, },
};

/* MORPH_CMD_FABRIC_GET - do */
const struct nla_policy morph_fabric_get_nl_policy[MORPH_A_FABRIC_ID + 1] = {
	[MORPH_A_FABRIC_ID] = { .type = NLA_U32, },
};

/* MORPH_CMD_ACCELERATOR_GET - do */
const struct nla_policy morph_accelerator_get_nl_policy[MORPH_A_ACCELERATOR_ID + 1] = {
	[MORPH_A_ACCELERATOR_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_ACCELERATOR_ID] = { .type = NLA_U32, },
};

/* MORPH_CMD_ACCELERATOR_SET - do */
const struct nla_policy morph_accelerator_set_nl_policy[MORPH_A_ACCELERATOR_PCI + 1] = {
	[MORPH_A_ACCELERATOR_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_ACCELERATOR_ID] = { .type = NLA_U32, },
	[MORPH_A_ACCELERATOR_USE] = NLA_POLICY_MAX(NLA_U32, 3),
	[MORPH_A_ACCELERATOR_PCI] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* MORPH_CMD_GUIDE_GET - do */
const struct nla_policy morph_guide_get_nl_policy[MORPH_A_GUIDE_ID + 1] = {
	[MORPH_A_GUIDE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_GUIDE_ID] = { .type = NLA_U32, },
};

/* MORPH_CMD_ELEMENT_GET - do */
const struct nla_policy morph_element_get_nl_policy[MORPH_A_ELEMENT_ID + 1] = {
	[MORPH_A_ELEMENT_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_ELEMENT_ID] = { .type = NLA_U32, },
};

/* MORPH_CMD_SLICE_GET - do */
const struct nla_policy morph_slice_get_nl_policy[MORPH_A_SLICE_NAME + 1] = {
	[MORPH_A_SLICE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_SLICE_ID] = { .type = NLA_U32, },
	[MORPH_A_SLICE_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
};

/* MORPH_CMD_SLICE_CREATE - do */
const struct nla_policy morph_slice_create_nl_policy[MORPH_A_SLICE_LEND + 1] = {
	[MORPH_A_SLICE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_SLICE_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[MORPH_A_SLICE_OWNER] = { .type = NLA_U32, },
	[MORPH_A_SLICE_MODE] = NLA_POLICY_MAX(NLA_U32, 511),
	[MORPH_A_SLICE_FAILOVER] = NLA_POLICY_MAX(NLA_U32, 2),
	[MORPH_A_SLICE_TRANSIT] = NLA_POLICY_MAX(NLA_U32, 1),
	[MORPH_A_SLICE_SPARES] = NLA_POLICY_MAX(NLA_U32, 2),
	[MORPH_A_SLICE_RESERVED] = NLA_POLICY_MAX(NLA_U8, 1),
	[MORPH_A_SLICE_RANKS_COUNT] = { .type = NLA_U32, },
	[MORPH_A_SLICE_ACCELERATOR] = { .type = NLA_U32, },
	[MORPH_A_SLICE_SPARE] = { .type = NLA_U32, },
	[MORPH_A_SLICE_CONTROLLER] = { .type = NLA_U32, },
	[MORPH_A_SLICE_LEND] = { .type = NLA_FLAG, },
};

/* MORPH_CMD_SLICE_SET - do */
const struct nla_policy morph_slice_set_nl_policy[MORPH_A_SLICE_PREFERENCE + 1] = {
	[MORPH_A_SLICE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_SLICE_ID] = { .type = NLA_U32, },
	[MORPH_A_SLICE_FAILOVER] = NLA_POLICY_MAX(NLA_U32, 2),
	[MORPH_A_SLICE_OWNER] = { .type = NLA_U32, },
	[MORPH_A_SLICE_MODE] = NLA_POLICY_MAX(NLA_U32, 511),
	[MORPH_A_SLICE_CONTROLLER] = { .type = NLA_U32, },
	[MORPH_A_SLICE_PREFERENCE] = NLA_POLICY_NESTED(morph_preference_nl_policy),
};

/* MORPH_CMD_SLICE_DELETE - do */
const struct nla_policy morph_slice_delete_nl_policy[MORPH_A_SLICE_FORCE + 1] = {
	[MORPH_A_SLICE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_SLICE_ID] = { .type = NLA_U32, },
	[MORPH_A_SLICE_FORCE] = { .type = NLA_FLAG, },
};

/* MORPH_CMD_CIRCUIT_GET - do */
const struct nla_policy morph_circuit_get_nl_policy[MORPH_A_CIRCUIT_ID + 1] = {
	[MORPH_A_CIRCUIT_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_CIRCUIT_SLICE] = { .type = NLA_U32, },
	[MORPH_A_CIRCUIT_ID] = { .type = NLA_U32, },
};

/* MORPH_CMD_CIRCUIT_APPLY - do */
const struct nla_policy morph_circuit_apply_nl_policy[MORPH_A_TXN_EPOCH + 1] = {
	[MORPH_A_TXN_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_TXN_SLICE] = { .type = NLA_U32, },
	[MORPH_A_TXN_COOKIE] = { .type = NLA_U64, },
	[MORPH_A_TXN_GENERATION] = { .type = NLA_U64, },
	[MORPH_A_TXN_LEASE_NS] = { .type = NLA_U64, },
	[MORPH_A_TXN_PROFILE_CHECKSUM] = { .type = NLA_U32, },
	[MORPH_A_TXN_DRY_RUN] = { .type = NLA_FLAG, },
	[MORPH_A_TXN_EACH] = { .type = NLA_FLAG, },
	[MORPH_A_TXN_PREPARE] = { .type = NLA_FLAG, },
	[MORPH_A_TXN_CHANGE] = NLA_POLICY_NESTED(morph_change_nl_policy),
	[MORPH_A_TXN_CONTROLLER] = NLA_POLICY_MIN(NLA_U32, 1),
	[MORPH_A_TXN_EPOCH] = NLA_POLICY_MIN(NLA_U64, 1),
};

/* MORPH_CMD_TXN_GET - do */
const struct nla_policy morph_txn_get_nl_policy[MORPH_A_TXN_ID + 1] = {
	[MORPH_A_TXN_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_TXN_ID] = { .type = NLA_U32, },
};

/* MORPH_CMD_TXN_STEP - do */
const struct nla_policy morph_txn_step_nl_policy[MORPH_A_TXN_EPOCH + 1] = {
	[MORPH_A_TXN_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_TXN_ID] = { .type = NLA_U32, },
	[MORPH_A_TXN_VERB] = NLA_POLICY_RANGE(NLA_U32, 1, 5),
	[MORPH_A_TXN_LEASE_NS] = { .type = NLA_U64, },
	[MORPH_A_TXN_CONTROLLER] = NLA_POLICY_MIN(NLA_U32, 1),
	[MORPH_A_TXN_EPOCH] = NLA_POLICY_MIN(NLA_U64, 1),
};

/* MORPH_CMD_HARDWARE_SET - do */
const struct nla_policy morph_hardware_set_nl_policy[MORPH_A_HARDWARE_CORDONED + 1] = {
	[MORPH_A_HARDWARE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_HARDWARE_PART] = NLA_POLICY_MAX(NLA_U32, 6),
	[MORPH_A_HARDWARE_INDEX] = { .type = NLA_U32, },
	[MORPH_A_HARDWARE_CORDONED] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* MORPH_CMD_HARDWARE_FAIL - do */
const struct nla_policy morph_hardware_fail_nl_policy[MORPH_A_HARDWARE_INDEX + 1] = {
	[MORPH_A_HARDWARE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_HARDWARE_PART] = NLA_POLICY_MAX(NLA_U32, 6),
	[MORPH_A_HARDWARE_INDEX] = { .type = NLA_U32, },
};

/* MORPH_CMD_HARDWARE_TEST - do */
const struct nla_policy morph_hardware_test_nl_policy[MORPH_A_HARDWARE_ACCEPT + 1] = {
	[MORPH_A_HARDWARE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_HARDWARE_PART] = NLA_POLICY_MAX(NLA_U32, 6),
	[MORPH_A_HARDWARE_INDEX] = { .type = NLA_U32, },
	[MORPH_A_HARDWARE_ACCEPT] = { .type = NLA_FLAG, },
};

/* MORPH_CMD_HARDWARE_GET - do */
const struct nla_policy morph_hardware_get_nl_policy[MORPH_A_HARDWARE_INDEX + 1] = {
	[MORPH_A_HARDWARE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_HARDWARE_PART] = NLA_POLICY_MAX(NLA_U32, 6),
	[MORPH_A_HARDWARE_INDEX] = { .type = NLA_U32, },
};

/* MORPH_CMD_REPLACE - do */
const struct nla_policy morph_replace_nl_policy[MORPH_A_REPLACE_SPARE + 1] = {
	[MORPH_A_REPLACE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_REPLACE_SLICE] = { .type = NLA_U32, },
	[MORPH_A_REPLACE_RANK] = { .type = NLA_U32, },
	[MORPH_A_REPLACE_SPARE] = { .type = NLA_U32, },
};

/* MORPH_CMD_WHY_NOT - do */
const struct nla_policy morph_why_not_nl_policy[MORPH_A_WHY_NOT_LANES_COUNT + 1] = {
	[MORPH_A_WHY_NOT_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_WHY_NOT_COUNT] = { .type = NLA_U32, },
	[MORPH_A_WHY_NOT_ACCELERATOR] = { .type = NLA_U32, },
	[MORPH_A_WHY_NOT_TRANSIT] = NLA_POLICY_MAX(NLA_U32, 1),
	[MORPH_A_WHY_NOT_RING] = { .type = NLA_FLAG, },
	[MORPH_A_WHY_NOT_LANES_COUNT] = NLA_POLICY_MAX(NLA_U32, 64),
};

/* MORPH_CMD_QUOTA_GET - do */
const struct nla_policy morph_quota_get_nl_policy[MORPH_A_QUOTA_GRANT + 1] = {
	[MORPH_A_QUOTA_UID] = { .type = NLA_U32, },
	[MORPH_A_QUOTA_GRANT] = { .type = NLA_U32, },
};

/* MORPH_CMD_QUOTA_SET - do */
const struct nla_policy morph_quota_set_nl_policy[MORPH_A_QUOTA_GRANT + 1] = {
	[MORPH_A_QUOTA_UID] = { .type = NLA_U32, },
	[MORPH_A_QUOTA_GRANT] = { .type = NLA_U32, },
	[MORPH_A_QUOTA_ACCELERATORS] = { .type = NLA_U32, },
	[MORPH_A_QUOTA_CIRCUITS] = { .type = NLA_U32, },
	[MORPH_A_QUOTA_LANES] = { .type = NLA_U32, },
	[MORPH_A_QUOTA_PREPARED] = { .type = NLA_U32, },
	[MORPH_A_QUOTA_REPLACEMENTS] = { .type = NLA_U32, },
	[MORPH_A_QUOTA_BYTES] = { .type = NLA_U64, },
};

/* MORPH_CMD_STATS_GET - do */
const struct nla_policy morph_stats_get_nl_policy[MORPH_A_STATS_FABRIC + 1] = {
	[MORPH_A_STATS_FABRIC] = { .type = NLA_U32, },
};

/* MORPH_CMD_EDGE_GET - do */
const struct nla_policy morph_edge_get_nl_policy[MORPH_A_EDGE_ID + 1] = {
	[MORPH_A_EDGE_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_EDGE_ID] = { .type = NLA_U32, },
};

/* MORPH_CMD_CONTROLLER_GET - do */
const struct nla_policy morph_controller_get_nl_policy[MORPH_A_CONTROLLER_ID + 1] = {
	[MORPH_A_CONTROLLER_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_CONTROLLER_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* MORPH_CMD_CONTROLLER_TAKE - do */
const struct nla_policy morph_controller_take_nl_policy[MORPH_A_CONTROLLER_FORCE + 1] = {
	[MORPH_A_CONTROLLER_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_CONTROLLER_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[MORPH_A_CONTROLLER_EPOCH] = NLA_POLICY_MIN(NLA_U64, 1),
	[MORPH_A_CONTROLLER_LEASE_NS] = { .type = NLA_U64, },
	[MORPH_A_CONTROLLER_FORCE] = { .type = NLA_FLAG, },
};

/* MORPH_CMD_CONTROLLER_RENEW - do */
const struct nla_policy morph_controller_renew_nl_policy[MORPH_A_CONTROLLER_LEASE_NS + 1] = {
	[MORPH_A_CONTROLLER_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_CONTROLLER_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[MORPH_A_CONTROLLER_EPOCH] = NLA_POLICY_MIN(NLA_U64, 1),
	[MORPH_A_CONTROLLER_LEASE_NS] = { .type = NLA_U64, },
};

/* MORPH_CMD_CONTROLLER_DROP - do */
const struct nla_policy morph_controller_drop_nl_policy[MORPH_A_CONTROLLER_ID + 1] = {
	[MORPH_A_CONTROLLER_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_CONTROLLER_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* MORPH_CMD_CONTROLLER_SETTLE - do */
const struct nla_policy morph_controller_settle_nl_policy[MORPH_A_CONTROLLER_EPOCH + 1] = {
	[MORPH_A_CONTROLLER_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_CONTROLLER_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[MORPH_A_CONTROLLER_EPOCH] = NLA_POLICY_MIN(NLA_U64, 1),
};

/* MORPH_CMD_RESERVATION_GET - do */
const struct nla_policy morph_reservation_get_nl_policy[MORPH_A_RESERVATION_GUIDE + 1] = {
	[MORPH_A_RESERVATION_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_RESERVATION_CONTROLLER] = NLA_POLICY_MIN(NLA_U32, 1),
	[MORPH_A_RESERVATION_GUIDE] = { .type = NLA_U32, },
};

/* MORPH_CMD_RESERVATION_SET - do */
const struct nla_policy morph_reservation_set_nl_policy[MORPH_A_RESERVATION_LANES + 1] = {
	[MORPH_A_RESERVATION_FABRIC] = { .type = NLA_U32, },
	[MORPH_A_RESERVATION_CONTROLLER] = NLA_POLICY_MIN(NLA_U32, 1),
	[MORPH_A_RESERVATION_GUIDE] = { .type = NLA_U32, },
	[MORPH_A_RESERVATION_EPOCH] = NLA_POLICY_MIN(NLA_U64, 1),
	[MORPH_A_RESERVATION_LANES_COUNT] = NLA_POLICY_MAX(NLA_U32, 64),
	[MORPH_A_RESERVATION_LANES] = { .type = NLA_U64, },
};

/* Ops table for morph */
const struct genl_ops morph_nl_ops[30] = {
	{
		.cmd		= MORPH_CMD_FABRIC_GET,
		.doit		= morph_nl_fabric_get_doit,
		.dumpit		= morph_nl_fabric_get_dumpit,
		.policy		= morph_fabric_get_nl_policy,
		.maxattr	= MORPH_A_FABRIC_ID,
	},
	{
		.cmd		= MORPH_CMD_ACCELERATOR_GET,
		.doit		= morph_nl_accelerator_get_doit,
		.dumpit		= morph_nl_accelerator_get_dumpit,
		.policy		= morph_accelerator_get_nl_policy,
		.maxattr	= MORPH_A_ACCELERATOR_ID,
	},
	{
		.cmd		= MORPH_CMD_ACCELERATOR_SET,
		.doit		= morph_nl_accelerator_set_doit,
		.policy		= morph_accelerator_set_nl_policy,
		.maxattr	= MORPH_A_ACCELERATOR_PCI,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_GUIDE_GET,
		.doit		= morph_nl_guide_get_doit,
		.dumpit		= morph_nl_guide_get_dumpit,
		.policy		= morph_guide_get_nl_policy,
		.maxattr	= MORPH_A_GUIDE_ID,
	},
	{
		.cmd		= MORPH_CMD_ELEMENT_GET,
		.doit		= morph_nl_element_get_doit,
		.dumpit		= morph_nl_element_get_dumpit,
		.policy		= morph_element_get_nl_policy,
		.maxattr	= MORPH_A_ELEMENT_ID,
	},
	{
		.cmd		= MORPH_CMD_SLICE_GET,
		.doit		= morph_nl_slice_get_doit,
		.dumpit		= morph_nl_slice_get_dumpit,
		.policy		= morph_slice_get_nl_policy,
		.maxattr	= MORPH_A_SLICE_NAME,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_SLICE_CREATE,
		.doit		= morph_nl_slice_create_doit,
		.policy		= morph_slice_create_nl_policy,
		.maxattr	= MORPH_A_SLICE_LEND,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_SLICE_SET,
		.doit		= morph_nl_slice_set_doit,
		.policy		= morph_slice_set_nl_policy,
		.maxattr	= MORPH_A_SLICE_PREFERENCE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_SLICE_DELETE,
		.doit		= morph_nl_slice_delete_doit,
		.policy		= morph_slice_delete_nl_policy,
		.maxattr	= MORPH_A_SLICE_FORCE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_CIRCUIT_GET,
		.doit		= morph_nl_circuit_get_doit,
		.dumpit		= morph_nl_circuit_get_dumpit,
		.policy		= morph_circuit_get_nl_policy,
		.maxattr	= MORPH_A_CIRCUIT_ID,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_CIRCUIT_APPLY,
		.doit		= morph_nl_circuit_apply_doit,
		.policy		= morph_circuit_apply_nl_policy,
		.maxattr	= MORPH_A_TXN_EPOCH,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_TXN_GET,
		.doit		= morph_nl_txn_get_doit,
		.dumpit		= morph_nl_txn_get_dumpit,
		.policy		= morph_txn_get_nl_policy,
		.maxattr	= MORPH_A_TXN_ID,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_TXN_STEP,
		.doit		= morph_nl_txn_step_doit,
		.policy		= morph_txn_step_nl_policy,
		.maxattr	= MORPH_A_TXN_EPOCH,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_HARDWARE_SET,
		.doit		= morph_nl_hardware_set_doit,
		.policy		= morph_hardware_set_nl_policy,
		.maxattr	= MORPH_A_HARDWARE_CORDONED,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_HARDWARE_FAIL,
		.doit		= morph_nl_hardware_fail_doit,
		.policy		= morph_hardware_fail_nl_policy,
		.maxattr	= MORPH_A_HARDWARE_INDEX,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_HARDWARE_TEST,
		.doit		= morph_nl_hardware_test_doit,
		.policy		= morph_hardware_test_nl_policy,
		.maxattr	= MORPH_A_HARDWARE_ACCEPT,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_HARDWARE_GET,
		.doit		= morph_nl_hardware_get_doit,
		.dumpit		= morph_nl_hardware_get_dumpit,
		.policy		= morph_hardware_get_nl_policy,
		.maxattr	= MORPH_A_HARDWARE_INDEX,
	},
	{
		.cmd		= MORPH_CMD_REPLACE,
		.doit		= morph_nl_replace_doit,
		.policy		= morph_replace_nl_policy,
		.maxattr	= MORPH_A_REPLACE_SPARE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_WHY_NOT,
		.doit		= morph_nl_why_not_doit,
		.policy		= morph_why_not_nl_policy,
		.maxattr	= MORPH_A_WHY_NOT_LANES_COUNT,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_QUOTA_GET,
		.doit		= morph_nl_quota_get_doit,
		.dumpit		= morph_nl_quota_get_dumpit,
		.policy		= morph_quota_get_nl_policy,
		.maxattr	= MORPH_A_QUOTA_GRANT,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_QUOTA_SET,
		.doit		= morph_nl_quota_set_doit,
		.policy		= morph_quota_set_nl_policy,
		.maxattr	= MORPH_A_QUOTA_GRANT,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_STATS_GET,
		.doit		= morph_nl_stats_get_doit,
		.dumpit		= morph_nl_stats_get_dumpit,
		.policy		= morph_stats_get_nl_policy,
		.maxattr	= MORPH_A_STATS_FABRIC,
	},
	{
		.cmd		= MORPH_CMD_EDGE_GET,
		.doit		= morph_nl_edge_get_doit,
		.dumpit		= morph_nl_edge_get_dumpit,
		.policy		= morph_edge_get_nl_policy,
		.maxattr	= MORPH_A_EDGE_ID,
	},
	{
		.cmd		= MORPH_CMD_CONTROLLER_GET,
		.doit		= morph_nl_controller_get_doit,
		.dumpit		= morph_nl_controller_get_dumpit,
		.policy		= morph_controller_get_nl_policy,
		.maxattr	= MORPH_A_CONTROLLER_ID,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_CONTROLLER_TAKE,
		.doit		= morph_nl_controller_take_doit,
		.policy		= morph_controller_take_nl_policy,
		.maxattr	= MORPH_A_CONTROLLER_FORCE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_CONTROLLER_RENEW,
		.doit		= morph_nl_controller_renew_doit,
		.policy		= morph_controller_renew_nl_policy,
		.maxattr	= MORPH_A_CONTROLLER_LEASE_NS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_CONTROLLER_DROP,
		.doit		= morph_nl_controller_drop_doit,
		.policy		= morph_controller_drop_nl_policy,
		.maxattr	= MORPH_A_CONTROLLER_ID,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_CONTROLLER_SETTLE,
		.doit		= morph_nl_controller_settle_doit,
		.policy		= morph_controller_settle_nl_policy,
		.maxattr	= MORPH_A_CONTROLLER_EPOCH,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_RESERVATION_GET,
		.doit		= morph_nl_reservation_get_doit,
		.dumpit		= morph_nl_reservation_get_dumpit,
		.policy		= morph_reservation_get_nl_policy,
		.maxattr	= MORPH_A_RESERVATION_GUIDE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= MORPH_CMD_RESERVATION_SET,
		.doit		= morph_nl_reservation_set_doit,
		.policy		= morph_reservation_set_nl_policy,
		.maxattr	= MORPH_A_RESERVATION_LANES,
		.flags		= GENL_ADMIN_PERM,
	},
};
