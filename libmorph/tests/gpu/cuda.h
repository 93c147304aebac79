/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver API of CUDA. The program loads libcuda.so.1 itself, so the build needs no CUDA. */
#ifndef MORPH_TEST_GPU_CUDA_H
#define MORPH_TEST_GPU_CUDA_H

#include <stdbool.h>
#include <stddef.h>

/* Open the first GPU and store its name. Return NULL, or the reason why there is no GPU. */
const char *cuda_open(char *name, size_t bytes);

/* Compile a file of PTX for this GPU. This function and the following ones exit on errors. */
void cuda_load(const char *path);

/* Register memory as cudaHostRegister() does. Return its address on the GPU. */
void *cuda_register(void *memory, size_t bytes, bool read_only);
void cuda_unregister(void *memory);

/* Allocate, write, read and free memory of the GPU. */
void *cuda_alloc(size_t bytes);
void cuda_put(void *to, const void *from, size_t bytes);
void cuda_get(void *to, const void *from, size_t bytes);
void cuda_free(void *memory);

/* Start a kernel of the loaded file with one argument. Is it still running? */
void cuda_start(const char *kernel, unsigned int blocks, unsigned int threads, void *argument);
bool cuda_runs(void);

#endif
