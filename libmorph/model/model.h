/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models, for the planner. */
#ifndef LM_MODEL_MODEL_H
#define LM_MODEL_MODEL_H

#include "../internal/planner.h"
#include "optics.h"

/* The graph of a model, valid while the caller holds the model. */
const struct optics_graph *lm_model_graph(const struct morph_model *model);

#endif /* LM_MODEL_MODEL_H */
