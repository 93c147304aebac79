/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The version of the modules morph, morph_sim and morph_net. Only modules of the same version work
 * together. scripts/static/versions compares it with the other files that contain the version.
 */
#ifndef _MORPH_VERSION_H
#define _MORPH_VERSION_H

#define MORPH_VERSION "0.1.0"

#endif /* _MORPH_VERSION_H */
