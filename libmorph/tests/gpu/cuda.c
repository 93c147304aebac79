// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda.h"

#define REGISTER_DEVICEMAP 0x02u
#define REGISTER_READ_ONLY 0x08u
#define NOT_READY 600

typedef unsigned long long device_ptr;

/* Functions of the library, with the prototypes of cuda.h in the CUDA toolkit. */
#define CALLS(call)                                                                                \
	call(cuInit, (unsigned int flags)) call(cuDeviceGet, (int *device, int number)) call(      \
		cuDeviceGetName,                                                                   \
		(char *name, int bytes, int device)) call(cuDevicePrimaryCtxRetain,                \
							  (void **context,                         \
							   int device)) call(cuCtxSetCurrent,      \
									     (void *context))      \
		call(cuGetErrorName, (int error, const char **name)) call(                         \
			cuModuleLoadData, (void **module, const void *image)) call(cuModuleUnload, \
										   (void *module)) \
			call(cuModuleGetFunction,                                                  \
			     (void **function, void *module,                                       \
			      const char *name)) call(cuMemHostRegister_v2,                        \
						      (void *memory, size_t bytes,                 \
						       unsigned int flags))                        \
				call(cuMemHostUnregister, (void *memory)) call(                    \
					cuMemHostGetDevicePointer_v2,                              \
					(device_ptr * at, void *memory,                            \
					 unsigned int flags)) call(cuMemAlloc_v2,                  \
								   (device_ptr * at,               \
								    size_t bytes))                 \
					call(cuMemFree_v2, (device_ptr at)) call(                  \
						cuMemcpyHtoD_v2,                                   \
						(device_ptr to, const void *from, size_t bytes))   \
						call(cuMemcpyDtoH_v2,                              \
						     (void *to, device_ptr from, size_t bytes))    \
							call(cuLaunchKernel,                       \
							     (void *function,                      \
							      unsigned int blocks_x,               \
							      unsigned int blocks_y,               \
							      unsigned int blocks_z,               \
							      unsigned int threads_x,              \
							      unsigned int threads_y,              \
							      unsigned int threads_z,              \
							      unsigned int shared_bytes,           \
							      void *stream, void **arguments,      \
							      void **extra)) call(cuStreamQuery,   \
										  (void *stream))

#define POINTER(name, arguments) static int(*name) arguments;
CALLS(POINTER)

static void *library, *module;

static const char *error_name(int error)
{
	const char *name = NULL;

	cuGetErrorName(error, &name);
	return name ? name : "unknown error";
}

static void must(int error, const char *what)
{
	if (!error)
		return;
	printf("Bail out! %s: %s\n", what, error_name(error));
	exit(1);
}

const char *cuda_open(char *name, size_t bytes)
{
	void *context;
	int device, error;

	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library)
		return "no libcuda.so.1";
#define FIND(name, arguments)                      \
	*(void **)&(name) = dlsym(library, #name); \
	if (!(name))                               \
		return "libcuda.so.1 has no " #name;
	CALLS(FIND)
	error = cuInit(0);
	if (!error)
		error = cuDeviceGet(&device, 0);
	if (error)
		return error_name(error);
	must(cuDeviceGetName(name, (int)bytes, device), "name of the GPU");
	must(cuDevicePrimaryCtxRetain(&context, device), "context");
	must(cuCtxSetCurrent(context), "context");
	return NULL;
}

void cuda_load(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t bytes = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[bytes] = '\0';
	if (module)
		must(cuModuleUnload(module), "unload");
	must(cuModuleLoadData(&module, text), path);
}

void *cuda_register(void *memory, size_t bytes, bool read_only)
{
	device_ptr at;

	must(cuMemHostRegister_v2(memory, bytes,
				  REGISTER_DEVICEMAP | (read_only ? REGISTER_READ_ONLY : 0)),
	     "register memory");
	must(cuMemHostGetDevicePointer_v2(&at, memory, 0), "where the GPU has memory");
	return (void *)at;
}

void cuda_unregister(void *memory)
{
	must(cuMemHostUnregister(memory), "unregister memory");
}

void *cuda_alloc(size_t bytes)
{
	device_ptr at;

	must(cuMemAlloc_v2(&at, bytes), "allocate memory");
	return (void *)at;
}

void cuda_put(void *to, const void *from, size_t bytes)
{
	must(cuMemcpyHtoD_v2((device_ptr)to, from, bytes), "copy to the GPU");
}

void cuda_get(void *to, const void *from, size_t bytes)
{
	must(cuMemcpyDtoH_v2(to, (device_ptr)from, bytes), "copy from the GPU");
}

void cuda_free(void *memory)
{
	must(cuMemFree_v2((device_ptr)memory), "free memory");
}

void cuda_start(const char *kernel, unsigned int blocks, unsigned int threads, void *argument)
{
	void *function, *arguments[] = { argument };

	must(cuModuleGetFunction(&function, module, kernel), kernel);
	must(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL),
	     kernel);
}

bool cuda_runs(void)
{
	int error = cuStreamQuery(NULL);

	if (error == NOT_READY)
		return true;
	must(error, "kernel");
	return false;
}
