// SPDX-License-Identifier: MIT
/*
 * Read and write files of other programs: MSCCL's algorithms, Harvest's topologies, messages that
 * Open MPI has counted, execution traces of Chakra.
 *
 *	files msccl FILE BYTES          the algorithm as a collective, and back
 *	files segments FILE             topologies of a schedule
 *	files monitoring FILE RANKS     bytes from each rank to each
 *	files trace FILE...             a trace for each rank
 *
 * cc files.c $(pkg-config --cflags --libs libmorph-formats)
 */
#include <inttypes.h>
#include <morph/formats.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char why[256];

static char *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	long size;

	if (!file)
		return NULL;
	if (!fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET)) {
		text = malloc((size_t)size + 1);
		*bytes = text ? fread(text, 1, (size_t)size, file) : 0;
	}
	fclose(file);
	return text;
}

static int print_transfers(const struct morph_collective *collective)
{
	MORPH_OPTS(morph_collective_info, info);

	if (morph_collective_info(collective, &info))
		return 1;
	printf("%" PRIu32 " ranks, %" PRIu32 " rounds\n", info.ranks, info.rounds);
	for (uint32_t round = 0; round < info.rounds; round++)
		printf("round %" PRIu32 ": %" PRIu32 " transfers\n", round,
		       morph_collective_transfers(collective, round));
	return 0;
}

static int use_msccl(struct morph_ctx *ctx, const char *text, size_t bytes, uint64_t buffer)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	char *back = NULL;
	ssize_t length;
	int status = 1;

	if (!collective || morph_msccl_read(collective, text, bytes, buffer, why, sizeof(why)))
		goto out;
	status = print_transfers(collective);
	length = morph_msccl_write(collective, "again", NULL, 0, why, sizeof(why));
	if (length > 0)
		back = malloc((size_t)length + 1);
	if (!back || morph_msccl_write(collective, "again", back, (size_t)length + 1, why,
				       sizeof(why)) != length)
		status = 1;
	else
		printf("%zd bytes of XML\n", length);
out:
	free(back);
	morph_collective_free(collective);
	return status;
}

static int use_segments(const char *text, size_t bytes)
{
	struct morph_segments *segments;
	struct morph_segments_about about;

	if (morph_segments_read(text, bytes, &segments, why, sizeof(why)))
		return 1;
	morph_segments_about(segments, &about);
	printf("%s of %" PRIu32 " ranks, %" PRIu32 " changes\n", about.collective, about.ranks,
	       about.reconfigurations);
	for (uint32_t step = 0; step < about.steps; step++) {
		struct morph_link link;

		for (uint32_t at = 0; morph_segments_link(segments, step, at, &link) == 0; at++)
			printf("step %" PRIu32 ": %" PRIu32 " to %" PRIu32 "\n", step, link.src,
			       link.dst);
	}
	morph_segments_free(segments);
	return 0;
}

static int use_monitoring(const char *text, size_t bytes, uint32_t ranks)
{
	uint64_t *matrix = calloc((size_t)ranks * ranks, sizeof(*matrix));
	int status = 1;

	if (!matrix || morph_monitoring_read(matrix, ranks, text, bytes, why, sizeof(why)) < 0)
		goto out;
	for (uint32_t rank = 0; rank < ranks; rank++)
		for (uint32_t to = 0; to < ranks; to++)
			printf("%" PRIu64 "%c", matrix[rank * ranks + to],
			       to + 1 < ranks ? ' ' : '\n');
	status = 0;
out:
	free(matrix);
	return status;
}

static int use_traces(struct morph_ctx *ctx, char **paths, uint32_t count)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_trace *trace = morph_trace_new();
	int status = !collective || !trace;

	for (uint32_t rank = 0; !status && rank < count; rank++) {
		size_t bytes;
		char *data = read_file(paths[rank], &bytes);

		status = !data || morph_trace_read(trace, rank, data, bytes, why, sizeof(why));
		free(data);
	}
	if (!status)
		status = morph_trace_convert(trace, collective, why, sizeof(why)) ||
			 print_transfers(collective);
	morph_trace_free(trace);
	morph_collective_free(collective);
	return status;
}

int main(int argc, char **argv)
{
	struct morph_ctx *ctx;
	size_t bytes = 0;
	int status = 2;
	char *text;

	if (argc < 3) {
		fprintf(stderr, "usage: files msccl|segments|monitoring|trace FILE [NUMBER]\n");
		return 2;
	}
	text = read_file(argv[2], &bytes);
	if (!text || morph_ctx_new(NULL, &ctx)) {
		perror(argv[2]);
		return 1;
	}
	if (!strcmp(argv[1], "msccl") && argc == 4)
		status = use_msccl(ctx, text, bytes, strtoull(argv[3], NULL, 10));
	else if (!strcmp(argv[1], "segments"))
		status = use_segments(text, bytes);
	else if (!strcmp(argv[1], "monitoring") && argc == 4)
		status = use_monitoring(text, bytes, (uint32_t)atoi(argv[3]));
	else if (!strcmp(argv[1], "trace"))
		status = use_traces(ctx, argv + 2, (uint32_t)argc - 2);
	if (status)
		fprintf(stderr, "%s: %s\n", argv[2], why);
	free(text);
	morph_ctx_free(ctx);
	return status;
}
