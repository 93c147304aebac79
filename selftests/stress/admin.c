// SPDX-License-Identifier: GPL-2.0-only
/*
 * A random administrator: over netlink it cordons, fails, tests and replaces hardware, ends slices,
 * and changes circuits and quotas.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../netlink/nl.h"
#include "stress.h"

/*
 * User ids of the tenants, and the number of named slices. Keep them equal to
 * selftests/stress/tenants.py.
 */
#define FIRST_UID 2000
#define TENANTS 8
#define NAMES 3
#define KEPT 8

struct admin {
	struct actor actor;
	struct nl nl;
	const char *name;
	struct morph_fabric_info info;
	unsigned int barred[4]; /* an accelerator, a guide, an element and a spare */
	unsigned int slices[KEPT], slices_count; /* slices of the latest dump */
	unsigned int txns[KEPT]; /* transactions of the latest requests */
	unsigned int txns_count;
};

static unsigned int chance(struct admin *a, unsigned int limit)
{
	return pick(&a->actor.chance, limit);
}

static void begin(struct admin *a, uint8_t command, uint16_t fabric_type)
{
	nl_begin(&a->nl, command, 0);
	nl_put_u32(&a->nl, fabric_type, a->info.fabric);
}

/* ------------------------------------------------------------------ hardware */

static bool is_barred(const struct admin *a, unsigned int part, unsigned int index)
{
	return (part == MORPH_PART_ACCELERATOR &&
		(index == a->barred[0] || index == a->barred[3])) ||
	       (part == MORPH_PART_GUIDE && index == a->barred[1]) ||
	       (part == MORPH_PART_ELEMENT && index == a->barred[2]);
}

/* Choose a part of the hardware at random, except the barred parts. */
static void put_part(struct admin *a)
{
	const unsigned int parts[] = { MORPH_PART_ACCELERATOR, MORPH_PART_GUIDE, MORPH_PART_ELEMENT,
				       MORPH_PART_LASER, MORPH_PART_RECEIVER };
	unsigned int kind = chance(a, 5), counts[5], index;

	counts[0] = a->info.accelerators;
	counts[1] = a->info.guides;
	counts[2] = a->info.elements;
	counts[3] = counts[4] = a->info.accelerators * a->info.planes;
	index = chance(a, counts[kind]);
	while (is_barred(a, parts[kind], index))
		index = (index + 1) % counts[kind];
	nl_put_u32(&a->nl, MORPH_A_HARDWARE_PART, parts[kind]);
	nl_put_u32(&a->nl, MORPH_A_HARDWARE_INDEX, index);
}

static int set_cordon(struct admin *a, bool cordoned)
{
	begin(a, MORPH_CMD_HARDWARE_SET, MORPH_A_HARDWARE_FABRIC);
	put_part(a);
	nl_put_u8(&a->nl, MORPH_A_HARDWARE_CORDONED, cordoned);
	return nl_do(&a->nl);
}

static int cordon(void *who)
{
	return set_cordon(who, true);
}

static int fail(void *who)
{
	struct admin *a = who;

	begin(a, MORPH_CMD_HARDWARE_FAIL, MORPH_A_HARDWARE_FABRIC);
	put_part(a);
	return nl_do(&a->nl);
}

static int test(void *who)
{
	struct admin *a = who;

	begin(a, MORPH_CMD_HARDWARE_TEST, MORPH_A_HARDWARE_FABRIC);
	put_part(a);
	return nl_do(&a->nl);
}

struct sick {
	unsigned int parts[64], indices[64], count;
	bool cordoned[64];
};

static void note_sick(const struct nlmsghdr *message, void *context)
{
	struct sick *sick = context;
	unsigned int i = sick->count;

	if (i == 64)
		return;
	sick->parts[i] = nl_get_u32(nl_find(message, MORPH_A_HARDWARE_PART));
	sick->indices[i] = nl_get_u32(nl_find(message, MORPH_A_HARDWARE_INDEX));
	sick->cordoned[i] = !nl_get_u32(nl_find(message, MORPH_A_HARDWARE_HEALTH));
	sick->count++;
}

/* For all parts: test those that are not healthy, and uncordon those that are only cordoned. */
static int repair(void *who)
{
	struct admin *a = who;
	struct sick sick = {};
	int error;
	unsigned int i;

	begin(a, MORPH_CMD_HARDWARE_GET, MORPH_A_HARDWARE_FABRIC);
	error = nl_dump(&a->nl, note_sick, &sick);
	for (i = 0; i < sick.count; i++) {
		if (is_barred(a, sick.parts[i], sick.indices[i]))
			continue;
		begin(a, sick.cordoned[i] ? MORPH_CMD_HARDWARE_SET : MORPH_CMD_HARDWARE_TEST,
		      MORPH_A_HARDWARE_FABRIC);
		nl_put_u32(&a->nl, MORPH_A_HARDWARE_PART, sick.parts[i]);
		nl_put_u32(&a->nl, MORPH_A_HARDWARE_INDEX, sick.indices[i]);
		if (sick.cordoned[i])
			nl_put_u8(&a->nl, MORPH_A_HARDWARE_CORDONED, 0);
		nl_do(&a->nl);
	}
	return error;
}

