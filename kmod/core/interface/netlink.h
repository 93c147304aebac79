/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the netlink family.
 *
 * A fill function writes one object as one message, for the reply to a get, for a dump and for a
 * notification. Its caller holds fabric->lock. It returns 0, or -EMSGSIZE after it has removed
 * the message.
 */
#ifndef MORPH_CORE_NETLINK_H
#define MORPH_CORE_NETLINK_H

#include <net/genetlink.h>

#include "core/base/base.h"
#include "core/slice/slice.h"
#include "netlink_gen.h"

/* Entries of a list (ranks, changes) in a reply or notification; a dump has all. */
#define MORPH_NL_LIST_MAX	256u

extern struct genl_family morph_nl_family;

/* Destination of a message. */
struct morph_nl_to {
	struct sk_buff *skb;
	u32 portid;
	u32 seq;
	int flags;
	u8 cmd;
	bool admin;			/* may see the holders of resources */
	struct netlink_callback *cb;	/* of a dump, else NULL */
};

/* The reply to a request that changes something. */
struct morph_nl_answer {
	struct morph_nl_to reply;
	struct morph_nl_to echo;	/* the notification, if requested; else no skb */
};

/* Position of a dump, in cb->ctx. */
struct morph_nl_cursor {
	u64 seq;		/* of the fabric at the last message */
	u32 only;		/* the requested fabric, or MORPH_ANY */
	u32 fabric;		/* the fabric being dumped */
	u32 seq_fabric;		/* the fabric that seq belongs to */
	u32 index;		/* of the next object */
	u32 sub;		/* position within that object */
	bool begun, inside, torn, done;
};

/* Dump objects of a fabric from the cursor on. 0: finished, -EMSGSIZE: there are more. */
typedef int (*morph_nl_dump_fn)(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
				struct morph_fabric *fabric);

int morph_nl_refuse(struct genl_info *info, int error, const struct morph_refusal *refusal,
		    const struct nlattr *attr);
int morph_nl_refuse_numbers(struct genl_info *info, int error, const struct nlattr *attr,
			    u32 index, s64 have, s64 need, const char *fixed);

struct morph_fabric *morph_nl_find_fabric(struct genl_info *info, int attr);
struct morph_slice *morph_nl_find_slice(struct genl_info *info, struct morph_fabric *fabric,
					int attr);
int morph_nl_check_index(struct genl_info *info, int attr, u32 part, u32 count);

void *morph_nl_begin(struct morph_nl_to *to);
int morph_nl_end(struct morph_nl_to *to, void *header, bool failed);

int morph_nl_reply_begin(struct morph_nl_to *to, struct genl_info *info, size_t bytes);
int morph_nl_reply_end(struct morph_nl_to *to, struct genl_info *info, int ret);
int morph_nl_answer_begin(struct morph_nl_answer *answer, struct genl_info *info, u8 ntf,
			  size_t bytes);
int morph_nl_answer_drop(struct morph_nl_answer *answer, int ret);
bool morph_nl_notify_begin(struct morph_nl_to *to, u8 cmd, size_t bytes);
void morph_nl_notify_end(struct morph_nl_to *to, int ret);

int morph_nl_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, int fabric_attr,
		  morph_nl_dump_fn dump);
int morph_nl_dump_lacks(struct netlink_callback *cb, int attr);
void morph_nl_dump_seq(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
		       struct morph_fabric *fabric);

/* The fabric's first slice whose number is at least *number, with a reference; or NULL. */
struct morph_slice *morph_nl_slice_from(struct morph_fabric *fabric, u32 *number);
int morph_nl_dump_slices(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
			 struct morph_fabric *fabric, const struct nlattr *only,
			 int (*dump)(struct morph_nl_to *to, struct morph_nl_cursor *cursor,
				     struct morph_slice *slice));
u32 *morph_nl_read_list(struct genl_info *info, int type, u32 *count);

int morph_nl_put_times(struct sk_buff *skb, int attr, const struct morph_times *times);

/* Return whether the caller requests the notifications of its own changes. */
static inline bool morph_nl_wants_echo(struct genl_info *info)
{
	return info->nlhdr->nlmsg_flags & NLM_F_ECHO;
}

/* Put an index, unless it is MORPH_ANY. */
static inline int morph_nl_put_index(struct sk_buff *skb, int attr, u32 index)
{
	return index == MORPH_ANY ? 0 : nla_put_u32(skb, attr, index);
}

static inline u32 morph_nl_get_u32(struct genl_info *info, int attr, u32 otherwise)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : otherwise;
}

static inline u64 morph_nl_get_u64(struct genl_info *info, int attr, u64 otherwise)
{
	return info->attrs[attr] ? nla_get_u64(info->attrs[attr]) : otherwise;
}

/* The next attribute of a type after @from, or the first one; NULL at the end. */
static inline struct nlattr *morph_nl_next(struct genl_info *info, struct nlattr *from, int type)
{
	struct nlattr *attr = nlmsg_attrdata(info->nlhdr, GENL_HDRLEN);
	int rem = nlmsg_attrlen(info->nlhdr, GENL_HDRLEN);

	if (from) {
		rem -= (void *)from - (void *)attr;
		attr = nla_next(from, &rem);
	}
	for (; nla_ok(attr, rem); attr = nla_next(attr, &rem))
		if (nla_type(attr) == type)
			return attr;
	return NULL;
}

/* The attribute of a type with this value, or NULL. */
static inline struct nlattr *morph_nl_find_u32(struct genl_info *info, int type, u32 value)
{
	struct nlattr *attr = NULL;

	while ((attr = morph_nl_next(info, attr, type)))
		if (nla_get_u32(attr) == value)
			break;
	return attr;
}

#endif /* MORPH_CORE_NETLINK_H */
