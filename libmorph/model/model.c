// SPDX-License-Identifier: LGPL-2.1-or-later
/* Models: profiles that the code of kmod/optics has checked and holds. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/morph_netlink.h>

#include "model.h"
#include "optics.h"

#define LARGEST_PROFILE_BYTES (1LL << 30)

struct morph_model {
	atomic_uint holders;
	const struct optics_graph *graph; /* in the memory after this structure */
	max_align_t block[];
};

int morph_model_parse(struct morph_ctx *ctx, const void *profile, size_t bytes,
		      struct morph_model **out)
{
	struct optics_refusal refusal = { 0 };
	struct morph_model *model;
	s64 block_bytes;
	void *blob;

	*out = NULL;
	if (!profile)
		bytes = 0;
	/* optics needs 8-byte alignment, which the caller's memory may lack */
	blob = malloc(bytes ? bytes : 1);
	if (!blob)
		return lm_no_memory(ctx, "make a model");
	if (bytes)
		memcpy(blob, profile, bytes);
	block_bytes = optics_graph_bytes(blob, bytes, &refusal);
	model = block_bytes < 0 ? NULL : malloc(sizeof(*model) + (size_t)block_bytes);
	if (model)
		model->graph = optics_graph_build(model->block, blob, bytes, &refusal);
	free(blob);
	if (block_bytes < 0 || (model && !model->graph)) {
		free(model);
		return lm_fail(ctx, EINVAL, "the profile of %zu bytes is malformed at byte %lld",
			       bytes, (long long)refusal.have);
	}
	if (!model)
		return lm_no_memory(ctx, "make a model");
	atomic_init(&model->holders, 1);
	*out = model;
	return 0;
}

/* Read @bytes from a file that can shrink meanwhile. Returns the number of bytes read. */
static ssize_t read_whole(int fd, char *into, size_t bytes)
{
	size_t at = 0;

	while (at < bytes) {
		ssize_t got = read(fd, into + at, bytes - at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		at += (size_t)got;
	}
	return (ssize_t)at;
}

MORPH_API int morph_model_load(struct morph_ctx *ctx, const char *path, struct morph_model **out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status = { 0 };
	char *profile = NULL;
	ssize_t bytes;
	int error;

	*out = NULL;
	if (fd < 0 || fstat(fd, &status))
		bytes = -errno;
	else if (!S_ISREG(status.st_mode))
		bytes = -EINVAL;
	else if (status.st_size > LARGEST_PROFILE_BYTES)
		bytes = -EFBIG;
	else if (!(profile = malloc((size_t)status.st_size + 1)))
		bytes = -ENOMEM;
	else
		bytes = read_whole(fd, profile, (size_t)status.st_size);
	if (bytes < 0)
		error = lm_fail(ctx, (int)-bytes, "read profile %s: %s", path,
				bytes == -EINVAL ? "not a regular file" : strerror((int)-bytes));
	else
		error = morph_model_parse(ctx, profile, (size_t)bytes, out);
	free(profile);
	if (fd >= 0)
		close(fd);
	return error;
}

struct morph_model *morph_model_get(struct morph_model *model)
{
	atomic_fetch_add_explicit(&model->holders, 1, memory_order_relaxed);
	return model;
}

MORPH_API void morph_model_put(struct morph_model *model)
{
	if (model && atomic_fetch_sub_explicit(&model->holders, 1, memory_order_acq_rel) == 1)
		free(model);
}

const struct optics_graph *lm_model_graph(const struct morph_model *model)
{
	return model->graph;
}

uint32_t morph_model_checksum(const struct morph_model *model)
{
	return model->graph->params.checksum;
}

MORPH_API int morph_model_info(struct morph_ctx *ctx, const struct morph_model *model,
			       struct morph_object **out)
{
	const struct optics_graph *graph = model->graph;
	const struct {
		const char *attribute;
		uint64_t value;
	} numbers[] = {
		{ "profile-checksum", graph->params.checksum },
		{ "accelerators", graph->accelerators_count },
		{ "hosts", graph->hosts_count },
		{ "elements", graph->elements_count },
		{ "guides", graph->guides_count },
		{ "planes", graph->params.planes },
		{ "wavelengths", graph->params.wavelengths },
		{ "edges", graph->edges_count },
		{ "lane-mbps", graph->params.lane_mbps },
		{ "settle-ns", graph->params.settle_ns },
		{ "relock-ns", graph->params.relock_ns },
	};
	struct morph_object *object = morph_object_new(MORPH_OBJECT_FABRIC);
	char name[sizeof(graph->params.name) + 1];
	MORPH_OPTS(morph_value, value);
	int error = -ENOMEM;

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(graph->params.name), graph->params.name);
	value.text = name;
	if (object)
		error = morph_object_put(object, "profile", &value);
	value.text = NULL;
	for (size_t at = 0; !error && at < ARRAY_SIZE(numbers); at++) {
		value.uint = numbers[at].value;
		error = morph_object_put(object, numbers[at].attribute, &value);
	}
	*out = NULL;
	if (error) {
		morph_object_free(object);
		return lm_no_memory(ctx, "describe a model");
	}
	*out = object;
	return 0;
}

int morph_model_check(struct morph_ctx *ctx, const struct morph_model *model,
		      const struct morph_object *fabric)
{
	uint32_t theirs = morph_object_uint(fabric, "profile-checksum");
	uint32_t mine = model->graph->params.checksum;

	if (theirs == mine)
		return 0;
	return lm_fail(ctx, ESTALE,
		       "the model is for a profile with checksum %08x, the fabric has %08x", mine,
		       theirs);
}
