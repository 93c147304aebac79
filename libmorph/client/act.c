// SPDX-License-Identifier: LGPL-2.1-or-later
/* Administration: changes over netlink. */
#include <netlink/attr.h>

#include <linux/morph_netlink.h>

#include "internal.h"

/* Space for attributes: numbers of 4 and 8 bytes with their headers. */
#define ATTR32_BYTES 8
#define ATTR64_BYTES 12
#define NEST_BYTES 4

/* Longest attribute: netlink counts its bytes with 16 bits. */
#define MAX_ATTR_BYTES 65535u

static void put(struct nl_msg *request, int attribute, uint32_t value)
{
	nla_put_u32(request, attribute, value);
}

static void put_list(struct nl_msg *request, int attribute, const uint32_t *values, size_t count)
{
	for (size_t at = 0; at < count; at++)
		nla_put_u32(request, attribute, values[at]);
}

/* Check bits of options: at least one must be set, and none can be unknown. */
static int check_set(struct morph_ctx *ctx, const char *what, uint32_t set, uint32_t known)
{
	if (!set)
		return lm_fail(ctx, EINVAL, "%s.set is 0: nothing to change", what);
	if (set & ~known)
		return lm_fail(ctx, EINVAL, "%s.set is 0x%x: 0x%x is unknown", what, set,
			       set & ~known);
	return 0;
}

MORPH_API int morph_admin_accelerator_set(struct morph_ctx *ctx, uint32_t fabric,
					  uint32_t accelerator,
					  const struct morph_accelerator_opts *opts,
					  struct morph_object **out)
{
	struct morph_accelerator_opts mine;
	struct nl_msg *request;
	int error;

	if (out)
		*out = NULL;
	error = lm_opts_check(ctx, opts, sizeof(mine), "morph_accelerator_opts");
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	error = check_set(ctx, "morph_accelerator_opts", mine.set, MORPH_SET_USE | MORPH_SET_PCI);
	if (error)
		return error;
	if ((mine.set & MORPH_SET_PCI) && (!mine.pci || strlen(mine.pci) >= MORPH_PCI_BYTES))
		return lm_fail(ctx, EINVAL, "a PCI address has at most %d characters",
			       MORPH_PCI_BYTES - 1);
	request = lm_request(ctx, MORPH_CMD_ACCELERATOR_SET, 4 * ATTR32_BYTES + MORPH_PCI_BYTES);
	if (!request)
		return -ctx->error.code;
	put(request, MORPH_A_ACCELERATOR_FABRIC, fabric);
	put(request, MORPH_A_ACCELERATOR_ID, accelerator);
	if (mine.set & MORPH_SET_USE)
		put(request, MORPH_A_ACCELERATOR_USE, mine.use);
	if (mine.set & MORPH_SET_PCI)
		nla_put_string(request, MORPH_A_ACCELERATOR_PCI, mine.pci);
	return lm_do(ctx, request, out, "change accelerator %u", accelerator);
}

MORPH_API int morph_admin_slice_create(struct morph_ctx *ctx, uint32_t fabric,
				       const struct morph_request *wanted, uint32_t owner,
				       struct morph_object **out)
{
	size_t listed = wanted->accelerators ? wanted->ranks : 0;
	struct nl_msg *request;
	int error;

