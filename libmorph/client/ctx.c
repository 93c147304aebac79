// SPDX-License-Identifier: LGPL-2.1-or-later
/* Contexts, errors, options. */
#include <ctype.h>
#include <stdio.h>

#include "internal.h"

#define TEXT(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

static struct lm_transport *transport_new(const struct morph_ctx_opts *opts)
{
	const char *record = opts->record_path;
	struct lm_transport *real;

	if (opts->replay_path)
		return lm_transport_replay(opts->replay_path);
	if (!record && !opts->unrecorded)
		record = secure_getenv("MORPH_RECORD");
	real = lm_transport_real();
	if (!real || !record || !*record)
		return real;
	return lm_transport_record(real, record);
}

MORPH_API int morph_ctx_new(const struct morph_ctx_opts *opts, struct morph_ctx **out)
{
	struct morph_ctx_opts mine;
	struct morph_ctx *ctx;
	int error;

	*out = NULL;
	error = lm_opts_check(NULL, opts, sizeof(mine), "morph_ctx_opts");
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if (mine.unrecorded > 1 || !!mine.record_path + !!mine.replay_path + mine.unrecorded > 1)
		return -EINVAL;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->netlink = -1;
	ctx->dump_retries = mine.dump_retries ? mine.dump_retries : LM_RETRIES;
	ctx->transport = transport_new(&mine);
	if (!ctx->transport) {
		error = -errno;
		free(ctx);
		return error;
	}
	*out = ctx;
	return 0;
}

MORPH_API void morph_ctx_free(struct morph_ctx *ctx)
{
	if (!ctx)
		return;
	if (ctx->netlink >= 0)
		ctx->transport->ops->close(ctx->transport, ctx->netlink);
	ctx->transport->ops->free(ctx->transport);
	free(ctx->message);
	free(ctx);
}

MORPH_API const char *morph_library_version(void)
{
	return VERSION_TEXT(MORPH_LIBRARY_MAJOR, MORPH_LIBRARY_MINOR, MORPH_LIBRARY_PATCH);
}

/* ------------------------------------------------------------------ errors */

void lm_error_add(struct lm_error *error, const char *format, ...)
{
	size_t used = strlen(error->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text + used, sizeof(error->text) - used, format, arguments);
	va_end(arguments);
}

bool lm_names_port(const struct lm_error *error)
{
	return (error->part == MORPH_PART_LASER || error->part == MORPH_PART_RECEIVER) &&
	       error->index != MORPH_ANY;
}

struct lm_part_name lm_part_name(const struct lm_error *error, int64_t index)
{
	struct lm_part_name name;

	if (lm_names_port(error) && error->planes)
		snprintf(name.text, sizeof(name.text), "%lld.%lld",
			 (long long)(index / error->planes), (long long)(index % error->planes));
	else
		snprintf(name.text, sizeof(name.text), "%lld", (long long)index);
	return name;
}

/* Whether the kernel's sentence contains a number, or the name of a port. */
static bool sentence_has(const struct lm_error *error, const char *number)
{
	const char *at = error->kernel;
	size_t length = strlen(number);

	for (; (at = strstr(at, number)); at += length)
		if ((at == error->kernel || !isdigit((unsigned char)at[-1])) &&
		    !isdigit((unsigned char)at[length]))
			return true;
	return false;
}

static bool sentence_has_number(const struct lm_error *error, int64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%lld", (long long)number);
	return sentence_has(error, digits);
}

/*
 * Add the violated rule, and the numbers and the part that the kernel's sentence lacks. If an
 * argument or a state is wrong, the sentence names it.
 */
static void text_add_reason(struct lm_error *error)
{
	const char *reason = morph_enum_name(MORPH_ENUM_REASON, error->reason);
	const char *part = morph_enum_name(MORPH_ENUM_PART, error->part);
	struct lm_part_name name = lm_part_name(error, error->index);

	if (!error->reason || error->reason == MORPH_REASON_ARGUMENT ||
	    error->reason == MORPH_REASON_STATE)
		return;
	if (reason)
		lm_error_add(error, " (%s", reason);
	else
		lm_error_add(error, " (rule %u", error->reason);
	/* Of a port that the fabric does not have, the numbers are no amounts. */
	if ((error->have || error->need) && error->reason != MORPH_REASON_PORT &&
	    !(sentence_has_number(error, error->have) && sentence_has_number(error, error->need)))
		lm_error_add(error, ", have %lld, need %lld", (long long)error->have,
			     (long long)error->need);
	if (error->part && part && error->index != MORPH_ANY && !sentence_has(error, name.text))
		lm_error_add(error, ", %s %s", part, name.text);
	lm_error_add(error, ")");
}

int lm_fail_kernel(struct morph_ctx *ctx, int code, const char *format, va_list arguments)
{
	struct lm_error *error = &ctx->error;

	error->code = code;
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	lm_error_add(error, ": %s", error->kernel[0] ? error->kernel : strerror(code));
	text_add_reason(error);
	if (error->attribute[0])
		lm_error_add(error, " [attribute %s]", error->attribute);
	return -code;
}

MORPH_API int morph_error_set(struct morph_ctx *ctx, int code, const char *format, ...)
{
	va_list arguments;

	if (!ctx)
		return -code;
	memset(&ctx->error, 0, sizeof(ctx->error));
	ctx->error.code = code;
	va_start(arguments, format);
	vsnprintf(ctx->error.text, sizeof(ctx->error.text), format, arguments);
	va_end(arguments);
	return -code;
}

int morph_error_code(const struct morph_ctx *ctx)
{
	return ctx->error.code;
}

MORPH_API const char *morph_error_text(const struct morph_ctx *ctx)
{
	return ctx->error.text;
}

MORPH_API void morph_error_get(const struct morph_ctx *ctx, struct morph_error *out)
{
	const struct lm_error *error = &ctx->error;
	struct morph_error mine = {
		.code = error->code,
		.reason = error->reason,
		.part = error->part,
		.index = error->index,
		.have = error->have,
		.need = error->need,
		.kernel_text = error->kernel,
		.attribute = error->attribute,
	};

	lm_answer_copy(out, &mine, sizeof(mine));
}
