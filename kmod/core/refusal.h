/* SPDX-License-Identifier: GPL-2.0-only */
/* Why something was refused, in a form for programs and one for people. */
#ifndef MORPH_CORE_REFUSAL_H
#define MORPH_CORE_REFUSAL_H

#include <linux/types.h>

#include "optics/optics.h"

/*
 * Why a request was refused: the optics' refusal with the core's own reasons,
 * and a sentence for people.
 */
struct morph_refusal {
	int error;		/* negative errno */
	u32 reason;		/* enum morph_reason */
	u32 part;
	u32 index;
	u32 item;		/* change concerned, or MORPH_ANY */
	s64 have;
	s64 need;
	const char *fixed;	/* the sentence without numbers, or NULL: that of the reason */
	char text[160];
};

int __printf(6, 7) morph_refuse(struct morph_refusal *refusal, int error, u32 reason, u32 part,
				u32 index, const char *format, ...);
/* The same for a sentence with numbers or names, and one that says it without. */
int __printf(7, 8) morph_refuse_fixed(struct morph_refusal *refusal, int error, u32 reason,
				      u32 part, u32 index, const char *fixed, const char *format,
				      ...);
int morph_refuse_optics(struct morph_refusal *refusal, int error,
			const struct optics_refusal *why);

#endif /* MORPH_CORE_REFUSAL_H */