	if (out)
		*out = NULL;
	error = lm_request_check(wanted);
	if (error)
		return error;
	if (!wanted->name[0])
		return lm_fail(ctx, EINVAL, "a slice for a user requires a name");
	request =
		lm_request(ctx, MORPH_CMD_SLICE_CREATE,
			   (12 + listed + wanted->spares_count) * ATTR32_BYTES + MORPH_NAME_BYTES);
	if (!request)
		return -ctx->error.code;
	put(request, MORPH_A_SLICE_FABRIC, fabric);
	nla_put_string(request, MORPH_A_SLICE_NAME, wanted->name);
	put(request, MORPH_A_SLICE_OWNER, owner);
	if (wanted->mode)
		put(request, MORPH_A_SLICE_MODE, wanted->mode);
	put(request, MORPH_A_SLICE_FAILOVER, wanted->failover);
	put(request, MORPH_A_SLICE_TRANSIT, wanted->transit);
	put(request, MORPH_A_SLICE_SPARES, wanted->spare_policy);
	if (wanted->reserved)
		nla_put_u8(request, MORPH_A_SLICE_RESERVED, 1);
	if (wanted->lends)
		nla_put_flag(request, MORPH_A_SLICE_LEND);
	if (!wanted->accelerators)
		put(request, MORPH_A_SLICE_RANKS_COUNT, wanted->ranks);
	put_list(request, MORPH_A_SLICE_ACCELERATOR, wanted->accelerators, listed);
	put_list(request, MORPH_A_SLICE_SPARE, wanted->spares, wanted->spares_count);
	if (wanted->controller)
		put(request, MORPH_A_SLICE_CONTROLLER, wanted->controller);
	return lm_do(ctx, request, out, "create slice \"%s\"", wanted->name);
}

static void put_preference(struct nl_msg *request, const struct morph_preference *preference)
{
	struct nlattr *nest = nla_nest_start(request, MORPH_A_SLICE_PREFERENCE | NLA_F_NESTED);

	put(request, MORPH_A_PREFERENCE_RANK, preference->rank);
	if (preference->spare != MORPH_ANY)
		put(request, MORPH_A_PREFERENCE_SPARE, preference->spare);
	nla_nest_end(request, nest);
}

static void put_slice_set(struct nl_msg *request, const struct morph_slice_set_opts *opts)
{
	if (opts->set & MORPH_SET_FAILOVER)
		put(request, MORPH_A_SLICE_FAILOVER, opts->failover);
	if (opts->set & MORPH_SET_OWNER)
		put(request, MORPH_A_SLICE_OWNER, opts->owner);
	if (opts->set & MORPH_SET_MODE)
		put(request, MORPH_A_SLICE_MODE, opts->mode);
	if (opts->set & MORPH_SET_CONTROLLER)
		put(request, MORPH_A_SLICE_CONTROLLER, opts->controller);
	for (size_t at = 0; at < opts->preferences_count; at++)
		put_preference(request, &opts->preferences[at]);
}

MORPH_API int morph_admin_slice_set(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
				    const struct morph_slice_set_opts *opts,
				    struct morph_object **out)
{
	struct morph_slice_set_opts mine;
	struct nl_msg *request;
	int error;

	if (out)
		*out = NULL;
	error = lm_opts_check(ctx, opts, sizeof(mine), "morph_slice_set_opts");
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	error = check_set(ctx, "morph_slice_set_opts", mine.set,
			  MORPH_SET_FAILOVER | MORPH_SET_OWNER | MORPH_SET_MODE |
				  MORPH_SET_CONTROLLER | MORPH_SET_PREFERENCES);
	if (error)
		return error;
	if (!(mine.set & MORPH_SET_PREFERENCES))
		mine.preferences_count = 0;
	else if (!mine.preferences_count)
		return lm_fail(ctx, EINVAL, "prefer spares for slice %u: the list is empty", slice);
	request = lm_request(ctx, MORPH_CMD_SLICE_SET,
			     (6 + 3 * (size_t)mine.preferences_count) * ATTR32_BYTES);
	if (!request)
		return -ctx->error.code;
	put(request, MORPH_A_SLICE_FABRIC, fabric);
	put(request, MORPH_A_SLICE_ID, slice);
	put_slice_set(request, &mine);
	if (mine.set == MORPH_SET_CONTROLLER)
		return lm_do(ctx, request, out, "assign slice %u to controller %u", slice,
			     mine.controller);
	if (mine.set == MORPH_SET_PREFERENCES)
		return lm_do(ctx, request, out, "prefer spares for slice %u", slice);
	return lm_do(ctx, request, out, "change slice %u", slice);
}

