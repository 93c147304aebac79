/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models, for planners. */
#ifndef LM_MODEL_MODEL_H
#define LM_MODEL_MODEL_H

#include "../internal/planner.h"
#include "optics.h"

/* The graph of a model, which planners read while they hold the model. */
const struct optics_graph *lm_model_graph(const struct morph_model *model);

#endif /* LM_MODEL_MODEL_H */