static int set_use(void *who)
{
	struct admin *a = who;

	begin(a, MORPH_CMD_ACCELERATOR_SET, MORPH_A_ACCELERATOR_FABRIC);
	nl_put_u32(&a->nl, MORPH_A_ACCELERATOR_ID, chance(a, a->info.accelerators));
	nl_put_u32(&a->nl, MORPH_A_ACCELERATOR_USE,
		   chance(a, 2) ? MORPH_USE_SPARE : MORPH_USE_FREE);
	return nl_do(&a->nl);
}

/* -------------------------------------------------------------------- slices */

static void note_slice(const struct nlmsghdr *message, void *context)
{
	struct admin *a = context;

	a->slices[a->slices_count++ % KEPT] = nl_get_u32(nl_find(message, MORPH_A_SLICE_ID));
}

/* Choose one of the existing slices. */
static unsigned int any_slice(struct admin *a)
{
	unsigned int count;

	a->slices_count = 0;
	begin(a, MORPH_CMD_SLICE_GET, MORPH_A_SLICE_FABRIC);
	nl_dump(&a->nl, note_slice, a);
	count = a->slices_count < KEPT ? a->slices_count : KEPT;
	return count ? a->slices[chance(a, count)] : 1;
}

static int slice_new(void *who)
{
	struct admin *a = who;
	char name[16];

	snprintf(name, sizeof(name), "named%u", chance(a, NAMES));
	begin(a, MORPH_CMD_SLICE_CREATE, MORPH_A_SLICE_FABRIC);
	nl_put_text(&a->nl, MORPH_A_SLICE_NAME, name);
	nl_put_u32(&a->nl, MORPH_A_SLICE_OWNER, FIRST_UID + chance(a, TENANTS));
	nl_put_u32(&a->nl, MORPH_A_SLICE_MODE, chance(a, 2) ? 0666 : 0600);
	nl_put_u32(&a->nl, MORPH_A_SLICE_RANKS_COUNT, 1 + chance(a, 3));
	return nl_do(&a->nl);
}

static int slice_end(void *who)
{
	struct admin *a = who;
	unsigned int slice = any_slice(a);

	begin(a, MORPH_CMD_SLICE_DELETE, MORPH_A_SLICE_FABRIC);
	nl_put_u32(&a->nl, MORPH_A_SLICE_ID, slice);
	if (chance(a, 2))
		nl_put(&a->nl, MORPH_A_SLICE_FORCE, NULL, 0);
	return nl_do(&a->nl);
}

static int slice_change(void *who)
{
	struct admin *a = who;
	unsigned int slice = any_slice(a);

	begin(a, MORPH_CMD_SLICE_SET, MORPH_A_SLICE_FABRIC);
	nl_put_u32(&a->nl, MORPH_A_SLICE_ID, slice);
	nl_put_u32(&a->nl, MORPH_A_SLICE_FAILOVER, chance(a, 3));
	return nl_do(&a->nl);
}

static int replace(void *who)
{
	struct admin *a = who;
	unsigned int slice = any_slice(a);

	begin(a, MORPH_CMD_REPLACE, MORPH_A_REPLACE_FABRIC);
	nl_put_u32(&a->nl, MORPH_A_REPLACE_SLICE, slice);
	nl_put_u32(&a->nl, MORPH_A_REPLACE_RANK, chance(a, 3));
	return nl_do(&a->nl);
}

/* ------------------------------------------------------------------ circuits */

static int apply_some(struct admin *a, uint16_t flag)
{
	unsigned int slice = any_slice(a), count = 1 + chance(a, 3);
	int error;

	nl_apply(&a->nl, a->info.fabric, slice);
	if (flag)
		nl_put(&a->nl, flag, NULL, 0);
	if (flag == MORPH_A_TXN_PREPARE)
		nl_put_u64(&a->nl, MORPH_A_TXN_LEASE_NS, 1000000ull * (1 + chance(a, 60)));
	while (count--) {
		unsigned int dst = chance(a, 3), src = chance(a, 3);

		nl_put_add(&a->nl, src, dst);
	}
	error = nl_do(&a->nl);
	if (!error)
		a->txns[a->txns_count++ % KEPT] = REPLY_U32(&a->nl, MORPH_A_TXN_ID);
	return error;
}