MORPH_API int morph_admin_slice_delete(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
				       bool force)
{
	struct nl_msg *request = lm_request(ctx, MORPH_CMD_SLICE_DELETE, 3 * ATTR32_BYTES);

	if (!request)
		return -ctx->error.code;
	put(request, MORPH_A_SLICE_FABRIC, fabric);
	put(request, MORPH_A_SLICE_ID, slice);
	if (force)
		nla_put_flag(request, MORPH_A_SLICE_FORCE);
	return lm_do(ctx, request, NULL, "delete slice %u", slice);
}

/* ------------------------------------------------------------- transactions */

#define TXN_BYTES (8 * ATTR64_BYTES) /* without changes */

static size_t change_bytes(const struct morph_change *change)
{
	return NEST_BYTES + 7 * ATTR32_BYTES + ATTR64_BYTES +
	       (size_t)change->guides.count * ATTR32_BYTES;
}

uint32_t lm_txn_front(const struct morph_txn *txn)
{
	size_t bytes = TXN_BYTES;
	uint32_t front = 0;

	while (front < txn->count && front < LM_MAX_CHANGES) {
		bytes += change_bytes(&txn->changes[front]);
		if (front && bytes > LM_MAX_MESSAGE_BYTES)
			break;
		front++;
	}
	return front;
}

/* The bytes of a transaction's message. 0, or a noted -EINVAL if it is too large. */
static int count_bytes(struct morph_ctx *ctx, const struct morph_txn *txn, size_t *bytes)
{
	*bytes = TXN_BYTES;
	for (uint32_t at = 0; at < txn->count; at++) {
		size_t change = change_bytes(&txn->changes[at]);

		if (change > MAX_ATTR_BYTES)
			return lm_fail(ctx, EINVAL,
				       "change %u has %zu bytes, a message has at most %u for each",
				       at, change, MAX_ATTR_BYTES);
		*bytes += change;
	}
	if (*bytes > LM_MAX_MESSAGE_BYTES)
		return lm_fail(ctx, EINVAL, "the changes have %zu bytes, a message has at most %u",
			       *bytes, LM_MAX_MESSAGE_BYTES);
	return 0;
}

/* One end of a new circuit: a rank, or an edge. */
static void put_end(struct nl_msg *request, int rank_attr, int edge_attr, uint32_t rank)
{
	if (rank & MORPH_RANK_EDGE)
		put(request, edge_attr, rank & ~MORPH_RANK_EDGE);
	else
		put(request, rank_attr, rank);
}

static void put_change(struct nl_msg *request, const struct morph_change *change)
{
	const __u32 *guides = (const void *)(uintptr_t)change->guides.ptr;
	struct nlattr *nest = nla_nest_start(request, MORPH_A_TXN_CHANGE | NLA_F_NESTED);

	put(request, MORPH_A_CHANGE_OP, change->op);
	if (change->op == MORPH_CHANGE_ADD) {
		put_end(request, MORPH_A_CHANGE_SRC_RANK, MORPH_A_CHANGE_SRC_EDGE,
			change->src_rank);
		put_end(request, MORPH_A_CHANGE_DST_RANK, MORPH_A_CHANGE_DST_EDGE,
			change->dst_rank);
	} else {
		put(request, MORPH_A_CHANGE_CIRCUIT, change->circuit);
	}
	if (change->op != MORPH_CHANGE_REMOVE) {
		if (change->src_plane != MORPH_PLANE_ANY)
			put(request, MORPH_A_CHANGE_SRC_PLANE, change->src_plane);
		if (change->dst_plane != MORPH_PLANE_ANY)
			put(request, MORPH_A_CHANGE_DST_PLANE, change->dst_plane);
		if (change->lanes_count)
			put(request, MORPH_A_CHANGE_LANES_COUNT, change->lanes_count);
		if (change->lanes)
			nla_put_u64(request, MORPH_A_CHANGE_LANES, change->lanes);
		put_list(request, MORPH_A_CHANGE_GUIDE, guides, change->guides.count);
	}
	nla_nest_end(request, nest);
}

