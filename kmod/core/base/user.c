// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users and grants with their limits.
 *
 * The kernel keeps the record of a user while the user holds a resource. A user with limits of its
 * own stays until the module unloads. Root has no limit unless an administrator sets one. A grant
 * is charged like a user and has limits from the start. It is freed with its last file and its last
 * slice. The user lock guards all of this; it may be taken under fabric->lock.
 *
 * As ucounts does, the kernel charges a user in a user namespace together with the owner of this
 * namespace and of each namespace around it. Such a user has a record for each parent, which leads
 * to the records that are charged.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "core/base/base.h"

static DEFINE_MUTEX(user_lock);
static DEFINE_HASHTABLE(users, 6);
static DEFINE_XARRAY_ALLOC1(grants);	/* by number */

static const struct morph_limits no_limits = {
	.accelerators = MORPH_ANY,
	.circuits = MORPH_ANY,
	.lanes = MORPH_ANY,
	.prepared = MORPH_ANY,
	.replacements = MORPH_ANY,
	.bytes = U64_MAX,
};

/*
 * Defaults for users without own limits: enough for any one job, and a bound for faulty programs.
 */
static struct morph_limits default_limits = {
	.accelerators = 1024,
	.circuits = 65536,
	.lanes = 262144,
	.prepared = 64,
	.replacements = 32,
	.bytes = 1 << 30,
};

/* Return whether a charge of @user charges @uid. */
static bool charges_uid(const struct morph_user *user, kuid_t uid)
{
	for (; user; user = user->parent)
		if (uid_eq(user->uid, uid))
			return true;
	return false;
}

/* An allocation that may sleep may enter reclaim, which here seems to need the lock. */
void morph_user_teach_lockdep(void)
{
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(&user_lock);
	fs_reclaim_release(GFP_KERNEL);
}

static struct morph_user *user_find(kuid_t uid, const struct morph_user *parent)
{
	struct morph_user *user;

	hash_for_each_possible(users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid) && user->parent == parent)
			return user;
	return NULL;
}

/*
 * Find or create a user and take a reference. A new user keeps references to @parent and @base.
 * Memory is allocated outside of user_lock, since the allocation may sleep for long.
 */
static struct morph_user *user_get(kuid_t uid, struct morph_user *parent, struct morph_user *base)
{
	struct morph_user *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	struct morph_user *user;

	mutex_lock(&user_lock);
	user = user_find(uid, parent);
	if (user) {
		kref_get(&user->kref);
	} else if (spare) {
		user = spare;
		spare = NULL;
		kref_init(&user->kref);
		INIT_LIST_HEAD(&user->turns);
		user->uid = uid;
		if (parent) {
			user->parent = morph_user_ref(parent);
			user->base = morph_user_ref(base);
			user->repeats = charges_uid(parent, uid);
		}
		hash_add(users, &user->node, __kuid_val(uid));
	}
	mutex_unlock(&user_lock);
	kfree(spare);
	return user;
}

/**
 * morph_user_get() - the record of a user outside of user namespaces
 * @uid: id of the user
 *
 * Context: process context; takes the user lock.
 * Return: the user, counted, or NULL when out of memory.
 */
struct morph_user *morph_user_get(kuid_t uid)
{
	return user_get(uid, NULL, NULL);
}

/* The record of a user whose charges also go to @parent. Drops the reference to @parent. */
static struct morph_user *user_within(kuid_t uid, struct morph_user *parent)
{
	struct morph_user *base, *user;

	if (uid_eq(parent->uid, uid))
		return parent;
	base = morph_user_get(uid);
	user = base ? user_get(uid, parent, base) : NULL;
	if (base)
		morph_user_put(base);
	morph_user_put(parent);
	return user;
}

/**
 * morph_user_of() - the user who is charged for a program
 * @cred: credentials of the program
 *
 * Context: process context; takes the user lock.
 * Return: the user, counted, or NULL when out of memory.
 */
