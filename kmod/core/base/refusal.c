// SPDX-License-Identifier: GPL-2.0-only
/* Reasons for refusals: numbers for programs, a sentence for people. */
#include <linux/math64.h>
#include <linux/stdarg.h>
#include <linux/string.h>

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

const char *morph_part_word(u32 part)
{
	return part < ARRAY_SIZE(part_names) ? part_names[part] : "part";
}

static void set(struct morph_refusal *refusal, int error, u32 reason, u32 part, u32 index,
		s64 have, s64 need, const char *fixed)
{
	refusal->error = error;
	refusal->reason = reason;
	refusal->part = part;
	refusal->index = index;
	refusal->item = MORPH_ANY;
	refusal->have = have;
	refusal->need = need;
	refusal->fixed = fixed;
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
 * The function sets @refusal->have and @refusal->need to zero. Netlink cannot send a sentence that
 * it must format: it sends a fixed one for @reason. morph_refuse_numbers() has no such limit.
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
	set(refusal, error, reason, part, index, 0, 0, fixed);
	va_start(args, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, args);
	va_end(args);
	return error;
}

/* Write the sentence of a refusal with its numbers. */
static void fill_sentence(struct morph_refusal *refusal)
{
	const struct {
		const char *place;
		s64 value;
	} numbers[] = {
		{ "{index}", refusal->index },
		{ "{have}", refusal->have },
		{ "{need}", refusal->need },
		{ "{last}", refusal->have - 1 },
	};
	size_t used = 0, room = sizeof(refusal->text), length;
	const char *from = refusal->fixed;
	u32 i;

	while (*from && used < room - 1) {
		for (i = 0, length = 0; i < ARRAY_SIZE(numbers) && !length; i++)
			length = str_has_prefix(from, numbers[i].place);
		if (length) {
			used += scnprintf(refusal->text + used, room - used, "%lld",
					  numbers[i - 1].value);
			from += length;
		} else {
			refusal->text[used++] = *from++;
		}
	}
	refusal->text[used] = '\0';
}

/**
 * morph_refuse_numbers() - record a reason, with a sentence that names its numbers
 * @refusal: filled with the reason; may be NULL
 * @error: negative errno
 * @reason: enum morph_reason
 * @part: enum morph_part of the part that blocks the request
 * @index: index of that part, or the number of another object
 * @have: available amount, or the number of existing objects
 * @need: required amount
 * @fixed: the sentence, without full stop, in static memory; {index}, {have}, {need} and {last}
 *         stand for @index, @have, @need and @have - 1
 *
 * Netlink sends @fixed as it is, and the numbers in a cookie: see struct morph_refusal_cookie.
 *
 * Context: any.
 * Return: @error.
 */
int morph_refuse_numbers(struct morph_refusal *refusal, int error, u32 reason, u32 part, u32 index,
			 s64 have, s64 need, const char *fixed)
{
	if (!refusal)
		return error;
	set(refusal, error, reason, part, index, have, need, fixed);
	fill_sentence(refusal);
	return error;
}

/**
 * morph_refuse_index() - record that the fabric has no such part
 * @refusal: filled with the reason; may be NULL
 * @part: enum morph_part
 * @index: index that the request names
 * @count: number of such parts; their indices begin at 0
 *
 * Context: any.
 * Return: -ENOENT.
 */
int morph_refuse_index(struct morph_refusal *refusal, u32 part, u32 index, u32 count)
{
	static const char *const sentences[] = {
		[MORPH_PART_ACCELERATOR] = "no accelerator {index} (0-{last})",
		[MORPH_PART_LASER] = "no transmit port {index} (the last one is {last})",
		[MORPH_PART_RECEIVER] = "no receive port {index} (the last one is {last})",
		[MORPH_PART_ELEMENT] = "no element {index} (0-{last})",
		[MORPH_PART_GUIDE] = "no guide {index} (0-{last})",
		[MORPH_PART_EDGE] = "no edge {index} (0-{last})",
	};

	return morph_refuse_numbers(refusal, -ENOENT, MORPH_REASON_ARGUMENT, part, index, count, 0,
				    count ? sentences[part] :
					    "no edge {index}: the fabric has no edges");
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

/* A part with its number, or with the accelerator and plane of a port. */
struct part_text {
	char text[48];
};

static struct part_text part_text(const struct optics_refusal *why)
{
	const char *name = morph_part_word(why->part);
	struct part_text out;

	if (why->planes)
		snprintf(out.text, sizeof(out.text), "%s %u.%u", name, why->index / why->planes,
			 why->index % why->planes);
	else
		snprintf(out.text, sizeof(out.text), "%s %u", name, why->index);
	return out;
}

/* Format the sentence for a reason that has a part or numbers; else use the default sentence. */
static void optics_text(struct morph_refusal *refusal, const struct optics_refusal *why)
{
	const char *general = optics_reason_text(why->reason);
	struct part_text part = part_text(why);
	size_t room = sizeof(refusal->text);
	char *text = refusal->text;

	switch (why->reason) {
	case OPTICS_LANES:
		snprintf(text, room, "%s has %lld of the %lld lanes that are needed free",
			 part.text, why->have, why->need);
		break;
	case OPTICS_ELEMENT_PINNED:
		snprintf(text, room, "element %u is pinned in state %lld, state %lld is needed",
			 why->index, why->have, why->need);
		break;
	case OPTICS_MARGIN:
		snprintf(text, room, "the margin at %s would be %s dB, %s dB are needed",
			 part.text, decibels(why->have).text, decibels(why->need).text);
		break;
	case OPTICS_OVERLOAD:
		snprintf(text, room, "%s dBm would arrive at %s, which bears %s dBm",
			 decibels(why->have).text, part.text, decibels(why->need).text);
		break;
	case OPTICS_ISOLATION:
		snprintf(text, room, "the isolation at %s would be %s dB, %s dB are needed",
			 part.text, decibels(why->have).text, decibels(why->need).text);
		break;
	default:
		if (why->part == OPTICS_PART_NONE)
			strscpy(text, general, room);
		else
			snprintf(text, room, "%s: %s", general, part.text);
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
	set(refusal, error, why->reason, why->part, why->index, why->have, why->need, NULL);
	refusal->item = why->item;
	optics_text(refusal, why);
	return error;
}
