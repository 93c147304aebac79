// SPDX-License-Identifier: LGPL-2.1-or-later
/* MSCCL's XML: from elements and attributes to a program. */
#include "msccl.h"

#include "../util/text.h"

#include <expat.h>
#include <stdio.h>

#define MOST_BYTES (64U << 20)

/* Elements by depth. */
static const char *const elements[] = { "algo", "gpu", "tb", "step" };

#define DEEPEST ((int)(sizeof(elements) / sizeof(elements[0])))

struct parse {
	XML_Parser parser;
	struct program *program;
	const XML_Char **attributes; /* of the present element */
	int depth, ret;
};

static uint32_t line_of(const struct parse *parse)
{
	return (uint32_t)XML_GetCurrentLineNumber(parse->parser);
}

/* Stop the parser. The first noted error remains. */
static void stop(struct parse *parse, int ret)
{
	if (!parse->ret)
		parse->ret = ret;
	XML_StopParser(parse->parser, XML_FALSE);
}

#define REFUSE(parse, code, format, ...)                                                      \
	do {                                                                                  \
		if (!(parse)->ret)                                                            \
			stop(parse,                                                           \
			     lm_format_fail(&(parse)->program->why, code, "line %u: " format, \
					    line_of(parse), ##__VA_ARGS__));                  \
	} while (0)

/* ------------------------------------------------------------------- attributes */

static const char *attribute(const struct parse *parse, const char *name)
{
	for (const XML_Char **at = parse->attributes; at[0]; at += 2)
		if (!strcmp(at[0], name))
			return at[1];
	return NULL;
}

/* A number of an attribute, which is mandatory unless there is a default. */
static uint32_t number(struct parse *parse, const char *name, uint32_t most,
		       const uint32_t *missing)
{
	const char *text = attribute(parse, name);
	struct text digits;
	uint64_t value;

	if (!text && missing)
		return *missing;
	if (!text) {
		REFUSE(parse, EINVAL, "%s has no %s", elements[parse->depth], name);
		return 0;
	}
	digits = text_begin(text, strlen(text));
	if (!lm_text_digits(&digits, most, &value) || digits.at < digits.end) {
		REFUSE(parse, EINVAL, "%s=\"%.20s\" is not a number from 0 to %u", name, text,
		       most);
		return 0;
	}
	return (uint32_t)value;
}

/* The same, where -1 or a missing attribute means none. */
static uint32_t number_or_none(struct parse *parse, const char *name, uint32_t most)
{
	const char *text = attribute(parse, name);

	if (!text || !strcmp(text, "-1"))
		return NONE;
	return number(parse, name, most, NULL);
}

static bool yes(struct parse *parse, const char *name)
{
	const uint32_t no = 0;

	return number(parse, name, 1, &no);
}

/* A word and its meaning. */
struct word {
	const char *text;
	uint8_t value;
};

static const struct word buffers[] = { { "i", INPUT }, { "o", OUTPUT }, { "s", SCRATCH }, { 0 } };

static const struct word types[] = {
	{ "nop", STEP_NOP },   { "s", STEP_S },
	{ "r", STEP_R },       { "rcs", STEP_RCS },
	{ "rrs", STEP_RRS },   { "rrc", STEP_RRC },
	{ "cpy", STEP_CPY },   { "re", STEP_RE },
	{ "rrcs", STEP_RRCS }, { 0 },
};

/* Other names are executed as the file states. */
static const struct word colls[] = {
	{ "allreduce", ALL_REDUCE },
	{ "allgather", ALL_GATHER },
	{ "reduce_scatter", REDUCE_SCATTER },
	{ "reducescatter", REDUCE_SCATTER },
	{ "alltoall", ALL_TO_ALL },
	{ "broadcast", BROADCAST },
	{ 0 },
};

static const struct word *find(const struct word *words, const char *text)
{
	while (words->text && strcmp(words->text, text))
		words++;
	return words->text ? words : NULL;
}

static uint8_t word(struct parse *parse, const char *name, const struct word *words)
{
	const char *text = attribute(parse, name);
	const struct word *found;

	if (!text) {
		REFUSE(parse, EINVAL, "%s has no %s", elements[parse->depth], name);
		return 0;
	}
	found = find(words, text);
	if (!found) {
		REFUSE(parse, EINVAL, "%s=\"%.20s\" is unknown", name, text);
		return 0;
	}
	return found->value;
}

/* --------------------------------------------------------------------- elements */

static void begin_algo(struct parse *parse)
{
	struct program *program = parse->program;
	const uint32_t not_told = 0;
	const char *coll = attribute(parse, "coll");
	const struct word *found;

	program->line = line_of(parse);
	program->gpus_count = number(parse, "ngpus", MOST_GPUS, NULL);
	program->chunks_per_loop = number(parse, "nchunksperloop", MOST_PLACES, &not_told);
	program->in_place = yes(parse, "inplace");
	if (!coll) {
		REFUSE(parse, EINVAL, "algo lacks coll");
		return;
	}
	found = find(colls, coll);
	program->coll = found ? (enum coll)found->value : CUSTOM;
	if (!program->gpus_count)
		REFUSE(parse, EINVAL, "no gpu element");
	else if (program->coll == CUSTOM && program->in_place)
		REFUSE(parse, EINVAL,
		       "coll=\"%.20s\" is unknown, and with inplace=\"1\" the file does not show its result",
		       coll);
}

static void begin_gpu(struct parse *parse)
{
	struct program *program = parse->program;
	struct gpu gpu = { .line = line_of(parse), .first = program->blocks.count };

	gpu.id = number(parse, "id", program->gpus_count - 1, NULL);
	gpu.chunks[INPUT] = number(parse, "i_chunks", MOST_PLACES, NULL);
	gpu.chunks[OUTPUT] = number(parse, "o_chunks", MOST_PLACES, NULL);
	gpu.chunks[SCRATCH] = number(parse, "s_chunks", MOST_PLACES, NULL);
	if (parse->ret)
		return;
	if (program->gpu_at[gpu.id] != NONE) {
		REFUSE(parse, EINVAL, "gpu %u appears twice", gpu.id);
		return;
	}
	if (GROW(program->gpus)) {
		stop(parse, lm_format_no_memory(&program->why));
		return;
	}
	program->gpu_at[gpu.id] = program->gpus.count;
	program->gpus.list[program->gpus.count++] = gpu;
}

static void begin_block(struct parse *parse)
{
	struct program *program = parse->program;
	struct gpu *gpu = &program->gpus.list[program->gpus.count - 1];
	struct block block = { .line = line_of(parse),
			       .gpu = gpu->id,
			       .first = program->steps.count };
	const uint32_t first = 0;
	uint32_t id = number(parse, "id", MOST_MOVES, NULL);

	block.send = number_or_none(parse, "send", program->gpus_count - 1);
	block.receive = number_or_none(parse, "recv", program->gpus_count - 1);
	block.channel = attribute(parse, "chan") && !strcmp(attribute(parse, "chan"), "-1") ?
				0 :
				number(parse, "chan", MOST_MOVES, &first);
	if (parse->ret)
		return;
	if (id != gpu->count) {
		REFUSE(parse, EINVAL, "the threadblock has id %u, the next id of gpu %u is %u", id,
		       gpu->id, gpu->count);
		return;
	}
	if (block.send == gpu->id || block.receive == gpu->id) {
		REFUSE(parse, EINVAL, "gpu %u sends to itself", gpu->id);
		return;
	}
	if (GROW(program->blocks)) {
		stop(parse, lm_format_no_memory(&program->why));
		return;
	}
	program->blocks.list[program->blocks.count++] = block;
	gpu->count++;
}

static void read_place(struct parse *parse, struct place *place, const char *buffer,
		       const char *offset, uint32_t count)
{
	const struct program *program = parse->program;
	const struct gpu *gpu = &program->gpus.list[program->gpus.count - 1];

	place->buffer = word(parse, buffer, buffers);
	place->offset = number(parse, offset, MOST_PLACES, NULL);
	if (parse->ret)
		return;
	if (place->offset > gpu->chunks[place->buffer] ||
	    count > gpu->chunks[place->buffer] - place->offset)
		REFUSE(parse, EINVAL,
		       "%s=\"%u\" and cnt=\"%u\" are beyond the %u chunks of buffer %s", offset,
		       place->offset, count, gpu->chunks[place->buffer],
		       buffers[place->buffer].text);
}

static void read_step(struct parse *parse, struct step *step, const struct block *block)
{
	const uint32_t none = 0;

	step->does = word(parse, "type", types);
	step->waits_block = number_or_none(parse, "depid", MOST_MOVES);
	step->waits_step = number_or_none(parse, "deps", MOST_MOVES);
	step->waited_for = yes(parse, "hasdep");
	step->count = number(parse, "cnt", MOST_MOVES, step->does ? NULL : &none);
	if (parse->ret)
		return;
	if (step->does && !step->count)
		REFUSE(parse, EINVAL, "cnt=\"0\": the step does nothing");
	if (step->does & READS)
		read_place(parse, &step->src, "srcbuf", "srcoff", step->count);
	if (step->does & COPIES)
		read_place(parse, &step->dst, "dstbuf", "dstoff", step->count);
	if (step->does & SENDS && block->send == NONE)
		REFUSE(parse, EINVAL, "the step sends, but the threadblock has send=\"-1\"");
	if (step->does & RECEIVES && block->receive == NONE)
		REFUSE(parse, EINVAL, "the step receives, but the threadblock has recv=\"-1\"");
	if ((step->waits_block == NONE) != (step->waits_step == NONE))
		REFUSE(parse, EINVAL, "depid and deps must both be -1, or neither");
}

static void begin_step(struct parse *parse)
{
	struct program *program = parse->program;
	struct block *block = &program->blocks.list[program->blocks.count - 1];
	struct step step = { .line = line_of(parse),
			     .block = program->blocks.count - 1,
			     .sender = NONE,
			     .receiver = NONE };
	uint32_t number_of = number(parse, "s", MOST_MOVES, NULL);

	read_step(parse, &step, block);
	if (parse->ret)
		return;
	if (number_of != block->count) {
		REFUSE(parse, EINVAL,
		       "the step has number %u, the next number of the threadblock is %u",
		       number_of, block->count);
		return;
	}
	if (GROW(program->steps)) {
		stop(parse, lm_format_no_memory(&program->why));
		return;
	}
	program->steps.list[program->steps.count++] = step;
	block->count++;
}

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **attributes)
{
	static void (*const begin[])(struct parse * parse) = { begin_algo, begin_gpu, begin_block,
							       begin_step };
	struct parse *parse = context;

	if (parse->ret)
		return;
	if (parse->depth >= DEEPEST || strcmp(name, elements[parse->depth]) != 0) {
		REFUSE(parse, EINVAL, "found <%.20s>, expected <%s>", name,
		       parse->depth < DEEPEST ? elements[parse->depth] : "/step");
		return;
	}
	parse->attributes = attributes;
	begin[parse->depth](parse);
	parse->depth++;
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
	struct parse *parse = context;

	(void)name;
	parse->depth--;
}

/* Reject entities, which can expand to anything; they begin with a document type. */
static void XMLCALL on_doctype(void *context, const XML_Char *name, const XML_Char *system_id,
			       const XML_Char *public_id, int internal)
{
	struct parse *parse = context;

	(void)name;
	(void)system_id;
	(void)public_id;
	(void)internal;
	REFUSE(parse, EINVAL, "document type not supported");
}

/* ------------------------------------------------------------------------ whole */

static int check_gpus(const struct program *program)
{
	uint64_t places = 0, moves = 0;

	if (program->gpus.count < program->gpus_count)
		return lm_format_fail(&program->why, EINVAL,
				      "line %u: ngpus=\"%u\", the file has %u", program->line,
				      program->gpus_count, program->gpus.count);
	for (uint32_t at = 0; at < program->gpus.count; at++) {
		const struct gpu *gpu = &program->gpus.list[at];

		places += (uint64_t)gpu->chunks[INPUT] + gpu->chunks[OUTPUT] + gpu->chunks[SCRATCH];
		if (places > MOST_PLACES)
			return lm_format_fail(&program->why, E2BIG,
					      "line %u: the buffers have more than 2^22 chunks",
					      gpu->line);
	}
	for (uint32_t at = 0; at < program->steps.count; at++) {
		moves += program->steps.list[at].count;
		if (moves > MOST_MOVES)
			return lm_format_fail(&program->why, E2BIG,
					      "line %u: the steps move more than 2^22 chunks",
					      program->steps.list[at].line);
	}
	return 0;
}

static int run_parser(struct parse *parse, const char *text, size_t length)
{
	const struct why *why = &parse->program->why;

	XML_SetUserData(parse->parser, parse);
	XML_SetElementHandler(parse->parser, on_start, on_end);
	XML_SetStartDoctypeDeclHandler(parse->parser, on_doctype);
	if (XML_Parse(parse->parser, text, (int)length, XML_TRUE) == XML_STATUS_OK || parse->ret)
		return parse->ret;
	if (XML_GetErrorCode(parse->parser) == XML_ERROR_NO_MEMORY)
		return lm_format_no_memory(why);
	return lm_format_fail(why, EINVAL, "line %u: %s", line_of(parse),
			      XML_ErrorString(XML_GetErrorCode(parse->parser)));
}

int lm_msccl_parse(struct program *program, const char *text, size_t length)
{
	static const XML_Memory_Handling_Suite memory = { malloc, realloc, free };
	struct parse parse = { .program = program };
	int ret;

	if (length > MOST_BYTES)
		return lm_format_fail(&program->why, E2BIG, "the file has more than %u bytes",
				      MOST_BYTES);
	program->gpu_at = malloc(MOST_GPUS * sizeof(*program->gpu_at));
	if (!program->gpu_at)
		return lm_format_no_memory(&program->why);
	memset(program->gpu_at, 0xff, MOST_GPUS * sizeof(*program->gpu_at));
	parse.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
	if (!parse.parser)
		return lm_format_no_memory(&program->why);
	ret = run_parser(&parse, text, length);
	XML_ParserFree(parse.parser);
	return ret ? ret : check_gpus(program);
}

void lm_msccl_free(struct program *program)
{
	free(program->gpus.list);
	free(program->blocks.list);
	free(program->steps.list);
	free(program->gpu_at);
}

MORPH_API int morph_msccl_read(struct morph_collective *collective, const char *text, size_t length,
			       uint64_t bytes, char *why, size_t room)
{
	struct program program = { .why = { why, room } };
	int ret = lm_msccl_parse(&program, text, length);

	if (!ret)
		ret = lm_msccl_match(&program);
	if (!ret)
		ret = lm_msccl_follow(&program, collective, bytes);
	lm_msccl_free(&program);
	return ret;
}