struct morph_user *morph_user_of(const struct cred *cred)
{
	struct user_namespace *ns;
	struct morph_user *user;
	int level;

	if (!cred->user_ns->level)
		return morph_user_get(cred->euid);
	/* From the outermost namespace inwards: each record needs that of its parent. */
	user = NULL;
	for (level = 1; level <= cred->user_ns->level; level++) {
		for (ns = cred->user_ns; ns->level > level; ns = ns->parent)
			;
		user = user ? user_within(ns->owner, user) : morph_user_get(ns->owner);
		if (!user)
			return NULL;
	}
	return user_within(cred->euid, user);
}

/* The record that holds the limits and the charges of a user. */
static struct morph_user *account_of(struct morph_user *user)
{
	return user->base ?: user;
}

struct morph_user *morph_user_payer(struct morph_user *user)
{
	struct morph_user *payer = user;

	for (; user; user = user->parent)
		if (!uid_eq(user->uid, GLOBAL_ROOT_UID))
			payer = user;
	return account_of(payer);
}

struct morph_user *morph_user_ref(struct morph_user *user)
{
	kref_get(&user->kref);
	return user;
}

/*
 * Free a user with its last reference; kref_put_mutex() has taken user_lock. Each charge holds a
 * reference, so the user's usage is zero now.
 */
static void user_last_put(struct kref *kref)
{
	struct morph_user *user = container_of(kref, struct morph_user, kref);

	if (user->grant)
		xa_erase(&grants, user->grant);
	else
		hash_del(&user->node);
	mutex_unlock(&user_lock);
	WARN_ON_ONCE(memchr_inv(&user->used, 0, sizeof(user->used)));
	kfree(user);
}

void morph_user_put(struct morph_user *user)
{
	struct morph_user *parent, *base;

	for (; user; user = parent) {
		parent = user->parent;
		base = user->base;
		if (!kref_put_mutex(&user->kref, user_last_put, &user_lock))
			return;
		if (base)
			morph_user_put(base);	/* has neither parent nor base */
	}
}

/* ------------------------------------------------------------------- grants */

struct morph_user *morph_grant_create(const struct morph_limits *limits)
{
	static u32 next_number;		/* lock of grants */
	struct morph_user *grant;
	int ret;

	grant = kzalloc(sizeof(*grant), GFP_KERNEL_ACCOUNT);
	if (!grant)
		return ERR_PTR(-ENOMEM);
	kref_init(&grant->kref);
	INIT_LIST_HEAD(&grant->turns);
	grant->uid = INVALID_UID;
	grant->limits = *limits;
	grant->has_limits = true;
	/*
	 * Numbers are allocated cyclically, so that an old number does not soon name another grant.
	 */
	ret = xa_alloc_cyclic(&grants, &grant->grant, grant, XA_LIMIT(1, 0x7fffffff),
			      &next_number, GFP_KERNEL_ACCOUNT);
	if (ret >= 0)
		return grant;
	kfree(grant);
	return ERR_PTR(ret);
}

struct morph_user *morph_grant_find(u32 number)
{
	struct morph_user *grant;

	mutex_lock(&user_lock);
	grant = xa_load(&grants, number);
	if (grant)
		kref_get(&grant->kref);
	mutex_unlock(&user_lock);
	return grant;
}

/* ------------------------------------------------------------------ charges */

/* Caller holds user_lock. */
static const struct morph_limits *limits_of(const struct morph_user *user)
{
	if (user->has_limits)
		return &user->limits;
	return uid_eq(user->uid, GLOBAL_ROOT_UID) ? &no_limits : &default_limits;
}

/* The first of a user and its parents that is charged, or NULL. */
static struct morph_user *first_charged(struct morph_user *user)
{
	while (user && user->repeats)
		user = user->parent;
	return user;
}

#define SENTENCE(holder, resource) \
	"quota of " holder " {index} exceeded: {need} " resource " requested, {have} left"

