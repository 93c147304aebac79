/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A provider that does what a test tells it, for KUnit.
 *
 * The device is a full mesh: on each plane a transmit selector and a receive selector stand
 * at every accelerator, and a guide leads from each to each. State 0 of a selector joins
 * nothing, state n + 1 leads to accelerator n. Light follows elements and lasers as they are;
 * rules say what becomes of single operations, and the log has all of them as letters.
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
/* However slow the machine: what is answered is answered in time, and nobody waits for the rest. */
#define FAKE_DEADLINE	(600 * NSEC_PER_SEC)
#define FAKE_SHORT_DEADLINE (1 * NSEC_PER_MSEC)	/* in effect a few jiffies */
#define FAKE_LONG_LEASE	(3600 * NSEC_PER_SEC)

/* Operations, as they are written into the log. */
#define FAKE_SET_ELEMENTS	'E'
#define FAKE_PARK		'P'	/* all of them to the parking state */
#define FAKE_GET_ELEMENTS	'e'
#define FAKE_LASERS_ON		'+'
#define FAKE_LASERS_OFF		'-'
#define FAKE_GET_LASERS		'l'
#define FAKE_GET_RECEIVERS	'r'
#define FAKE_PROBE		'p'
#define FAKE_WAIT		'w'
#define FAKE_ANY		0	/* for rules */
#define FAKE_ALWAYS		U32_MAX	/* as skip: each of them */

/* What becomes of an operation. */
enum fake_answer {
	FAKE_NOW,	/* done, and said so when it returns */
	FAKE_ERROR,	/* not done; an error when it returns */
	FAKE_ODD,	/* done; a positive number when it returns */
	FAKE_LATER,	/* done, and completed from elsewhere */
	FAKE_LATER_ERROR, /* not done; completed with an error from elsewhere */
	FAKE_INSIDE,	/* done, and completed before it returns */
	FAKE_BOTH,	/* done; completed and then returned as done */
	FAKE_TWICE,	/* done, completed two times */
	FAKE_FOREIGN,	/* done; a completion for nobody, then the right one */
	FAKE_STALE,	/* done; once more a completion for the silent one, then the right one */
	FAKE_SHORT,	/* completed with too few bytes */
	FAKE_SILENT,	/* done, but not said before a deadline that is short for once */
	FAKE_HANG,	/* done, but not said, and the deadline is far */
};

/* What shall become of the operation after @skip more of its kind. */
struct fake_rule {
	char call;
	u32 skip;
	enum fake_answer answer;
	int error;
	bool used;
};

/* What the fabric is like. */
struct fake_shape {
	u32 hosts;
	u32 each;		/* accelerators of a host */
	u32 spares;		/* of these the last ones are spares */
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
	struct morph_user *user;	/* of this test alone */
	struct morph_file *files[FAKE_SLICES];
	u32 slices;

	/* the device */
	spinlock_t lock;
	u8 element[FAKE_ELEMENTS];
	u64 laser[FAKE_PORTS];
	bool dead[FAKE_MOST];		/* accelerator answers no heartbeat */
	u64 dim[FAKE_PORTS];		/* by transmit port: lanes whose laser gives no light */
	u64 burning[FAKE_PORTS];	/* by transmit port: lanes that never go off */
	u64 stray[FAKE_PORTS];		/* by receive port: lanes lit from who knows where */
	bool stuck[FAKE_ELEMENTS];	/* element stays as it is */
	u32 deaf;			/* receive port + 1 that sees nothing */

	/* the test's side of it */
	struct fake_rule rules[FAKE_RULES];
	char log[FAKE_LOG + 1];
	u64 seq[FAKE_LOG];		/* of the fabric when it was asked */
	u32 logged;
	u64 last_cookie;
	bool cookie_fell;		/* one was not greater than the last */
	u64 silent_cookie;
	struct completion silent;	/* an operation was not answered */
	struct workqueue_struct *queue;
};

extern const struct fake_shape fake_small;	/* two hosts of three, one of these a spare */

/* fake_profile.c: the profile of fake->shape, and its checksum after a change. */
void fake_make_profile(struct fake *fake);
void fake_seal(struct fake *fake);

/* A profile and a fabric that is not registered. Fails the test if it can't. */
struct fake *fake_alloc(struct kunit *test, const struct fake_shape *shape);
/* The same, registered and at rest; the log is empty. */
struct fake *fake_open(struct kunit *test, const struct fake_shape *shape);
/* All gone, and nothing kept. Also for a test that ended early. */
void fake_close(struct fake *fake);
/* For suites: test->priv is a registered fake_small. */
int fake_init(struct kunit *test);
void fake_exit(struct kunit *test);

void fake_rule(struct fake *fake, char call, u32 skip, enum fake_answer answer, int error);
void fake_clear(struct fake *fake);	/* log and rules */
u64 fake_stat(struct fake *fake, enum morph_stat stat);
/* Until whatever follows from what was done has been done. */
void fake_settle(struct fake *fake);
void fake_set_health(struct fake *fake, u32 part, u32 index, u32 health);
/* One round of patrol, now; the next is called off. */
void fake_patrol(struct fake *fake);

struct morph_slice *fake_slice_like(struct fake *fake, const struct morph_slice_params *params);
struct morph_slice *fake_slice(struct fake *fake, const u32 *accelerators, u32 count);

/* One change, on plane 0 unless it is said otherwise. */
struct morph_change fake_add(u32 src, u32 dst, u32 plane, u32 lanes);
struct morph_change fake_remove(u32 circuit);
struct morph_change fake_move(u32 circuit, u32 plane);
struct morph_txn *fake_txn(struct fake *fake, struct morph_slice *slice,
			   const struct morph_change *changes, u32 count, u32 flags);
/* One that runs beside the test. */
struct fake_run {
	struct work_struct work;
	struct morph_txn *txn;
	int ret;
};

void fake_start(struct fake_run *run, struct morph_txn *txn);
/* It has begun when an operation of it waits for its answer. */
void fake_begin(struct fake *fake, struct fake_run *run, struct morph_txn *txn, char call,
		u32 skip);
/* Answer the operation that waits: done. */
void fake_go_on(struct fake *fake);
/* Wait for its end: what it returned. */
int fake_end(struct fake_run *run);

/* A circuit of a slice's ranks 0 and 1, prepared for as long as the test may take. */
struct morph_txn *fake_prepare(struct fake *fake, struct morph_slice *slice);
/* Add a circuit: its number. Must succeed. */
u32 fake_light(struct fake *fake, struct morph_slice *slice, u32 src, u32 dst, u32 plane);
struct morph_circuit *fake_circuit(struct morph_slice *slice, u32 id);

/* Is the light that of the circuits which are said to be lit, and no other? */
void fake_expect_light(struct fake *fake);
/* Nothing is claimed, lit or held. */
void fake_expect_dark(struct fake *fake);

/* The oldest event of a slice, taken off; 0: there is none. */
u32 fake_event(struct fake *fake, u32 slice, struct morph_event *event);
/* Is there an event of the type? Takes all off. */
bool fake_told(struct fake *fake, u32 slice, u32 type);

#define FAKE_CASE_DESC(array, field)						\
	static void array##_desc(const typeof((array)[0]) * entry, char *desc)	\
	{									\
		strscpy(desc, entry->field, KUNIT_PARAM_DESC_SIZE);		\
	}									\
	KUNIT_ARRAY_PARAM(array, array, array##_desc)

#endif /* MORPH_TESTS_FAKE_H */