static int apply(void *who)
{
	return apply_some(who, 0);
}

static int apply_each(void *who)
{
	return apply_some(who, MORPH_A_TXN_EACH);
}

static int apply_dry(void *who)
{
	return apply_some(who, MORPH_A_TXN_DRY_RUN);
}

static int prepare(void *who)
{
	return apply_some(who, MORPH_A_TXN_PREPARE);
}

static int step(void *who)
{
	static const unsigned int verbs[] = { MORPH_TXN_COMMIT, MORPH_TXN_CONFIRM, MORPH_TXN_REVERT,
					      MORPH_TXN_VERIFY };
	struct admin *a = who;
	unsigned int back = chance(a, 2);

	begin(a, MORPH_CMD_TXN_STEP, MORPH_A_TXN_FABRIC);
	nl_put_u32(&a->nl, MORPH_A_TXN_ID, a->txns[(a->txns_count + KEPT - 1 - back) % KEPT]);
	nl_put_u32(&a->nl, MORPH_A_TXN_VERB, verbs[chance(a, 4)]);
	return nl_do(&a->nl);
}

/* -------------------------------------------------------------------- others */

static int why_not(void *who)
{
	struct admin *a = who;

	begin(a, MORPH_CMD_WHY_NOT, MORPH_A_WHY_NOT_FABRIC);
	nl_put_u32(&a->nl, MORPH_A_WHY_NOT_COUNT, 1 + chance(a, 6));
	nl_put(&a->nl, MORPH_A_WHY_NOT_RING, NULL, 0);
	return nl_do(&a->nl);
}

/*
 * Set limits of a tenant, also below its current use: the driver then keeps what the tenant holds.
 */
static int limit(void *who)
{
	struct admin *a = who;

	nl_begin(&a->nl, MORPH_CMD_QUOTA_SET, 0);
	nl_put_u32(&a->nl, MORPH_A_QUOTA_UID, FIRST_UID + chance(a, TENANTS));
	nl_put_u32(&a->nl, MORPH_A_QUOTA_ACCELERATORS, 2 + chance(a, 8));
	nl_put_u32(&a->nl, MORPH_A_QUOTA_CIRCUITS, 4 + chance(a, 60));
	nl_put_u32(&a->nl, MORPH_A_QUOTA_LANES, 4 + chance(a, 100));
	nl_put_u32(&a->nl, MORPH_A_QUOTA_PREPARED, chance(a, 8));
	/* Schedules and queues need locked memory. */
	nl_put_u64(&a->nl, MORPH_A_QUOTA_BYTES, chance(a, 3) ? 1 << 30 : 20000 + chance(a, 200000));
	return nl_do(&a->nl);
}

static int look(void *who)
{
	static const uint8_t commands[] = { MORPH_CMD_ACCELERATOR_GET, MORPH_CMD_GUIDE_GET,
					    MORPH_CMD_CIRCUIT_GET, MORPH_CMD_TXN_GET };
	struct admin *a = who;

	/* The fabric is the first attribute of each request. */
	begin(a, commands[chance(a, 4)], MORPH_A_CIRCUIT_FABRIC);
	return nl_dump(&a->nl, NULL, NULL);
}

const struct act admin_acts[] = { { "cordon", 1, cordon },
				  { "fail", 1, fail },
				  { "test", 1, test },
				  { "repair", 4, repair },
				  { "set-use", 1, set_use },
				  { "slice-new", 1, slice_new },
				  { "slice-end", 1, slice_end },
				  { "slice-change", 1, slice_change },
				  { "replace", 1, replace },
				  { "apply", 2, apply },
				  { "apply-each", 1, apply_each },
				  { "apply-dry", 1, apply_dry },
				  { "prepare", 2, prepare },
				  { "step", 4, step },
				  { "why-not", 1, why_not },
				  { "limit", 1, limit },
				  { "look", 1, look },
				  {} };

struct admin *admin_new(struct actor actor, const char *fabric, const unsigned int *barred)
{
	struct admin *a = calloc(1, sizeof(*a));
	unsigned int i;

	a->actor = actor;
	a->name = fabric;
	for (i = 0; i < 4; i++)
		a->barred[i] = barred[i];
	if (nl_open(&a->nl))
		exit(1);
	return a;
}

/* The fabric may have gone and come back with another number. */
void admin_act(struct admin *a)
{
	int fd = find_fabric(a->name, &a->info);

	if (fd < 0)
		usleep(5000);
	else
		close(fd);
	actor_act(&a->actor, admin_acts, a);
}
