/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/request.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_REQUEST_H
#define LM_INTERNAL_REQUEST_H

#include <morph/morph.h>

/*
 * Each sets one field of struct morph_request_opts, and leaves the others. They return 0 or an
 * errno of morph_request_set_opts(). Here 0 is no tier, and no number of wavelengths.
 */
void morph_request_set_simplex(struct morph_request *request, bool simplex);
void morph_request_set_mbps(struct morph_request *request, uint64_t mbps);
int morph_request_set_wavelengths(struct morph_request *request, uint32_t wavelengths);
int morph_request_set_tier(struct morph_request *request, uint32_t tier);
int morph_request_set_objective(struct morph_request *request, uint32_t objective);
int morph_request_set_transit(struct morph_request *request, uint32_t transit);
int morph_request_set_servers(struct morph_request *request, uint32_t servers);
void morph_request_set_budget(struct morph_request *request, uint64_t steps);
int morph_request_set_failover(struct morph_request *request, uint32_t failover);
int morph_request_set_spare_policy(struct morph_request *request, uint32_t policy);
int morph_request_set_spares(struct morph_request *request, const uint32_t *spares, size_t count);
void morph_request_set_reserved(struct morph_request *request, bool reserved);
void morph_request_set_controller(struct morph_request *request, uint32_t controller);
int morph_request_set_name(struct morph_request *request, const char *name, uint32_t mode);

#endif /* LM_INTERNAL_REQUEST_H */