static int refuse_charge(const struct morph_user *user, enum morph_resource resource, u64 left,
			 u64 amount, struct morph_refusal *refusal)
{
	static const char *const of_user[] = {
		[MORPH_RES_ACCELERATORS] = SENTENCE("user", "accelerators"),
		[MORPH_RES_CIRCUITS] = SENTENCE("user", "circuits"),
		[MORPH_RES_LANES] = SENTENCE("user", "lanes"),
		[MORPH_RES_PREPARED] = SENTENCE("user", "prepared transactions"),
		[MORPH_RES_BYTES] = SENTENCE("user", "bytes of memory"),
	};
	static const char *const of_grant[] = {
		[MORPH_RES_ACCELERATORS] = SENTENCE("grant", "accelerators"),
		[MORPH_RES_CIRCUITS] = SENTENCE("grant", "circuits"),
		[MORPH_RES_LANES] = SENTENCE("grant", "lanes"),
		[MORPH_RES_PREPARED] = SENTENCE("grant", "prepared transactions"),
		[MORPH_RES_BYTES] = SENTENCE("grant", "bytes of memory"),
	};

	if (user->grant)
		return morph_refuse_numbers(refusal, -EDQUOT, MORPH_REASON_QUOTA, 0, user->grant,
					    left, amount, of_grant[resource]);
	return morph_refuse_numbers(refusal, -EDQUOT, MORPH_REASON_QUOTA, 0,
				    from_kuid(&init_user_ns, user->uid), left, amount,
				    of_user[resource]);
}

/* Return one limit of a set; only bytes have 64 bits. */
static u64 limit_get(const struct morph_limits *limits, enum morph_resource resource)
{
	const u32 *counts = &limits->accelerators;

	BUILD_BUG_ON(offsetof(struct morph_limits, prepared) !=
		     MORPH_RES_PREPARED * sizeof(u32));
	if (resource == MORPH_RES_BYTES)
		return limits->bytes;
	return counts[resource] == MORPH_ANY ? U64_MAX : counts[resource];
}

static void use_set(struct morph_user *user, enum morph_resource resource, u64 value)
{
	u32 *counts = &user->used.accelerators;

	if (resource == MORPH_RES_BYTES)
		user->used.bytes = value;
	else
		counts[resource] = min_t(u64, value, U32_MAX);
}

static u64 use_get(const struct morph_user *user, enum morph_resource resource)
{
	const u32 *counts = &user->used.accelerators;

	return resource == MORPH_RES_BYTES ? user->used.bytes : counts[resource];
}

/* Charge a user and its parents. Caller holds user_lock. */
static void use_add(struct morph_user *user, enum morph_resource resource, u64 amount)
{
	for (user = first_charged(user); user; user = first_charged(user->parent))
		use_set(account_of(user), resource,
			use_get(account_of(user), resource) + amount);
}

/**
 * morph_user_charge() - charge a user for a resource
 * @user: user or grant
 * @resource: resource to charge
 * @amount: amount to add
 * @refusal: filled when the charge exceeds the limit; may be NULL
 *
 * Context: process context; takes the user lock.
 * Return: 0 or -EDQUOT.
 */
int morph_user_charge(struct morph_user *user, enum morph_resource resource, u64 amount,
		      struct morph_refusal *refusal)
{
	struct morph_user *each, *account;
	u64 limit, used, left = 0;

	mutex_lock(&user_lock);
	for (each = first_charged(user); each; each = first_charged(each->parent)) {
		account = account_of(each);
		limit = limit_get(limits_of(account), resource);
		used = use_get(account, resource);
		left = used < limit ? limit - used : 0;
		if (amount > left)
			break;
	}
	if (!each)
		use_add(user, resource, amount);
	mutex_unlock(&user_lock);
	/* The caller's reference to the user keeps the account. */
	return each ? refuse_charge(account, resource, left, amount, refusal) : 0;
}