/* The controller on whose behalf a request is; 0: none. */
static void put_token(struct nl_msg *request, uint32_t controller, uint64_t epoch)
{
	if (!controller)
		return;
	put(request, MORPH_A_TXN_CONTROLLER, controller);
	nla_put_u64(request, MORPH_A_TXN_EPOCH, epoch);
}

static void put_txn(struct nl_msg *request, const struct morph_txn *txn)
{
	if (txn->cookie)
		nla_put_u64(request, MORPH_A_TXN_COOKIE, txn->cookie);
	if (txn->generation != MORPH_GENERATION_ANY)
		nla_put_u64(request, MORPH_A_TXN_GENERATION, txn->generation);
	if (txn->lease_ns)
		nla_put_u64(request, MORPH_A_TXN_LEASE_NS, txn->lease_ns);
	if (txn->profile_checksum)
		put(request, MORPH_A_TXN_PROFILE_CHECKSUM, txn->profile_checksum);
	if (txn->flags & MORPH_TXN_DRY_RUN)
		nla_put_flag(request, MORPH_A_TXN_DRY_RUN);
	if (txn->flags & MORPH_TXN_EACH)
		nla_put_flag(request, MORPH_A_TXN_EACH);
	if (txn->flags & MORPH_TXN_PREPARE)
		nla_put_flag(request, MORPH_A_TXN_PREPARE);
	put_token(request, txn->controller, txn->epoch);
	for (uint32_t at = 0; at < txn->count; at++)
		put_change(request, &txn->changes[at]);
}

/* Read the reply of a transaction command, including the verdict. */
static int do_txn(struct morph_ctx *ctx, struct nl_msg *request, struct morph_object **out,
		  const char *what, uint32_t which)
{
	struct morph_object *txn;
	int error = lm_do(ctx, request, &txn, "%s %u", what, which);

	if (!error)
		error = lm_verdict(ctx, txn, "%s %u", what, which);
	if (out)
		*out = txn;
	else
		morph_object_free(txn);
	return error;
}

MORPH_API int morph_admin_circuit_apply(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
					const struct morph_txn *txn, struct morph_object **out)
{
	struct nl_msg *request;
	size_t bytes;
	int error;

	if (out)
		*out = NULL;
	error = lm_txn_check(txn);
	if (!error)
		error = count_bytes(ctx, txn, &bytes);
	if (error)
		return error;
	request = lm_request(ctx, MORPH_CMD_CIRCUIT_APPLY, bytes);
	if (!request)
		return -ctx->error.code;
	put(request, MORPH_A_TXN_FABRIC, fabric);
	put(request, MORPH_A_TXN_SLICE, slice);
	put_txn(request, txn);
	return do_txn(ctx, request, out, "change the circuits of slice", slice);
}

int morph_admin_txn_step(struct morph_ctx *ctx, uint32_t fabric, uint32_t txn, uint32_t verb,
			 uint64_t lease_ns, struct morph_object **out)
{
	return morph_controller_step(ctx, fabric, txn, verb, lease_ns, 0, 0, out);
}

MORPH_API int morph_controller_step(struct morph_ctx *ctx, uint32_t fabric, uint32_t txn,
				    uint32_t verb, uint64_t lease_ns, uint32_t controller,
				    uint64_t epoch, struct morph_object **out)
{
	const char *name = morph_enum_name(MORPH_ENUM_TXN_VERB, verb);
	struct nl_msg *request;
	char what[32];

	if (out)
		*out = NULL;
	if (verb == MORPH_TXN_QUERY || !name)
		return lm_fail(
			ctx, EINVAL,
			"unknown transaction verb %u: expected commit, confirm, revert or verify",
			verb);
	request = lm_request(ctx, MORPH_CMD_TXN_STEP, 4 * ATTR32_BYTES + 2 * ATTR64_BYTES);
	if (!request)
		return -ctx->error.code;
	put(request, MORPH_A_TXN_FABRIC, fabric);
	put(request, MORPH_A_TXN_ID, txn);
	put(request, MORPH_A_TXN_VERB, verb);
	if (lease_ns)
		nla_put_u64(request, MORPH_A_TXN_LEASE_NS, lease_ns);
	put_token(request, controller, epoch);
	snprintf(what, sizeof(what), "%s transaction", name);
	return do_txn(ctx, request, out, what, txn);
}

