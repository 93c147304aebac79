/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What planners are asked for, as the command line says it. */
#ifndef MORPHCTL_REQUEST_H
#define MORPHCTL_REQUEST_H

#include "client.h"

/* By --count, --shape, --ring or --mesh, and what goes with them; @request is the caller's to free. */
enum exit_code request_given(struct run *run, const struct morph_model *model,
			     struct morph_request **request);

#endif
