// SPDX-License-Identifier: LGPL-2.1-or-later
/* Access to traces. */
#include "trace.h"

MORPH_API struct morph_trace *morph_trace_new(void)
{
	return calloc(1, sizeof(struct morph_trace));
}

MORPH_API void morph_trace_free(struct morph_trace *trace)
{
	if (!trace)
		return;
	for (uint32_t at = 0; at < trace->ranks; at++) {
		if (!trace->list[at])
			continue;
		free(trace->list[at]->operations.list);
		free(trace->list[at]->dependencies.list);
		free(trace->list[at]->texts.list);
		free(trace->list[at]);
	}
	free(trace);
}

int morph_trace_operation(const struct morph_trace *trace, uint32_t rank, uint32_t number,
			  struct morph_operation *out)
{
	const struct operation *operation;

	if (number >= lm_trace_count(trace, rank))
		return -ENOENT;
	operation = &trace->list[rank]->operations.list[number];
	*out = (struct morph_operation){
		.id = operation->id,
		.kind = operation->kind,
		.collective = operation->collective,
		.src = operation->src,
		.dst = operation->dst,
		.tag = operation->tag,
		.bytes = operation->bytes,
		.start_us = operation->start_us,
		.duration_us = operation->duration_us,
		.dependencies = operation->count,
		.name = trace->list[rank]->texts.list + operation->name,
		.group = trace->list[rank]->texts.list + operation->group,
	};
	if (operation->count)
		out->waits_for = &trace->list[rank]->dependencies.list[operation->first];
	return 0;
}