/* ---------------------------------------------------------------- hardware */

static struct nl_msg *hardware_request(struct morph_ctx *ctx, uint32_t command, uint32_t fabric,
				       uint32_t part, uint32_t index)
{
	struct nl_msg *request;

	if (!part || !morph_enum_name(MORPH_ENUM_PART, part)) {
		lm_fail(ctx, EINVAL, "unknown kind of hardware %u", part);
		return NULL;
	}
	request = lm_request(ctx, command, 4 * ATTR32_BYTES);
	if (!request)
		return NULL;
	put(request, MORPH_A_HARDWARE_FABRIC, fabric);
	put(request, MORPH_A_HARDWARE_PART, part);
	put(request, MORPH_A_HARDWARE_INDEX, index);
	return request;
}

static int do_hardware(struct morph_ctx *ctx, struct nl_msg *request, uint32_t command,
		       uint32_t part, uint32_t index, struct morph_object **out)
{
	if (out)
		*out = NULL;
	if (!request)
		return -ctx->error.code;
	return lm_do(ctx, request, out, "%s %s %u", lm_command(command)->name,
		     morph_enum_name(MORPH_ENUM_PART, part), index);
}

MORPH_API int morph_admin_hardware_set(struct morph_ctx *ctx, uint32_t fabric, uint32_t part,
				       uint32_t index, bool cordoned, struct morph_object **out)
{
	const uint32_t command = MORPH_CMD_HARDWARE_SET;
	struct nl_msg *request = hardware_request(ctx, command, fabric, part, index);

	if (request)
		nla_put_u8(request, MORPH_A_HARDWARE_CORDONED, cordoned);
	return do_hardware(ctx, request, command, part, index, out);
}

MORPH_API int morph_admin_hardware_fail(struct morph_ctx *ctx, uint32_t fabric, uint32_t part,
					uint32_t index, struct morph_object **out)
{
	const uint32_t command = MORPH_CMD_HARDWARE_FAIL;

	return do_hardware(ctx, hardware_request(ctx, command, fabric, part, index), command, part,
			   index, out);
}

MORPH_API int morph_admin_hardware_test(struct morph_ctx *ctx, uint32_t fabric, uint32_t part,
					uint32_t index, uint32_t flags, struct morph_object **out)
{
	const uint32_t command = MORPH_CMD_HARDWARE_TEST;
	struct nl_msg *request;

	if (flags & ~MORPH_TEST_ACCEPT) {
		if (out)
			*out = NULL;
		return lm_fail(ctx, EINVAL, "flags of a test are 0x%x: 0x%x is unknown", flags,
			       flags & ~MORPH_TEST_ACCEPT);
	}
	request = hardware_request(ctx, command, fabric, part, index);
	if (request && (flags & MORPH_TEST_ACCEPT))
		nla_put_flag(request, MORPH_A_HARDWARE_ACCEPT);
	return do_hardware(ctx, request, command, part, index, out);
}

MORPH_API int morph_admin_replace(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
				  uint32_t rank, uint32_t spare, struct morph_object **out)
{
	struct nl_msg *request;

	if (out)
		*out = NULL;
	request = lm_request(ctx, MORPH_CMD_REPLACE, 4 * ATTR32_BYTES);
	if (!request)
		return -ctx->error.code;
	put(request, MORPH_A_REPLACE_FABRIC, fabric);
	put(request, MORPH_A_REPLACE_SLICE, slice);
	put(request, MORPH_A_REPLACE_RANK, rank);
	if (spare != MORPH_ANY)
		put(request, MORPH_A_REPLACE_SPARE, spare);
	return lm_do(ctx, request, out, "replace rank %u of slice %u", rank, slice);
}

