// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a line of a recording. A valid line must be written as a line that gives the same
 * data. Its answer either fits a command or is rejected.
 */
#include "fuzz.h"
#include "internal.h"
#include "recording.h"

#define ENTRIES 2u
#define LARGEST_ENTRY 128u

static const unsigned long commands[] = {
	MORPH_FABRIC_INFO,  MORPH_FABRIC_READ_ACCELERATORS,
	MORPH_SLICE_CREATE, MORPH_GRANT_CREATE,
	MORPH_SLICE_INFO,   MORPH_CIRCUIT_PATH,
	MORPH_TXN_RUN,	    MORPH_TXN_STEP,
	MORPH_RANK_REPORT,
};

static bool same(const struct lm_bytes *a, const struct lm_bytes *b)
{
	return a->count == b->count && (!a->count || !memcmp(a->data, b->data, a->count));
}

static void write_again(const struct lm_line *line)
{
	struct lm_line again = {};
	const char *why;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	lm_line_write(out, line);
	fclose(out);
	/* no existing op needs quoting; others are always rejected */
	if (!strpbrk(line->op, "\"\\\n")) {
		MUST(lm_line_parse(&again, text, &why));
		MUST(!strcmp(again.op, line->op) && again.handle == line->handle &&
		     again.result == line->result);
		MUST(!strcmp(again.text ?: "", line->text ?: ""));
		MUST(same(&again.before, &line->before) && same(&again.after, &line->after));
	}
	lm_line_clear(&again);
	free(text);
}

/* Use short arrays for a command that has any, at the end of its structure or inside it. */
static void restore(const struct lm_command_shape *shape, unsigned long command,
		    const struct lm_bytes *answer)
{
	size_t bytes = lm_shape_bytes(shape);
	struct morph_head *head = calloc(1, bytes);
	char *entries = calloc(ENTRIES, LARGEST_ENTRY), sentence[16];

	head->detail_ptr = (uintptr_t)sentence;
	head->detail_len = sizeof(sentence);
	if (command == MORPH_FABRIC_READ_ACCELERATORS)
		((struct morph_fabric_read *)head)->entries = (struct morph_array){
			.ptr = (uintptr_t)entries,
			.count = ENTRIES,
			.stride = sizeof(struct morph_accelerator_info),
		};
	if (command == MORPH_TXN_RUN)
		((struct morph_txn_run *)head)->changes = (struct morph_array){
			.ptr = (uintptr_t)entries,
			.count = ENTRIES,
			.stride = sizeof(struct morph_change),
		};
	if (lm_shape_restore(shape, head, answer)) {
		MUST(head->detail_ptr == (uintptr_t)sentence);
		MUST(answer->count >= bytes);
	}
	free(entries);
	free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	char *text = eat_text(&input);
	struct lm_line line = {};
	const char *why = NULL;

	if (lm_line_parse(&line, text, &why)) {
		write_again(&line);
		for (size_t at = 0; at < ARRAY_SIZE(commands); at++)
			restore(lm_shape(commands[at]), commands[at], &line.after);
	} else {
		MUST(why);
	}
	lm_line_clear(&line);
	free(text);
	return 0;
}
