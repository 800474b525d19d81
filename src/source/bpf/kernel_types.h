/* kernel_types.h - the few names <bpf/bpf_helpers.h> expects, so that a BPF program is compiled
 * without the kernel's headers and without a vmlinux.h (0.1 s in place of 1.4 s). */
#pragma once

typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
