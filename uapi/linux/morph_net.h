/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Network devices of a slice: attributes of the rtnetlink kind "morph", in IFLA_INFO_DATA.
 *
 * One device belongs to one rank of a slice. Its frames pass only over lit circuits of the slice.
 */
#ifndef _UAPI_LINUX_MORPH_NET_H
#define _UAPI_LINUX_MORPH_NET_H

/**
 * enum morph_net_attr - attributes of a device; all are __u32
 * @IFLA_MORPH_UNSPEC: unused
 * @IFLA_MORPH_FABRIC: number of the fabric; required, constant
 * @IFLA_MORPH_SLICE: number of the slice; required, constant
 * @IFLA_MORPH_RANK: rank in the slice; required, constant
 * @IFLA_MORPH_CARRIER_DELAY_MS: time without light after which the carrier goes off, at most
 *	30000 (default: 100)
 */
enum morph_net_attr {
	IFLA_MORPH_UNSPEC,
	IFLA_MORPH_FABRIC,
	IFLA_MORPH_SLICE,
	IFLA_MORPH_RANK,
	IFLA_MORPH_CARRIER_DELAY_MS,

	/* private: */
	__IFLA_MORPH_MAX,
};

#define IFLA_MORPH_MAX (__IFLA_MORPH_MAX - 1)

#endif /* _UAPI_LINUX_MORPH_NET_H */
