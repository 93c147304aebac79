// SPDX-License-Identifier: GPL-2.0-only
/* Why a request was refused: numbers for programs, a sentence for people. */
#include <linux/math64.h>
#include <linux/stdarg.h>

#include "core/base/base.h"

static const char *const part_names[] = {
	[MORPH_PART_NONE] = "the fabric",
	[MORPH_PART_ACCELERATOR] = "accelerator",
	[MORPH_PART_LASER] = "transmit port",
	[MORPH_PART_RECEIVER] = "receive port",
	[MORPH_PART_ELEMENT] = "element",
	[MORPH_PART_GUIDE] = "guide",
	[MORPH_PART_EDGE] = "edge port",
};

static void __printf(7, 0) refuse(struct morph_refusal *refusal, int error, u32 reason, u32 part,
				  u32 index, const char *fixed, const char *format, va_list args)
{
	refusal->error = error;
	refusal->reason = reason;
	refusal->part = part;
	refusal->index = index;
	refusal->item = MORPH_ANY;
	refusal->have = 0;
	refusal->need = 0;
	refusal->fixed = fixed;
	vsnprintf(refusal->text, sizeof(refusal->text), format, args);
}

/**
 * morph_refuse() - say why a request is refused
 * @refusal: where; may be NULL
 * @error: negative errno
 * @reason: enum morph_reason
 * @part: enum morph_part of what stands in the way
 * @index: which one
 * @format: the sentence, without full stop, in static memory
 *
 * What the reason counts, @refusal->have and @refusal->need, is zero afterwards;
 * callers who have numbers set them.
 *
 * Context: any.
 * Return: @error.
 */
int morph_refuse(struct morph_refusal *refusal, int error, u32 reason, u32 part, u32 index,
		 const char *format, ...)
{
	const char *fixed = strchr(format, '%') ? NULL : format;
	va_list args;

	if (!refusal)
		return error;
	va_start(args, format);
	refuse(refusal, error, reason, part, index, fixed, format, args);
	va_end(args);
	return error;
}

/**
 * morph_refuse_fixed() - say why a request is refused, also where numbers can't be told
 * @refusal: where; may be NULL
 * @error: negative errno
 * @reason: enum morph_reason
 * @part: enum morph_part of what stands in the way
 * @index: which one
 * @fixed: what @format says without its numbers and names, in static memory: for netlink
 *         on kernels whose extended ack carries a fixed sentence only
 * @format: the sentence, without full stop
 *
 * As morph_refuse().
 *
 * Context: any.
 * Return: @error.
 */
int morph_refuse_fixed(struct morph_refusal *refusal, int error, u32 reason, u32 part, u32 index,
		       const char *fixed, const char *format, ...)
{
	va_list args;

	if (!refusal)
		return error;
	va_start(args, format);
	refuse(refusal, error, reason, part, index, fixed, format, args);
	va_end(args);
	return error;
}

/* Thousandths of a dB as a number with three digits after the point. */
struct decibels {
	char text[24];
};

static struct decibels decibels(s64 mdb)
{
	struct decibels out;
	u32 rest;
	u64 whole = div_u64_rem(mdb < 0 ? -mdb : mdb, 1000, &rest);

	snprintf(out.text, sizeof(out.text), "%s%llu.%03u", mdb < 0 ? "-" : "", whole, rest);
	return out;
}

static const char *part_name(u32 part)
{
	return part < ARRAY_SIZE(part_names) ? part_names[part] : "part";
}

/* The sentence for a reason that has a part, or numbers; else the general one. */
static void optics_text(struct morph_refusal *refusal, const struct optics_refusal *why)
{
	const char *part = part_name(why->part), *general = optics_reason_text(why->reason);
	size_t room = sizeof(refusal->text);
	char *text = refusal->text;

	switch (why->reason) {
	case OPTICS_LANES:
		snprintf(text, room, "%s %u has %lld of the %lld lanes that are needed free", part,
			 why->index, why->have, why->need);
		break;
	case OPTICS_ELEMENT_PINNED:
		snprintf(text, room, "element %u is pinned in state %lld, state %lld is needed",
			 why->index, why->have, why->need);
		break;
	case OPTICS_MARGIN:
		snprintf(text, room, "the margin at %s %u would be %s dB, %s dB are needed",
			 part, why->index, decibels(why->have).text, decibels(why->need).text);
		break;
	case OPTICS_OVERLOAD:
		snprintf(text, room, "%s dBm would arrive at %s %u, which bears %s dBm",
			 decibels(why->have).text, part, why->index, decibels(why->need).text);
		break;
	case OPTICS_ISOLATION:
		snprintf(text, room, "the isolation at %s %u would be %s dB, %s dB are needed",
			 part, why->index, decibels(why->have).text, decibels(why->need).text);
		break;
	default:
		if (why->part == OPTICS_PART_NONE)
			strscpy(text, general, room);
		else
			snprintf(text, room, "%s: %s %u", general, part, why->index);
	}
}

/**
 * morph_refuse_optics() - pass on why the optics refused
 * @refusal: where; may be NULL
 * @error: negative errno, or 0 to take the one that belongs to the reason
 * @why: what the optics said
 *
 * Context: any.
 * Return: the error.
 */
int morph_refuse_optics(struct morph_refusal *refusal, int error, const struct optics_refusal *why)
{
	if (!error)
		error = optics_reason_errno(why->reason);
	if (!refusal)
		return error;
	refusal->error = error;
	refusal->reason = why->reason;
	refusal->part = why->part;
	refusal->index = why->index;
	refusal->item = why->item;
	refusal->have = why->have;
	refusal->need = why->need;
	refusal->fixed = NULL;
	optics_text(refusal, why);
	return error;
}
