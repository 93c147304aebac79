// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compile <morph/device.h> as device code, without running it. The definitions below replace the
 * vendors' headers, so that the build does not need them.
 */
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#if !defined(__HIPCC__) && !defined(__CUDACC__)
#define __CUDACC__
#endif

extern "C" __device__ void __threadfence_system(void);

#include <morph/device.h>

extern "C" __global__ void ask(struct morph_device_ring *ring, unsigned int *error)
{
	struct morph_device_answer answer;

	while (morph_device_submit(ring, MORPH_DEVICE_JUMP, 1, 2, 3))
		;
	while (!morph_device_answered(ring, &answer))
		;
	*error = answer.error;
}
