// SPDX-License-Identifier: GPL-2.0-only
/* Reasons for refusals: numbers for programs, a sentence for people. */
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
 * morph_refuse() - record the reason for a refusal
 * @refusal: filled with the reason; may be NULL
 * @error: negative errno
 * @reason: enum morph_reason
 * @part: enum morph_part of the part that blocks the request
 * @index: index of that part
 * @format: the sentence, without full stop, in static memory
 *
 * The function sets @refusal->have and @refusal->need to zero; a caller that has numbers
 * sets them afterwards.
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
 * morph_refuse_fixed() - record a reason, with a sentence that has no numbers
 * @refusal: filled with the reason; may be NULL
 * @error: negative errno
 * @reason: enum morph_reason
 * @part: enum morph_part of the part that blocks the request
 * @index: index of that part
 * @fixed: @format without its numbers and names, in static memory: netlink needs it on kernels
 *         whose extended ack takes only a fixed sentence
 * @format: the sentence, without full stop
 *
 * Otherwise like morph_refuse().
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

/* Thousandths of a dB as a number with three decimal digits. */
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

/* Format the sentence for a reason that has a part or numbers; else use the default sentence. */
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
 * morph_refuse_optics() - convert a refusal of optics
 * @refusal: filled with the reason; may be NULL
 * @error: negative errno, or 0 for the errno of the reason
 * @why: the refusal of optics
 *
 * Context: any.
 * Return: @error, or the errno of the reason.
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