/**
 * morph_user_charge_anyway() - charge a user, beyond the limit if necessary
 * @user: user or grant
 * @resource: resource to charge
 * @amount: amount to add
 *
 * Context: process context; takes the user lock.
 */
void morph_user_charge_anyway(struct morph_user *user, enum morph_resource resource, u64 amount)
{
	mutex_lock(&user_lock);
	use_add(user, resource, amount);
	mutex_unlock(&user_lock);
}

/**
 * morph_user_uncharge() - take back a charge
 * @user: user or grant
 * @resource: resource
 * @amount: amount to subtract
 *
 * Context: process context; takes the user lock.
 */
void morph_user_uncharge(struct morph_user *user, enum morph_resource resource, u64 amount)
{
	u64 used;

	mutex_lock(&user_lock);
	for (user = first_charged(user); user; user = first_charged(user->parent)) {
		used = use_get(account_of(user), resource);
		WARN_ON_ONCE(amount > used);
		use_set(account_of(user), resource, used - min(used, amount));
	}
	mutex_unlock(&user_lock);
}

/* ------------------------------------------------------------------- limits */

/**
 * morph_user_set_limits() - set limits of a user, or the default limits
 * @user: user or grant; NULL: the default limits
 * @limits: new limits; a user keeps resources that exceed them
 *
 * Context: process context; takes the user lock.
 */
void morph_user_set_limits(struct morph_user *user, const struct morph_limits *limits)
{
	mutex_lock(&user_lock);
	if (!user) {
		default_limits = *limits;
	} else {
		if (!user->has_limits)
			kref_get(&user->kref);	/* a user with own limits stays: keep a reference */
		user->limits = *limits;
		user->has_limits = true;
	}
	mutex_unlock(&user_lock);
}

void morph_user_get_default(struct morph_limits *limits)
{
	mutex_lock(&user_lock);
	*limits = default_limits;
	mutex_unlock(&user_lock);
}

/**
 * morph_user_next() - walk users outside of user namespaces in the order of their ids
 * @cursor: lowest id to return; set to the id of the user found
 *
 * Context: process context; takes the user lock.
 * Return: the user, with a reference, or NULL at the end.
 */
struct morph_user *morph_user_next(unsigned long *cursor)
{
	struct morph_user *user, *found = NULL;
	int bucket;

	mutex_lock(&user_lock);
	hash_for_each(users, bucket, user, node) {
		if (user->parent || __kuid_val(user->uid) < *cursor)
			continue;
		if (!found || uid_lt(user->uid, found->uid))
			found = user;
	}
	if (found) {
		kref_get(&found->kref);
		*cursor = __kuid_val(found->uid);
	}
	mutex_unlock(&user_lock);
	return found;
}

struct morph_user *morph_grant_next(unsigned long *cursor)
{
	struct morph_user *grant;

	mutex_lock(&user_lock);
	grant = xa_find(&grants, cursor, ULONG_MAX, XA_PRESENT);
	if (grant)
		kref_get(&grant->kref);
	mutex_unlock(&user_lock);
	return grant;
}

void morph_user_limits(struct morph_user *user, struct morph_limits *limits,
		       struct morph_limits *used)
{
	mutex_lock(&user_lock);
	*limits = *limits_of(account_of(user));
	*used = account_of(user)->used;
	/* Slices count replacements, so no charge of them reaches the parents. */
	for (user = user->parent; user; user = user->parent)
		limits->replacements = min(limits->replacements,
					   limits_of(account_of(user))->replacements);
	mutex_unlock(&user_lock);
}

/* Drop the limits of users; nobody can set others any more. */
void morph_user_exit(void)
{
	struct morph_user *user;
	unsigned long cursor;
	bool limited;

	for (cursor = 0; (user = morph_user_next(&cursor)); cursor++) {
		mutex_lock(&user_lock);
		limited = user->has_limits;
		user->has_limits = false;
		mutex_unlock(&user_lock);
		if (limited)
			morph_user_put(user);
		morph_user_put(user);
	}
}
