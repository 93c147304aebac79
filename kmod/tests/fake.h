/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A provider for KUnit tests. Rules of a test control its answers.
 *
 * The device is a full mesh. On each plane, each accelerator has a transmit selector and a receive
 * selector, and a guide leads from each accelerator to each other one. State 0 of a selector joins
 * nothing, and state n + 1 leads to accelerator n. Light follows from the states of elements and
 * lasers. Rules determine the results of single operations, and the log has one letter for each
 * operation.
 */
#ifndef MORPH_TESTS_FAKE_H
#define MORPH_TESTS_FAKE_H

#include <kunit/test.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define FAKE_PLANES	2u
#define FAKE_LANES	4u
#define FAKE_MOST	15u			/* accelerators: a selector has 16 ports */
#define FAKE_PORTS	(FAKE_MOST * FAKE_PLANES)
#define FAKE_ELEMENTS	(2 * FAKE_PORTS)
#define FAKE_LOG	512u
#define FAKE_RULES	8u
#define FAKE_SLICES	8u
/* So long that no answered operation times out, however slow the machine is. */
#define FAKE_DEADLINE	(600 * NSEC_PER_SEC)
#define FAKE_SHORT_DEADLINE (1 * NSEC_PER_MSEC)	/* in effect a few jiffies */
#define FAKE_LONG_LEASE	(3600 * NSEC_PER_SEC)

/* Letters of operations in the log. */
#define FAKE_SET_ELEMENTS	'E'
#define FAKE_PARK		'P'	/* all elements to the parking state */
#define FAKE_GET_ELEMENTS	'e'
#define FAKE_LASERS_ON		'+'
#define FAKE_LASERS_OFF		'-'
#define FAKE_GET_LASERS		'l'
#define FAKE_GET_RECEIVERS	'r'
#define FAKE_PROBE		'p'
#define FAKE_WAIT		'w'
#define FAKE_ANY		0	/* for rules */
#define FAKE_ALWAYS		U32_MAX	/* as skip: each operation */

/* Results of an operation. "Done" means that the device has executed it. */
enum fake_answer {
	FAKE_NOW,	/* done; returns success */
	FAKE_ERROR,	/* not done; returns an error */
	FAKE_ODD,	/* done; returns a positive number */
	FAKE_LATER,	/* done; completes from another context */
	FAKE_LATER_ERROR, /* not done; completes with an error from another context */
	FAKE_INSIDE,	/* done; completes before it returns */
	FAKE_BOTH,	/* done; completes and also returns success */
	FAKE_TWICE,	/* done; completes twice */
	FAKE_FOREIGN,	/* done; completes with an unknown cookie, then with the right one */
	/* done; completes with the cookie of the silent operation, then with the right one */
	FAKE_STALE,
	FAKE_SHORT,	/* completes with too few bytes */
	FAKE_SILENT,	/* done; does not complete before a short deadline */
	FAKE_HANG,	/* done; does not complete, and the deadline is long */
};

/* The result of the operation after @skip operations of the same type. */
struct fake_rule {
	char call;
	u32 skip;
	enum fake_answer answer;
	int error;
	bool used;
};

/* Size of the fabric. */
struct fake_shape {
	u32 hosts;
	u32 each;		/* accelerators per host */
	u32 spares;		/* the last accelerators of each host are spares */
};

struct fake {
	struct kunit *test;
	struct fake_shape shape;
	u32 accelerators;
	void *blob;
	size_t bytes;
	struct morph_fabric_desc desc;
	struct morph_fabric *fabric;
	bool registered;
	struct morph_user *user;	/* only this test uses it */
	struct morph_file *files[FAKE_SLICES];
	u32 slices;

	/* the device */
	spinlock_t lock;
	u8 element[FAKE_ELEMENTS];
	u64 laser[FAKE_PORTS];
	u32 darkened;			/* lasers that were switched off */
	bool dead[FAKE_MOST];		/* accelerator answers no heartbeat */
	u64 dim[FAKE_PORTS];		/* by transmit port: lanes whose laser emits no light */
	/* by transmit port: lanes whose laser cannot be switched off */
	u64 burning[FAKE_PORTS];
	/* by receive port: lanes with light from an unknown source */
	u64 stray[FAKE_PORTS];
	bool stuck[FAKE_ELEMENTS];	/* element does not change its state */
	u32 deaf;			/* receive port + 1 that detects no light */