/* ------------------------------------------------------- why not, and quotas */

MORPH_API int morph_admin_why_not(struct morph_ctx *ctx, uint32_t fabric,
				  const struct morph_why_not_opts *opts, struct morph_object **out)
{
	struct morph_why_not_opts mine;
	struct nl_msg *request;
	int error;

	*out = NULL;
	error = lm_opts_check(ctx, opts, sizeof(mine), "morph_why_not_opts");
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if (!mine.accelerators)
		mine.accelerators_count = 0;
	if ((!mine.count && !mine.accelerators_count) ||
	    (mine.flags & ~(MORPH_WHY_NOT_RING | MORPH_WHY_NOT_OWN)))
		return lm_fail(
			ctx, EINVAL,
			"morph_why_not_opts: neither count nor accelerators, or an unknown flag");
	if (mine.flags & MORPH_WHY_NOT_OWN)
		return lm_own_why_not(ctx, fabric, &mine, out);
	request = lm_request(ctx, MORPH_CMD_WHY_NOT, (5 + mine.accelerators_count) * ATTR32_BYTES);
	if (!request)
		return -ctx->error.code;
	put(request, MORPH_A_WHY_NOT_FABRIC, fabric);
	if (!mine.accelerators_count)
		put(request, MORPH_A_WHY_NOT_COUNT, mine.count);
	put_list(request, MORPH_A_WHY_NOT_ACCELERATOR, mine.accelerators, mine.accelerators_count);
	put(request, MORPH_A_WHY_NOT_TRANSIT, mine.transit);
	if (mine.flags & MORPH_WHY_NOT_RING)
		nla_put_flag(request, MORPH_A_WHY_NOT_RING);
	if (mine.lanes_count)
		put(request, MORPH_A_WHY_NOT_LANES_COUNT, mine.lanes_count);
	return lm_do(ctx, request, out, "ask why not");
}

MORPH_API int morph_admin_quota_set(struct morph_ctx *ctx, uint32_t uid,
				    const struct morph_quota_opts *opts, struct morph_object **out)
{
	struct morph_quota_opts mine;
	struct nl_msg *request;
	int error;

	if (out)
		*out = NULL;
	error = lm_opts_check(ctx, opts, sizeof(mine), "morph_quota_opts");
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	error = check_set(ctx, "morph_quota_opts", mine.set, 2 * MORPH_QUOTA_BYTES - 1);
	if (error)
		return error;
	request = lm_request(ctx, MORPH_CMD_QUOTA_SET, 7 * ATTR32_BYTES + ATTR64_BYTES);
	if (!request)
		return -ctx->error.code;
	if (uid != MORPH_ANY)
		put(request, MORPH_A_QUOTA_UID, uid);
	if (mine.grant)
		put(request, MORPH_A_QUOTA_GRANT, mine.grant);
	if (mine.set & MORPH_QUOTA_ACCELERATORS)
		put(request, MORPH_A_QUOTA_ACCELERATORS, mine.accelerators);
	if (mine.set & MORPH_QUOTA_CIRCUITS)
		put(request, MORPH_A_QUOTA_CIRCUITS, mine.circuits);
	if (mine.set & MORPH_QUOTA_LANES)
		put(request, MORPH_A_QUOTA_LANES, mine.lanes);
	if (mine.set & MORPH_QUOTA_PREPARED)
		put(request, MORPH_A_QUOTA_PREPARED, mine.prepared);
	if (mine.set & MORPH_QUOTA_REPLACEMENTS)
		put(request, MORPH_A_QUOTA_REPLACEMENTS, mine.replacements);
	if (mine.set & MORPH_QUOTA_BYTES)
		nla_put_u64(request, MORPH_A_QUOTA_BYTES, mine.bytes);
	if (mine.grant)
		return lm_do(ctx, request, out, "change the limits of grant %u", mine.grant);
	return lm_do(ctx, request, out, "change the limits of user %d", (int)uid);
}