	/* the test */
	struct fake_rule rules[FAKE_RULES];
	char log[FAKE_LOG + 1];
	u64 seq[FAKE_LOG];		/* sequence number of the fabric at the operation */
	u32 logged;
	u64 last_cookie;
	bool cookie_fell;		/* a cookie was not greater than the previous one */
	u64 silent_cookie;
	struct completion silent;	/* an operation was not answered */
	struct workqueue_struct *queue;
};

/* two hosts of three accelerators, one of these a spare */
extern const struct fake_shape fake_small;

/* fake_profile.c: the profile of fake->shape, and its checksum after a change. */
void fake_make_profile(struct fake *fake);
void fake_seal(struct fake *fake);

/* Allocate a profile and a fabric that is not registered. Fails the test on an error. */
struct fake *fake_alloc(struct kunit *test, const struct fake_shape *shape);
/* Register the fabric, wait until it is idle, and clear the log. */
void fake_register(struct fake *fake);
/* fake_alloc() and fake_register() */
struct fake *fake_open(struct kunit *test, const struct fake_shape *shape);
/* Free everything, also after a test that ended early. */
void fake_close(struct fake *fake);
/* For suites: test->priv is a registered fake_small. */
int fake_init(struct kunit *test);
void fake_exit(struct kunit *test);

void fake_rule(struct fake *fake, char call, u32 skip, enum fake_answer answer, int error);
void fake_clear(struct fake *fake);	/* log and rules */
u64 fake_stat(struct fake *fake, enum morph_stat stat);
/* Wait until all work that the test has caused is complete. */
void fake_settle(struct fake *fake);
void fake_set_health(struct fake *fake, u32 part, u32 index, u32 health);
/* Run one patrol round now, and cancel the next one. */
void fake_patrol(struct fake *fake);

struct morph_slice *fake_slice_like(struct fake *fake, const struct morph_slice_params *params);
struct morph_slice *fake_slice(struct fake *fake, const u32 *accelerators, u32 count);

/* Changes, on plane 0 if there is no argument for it. */
struct morph_change fake_add(u32 src, u32 dst, u32 plane, u32 lanes);
struct morph_change fake_remove(u32 circuit);
struct morph_change fake_move(u32 circuit, u32 plane);
struct morph_txn *fake_txn(struct fake *fake, struct morph_slice *slice,
			   const struct morph_change *changes, u32 count, u32 flags);
/* A transaction that runs concurrently with the test. */
struct fake_run {
	struct work_struct work;
	struct morph_txn *txn;
	int ret;
};

void fake_start(struct fake_run *run, struct morph_txn *txn);
/* Start a transaction. Returns when an operation of it waits for its answer. */
void fake_begin(struct fake *fake, struct fake_run *run, struct morph_txn *txn, char call,
		u32 skip);
/* Complete the waiting operation successfully. */
void fake_go_on(struct fake *fake);
/* Wait for the end of the transaction. Returns its result. */
int fake_end(struct fake_run *run);

/* Prepare a circuit from rank 0 to rank 1, with a lease longer than the test. */
struct morph_txn *fake_prepare(struct fake *fake, struct morph_slice *slice);
/* Add a circuit. Returns its number. Fails the test on an error. */
u32 fake_light(struct fake *fake, struct morph_slice *slice, u32 src, u32 dst, u32 plane);
struct morph_circuit *fake_circuit(struct morph_slice *slice, u32 id);

/* Expect the light of all circuits that are lit, and no other light. */
void fake_expect_light(struct fake *fake);
/* Expect no claims, no light and no holders. */
void fake_expect_dark(struct fake *fake);

/* Remove the oldest event of a slice. Returns 0 if there is none. */
u32 fake_event(struct fake *fake, u32 slice, struct morph_event *event);
/* Whether the queue has an event of the type. Removes all events. */
bool fake_has_event(struct fake *fake, u32 slice, u32 type);

#define FAKE_CASE_DESC(array, field)						\
	static void array##_desc(const typeof((array)[0]) * entry, char *desc)	\
	{									\
		strscpy(desc, entry->field, KUNIT_PARAM_DESC_SIZE);		\
	}									\
	KUNIT_ARRAY_PARAM(array, array, array##_desc)

#endif /* MORPH_TESTS_FAKE_H */
