/* refusal.h - why the kernel said no, and the way out.
 *
 * The same errno has several causes: EPERM is a seccomp filter, a security module or
 * perf_event_paranoid; ENOENT is a machine without a PMU.  This tells them apart from facts read
 * once, so that every command gives the true cause.  Owns nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum refusal_cause {
	REFUSAL_SECCOMP,     /* a filter answers in the kernel's place */
	REFUSAL_NO_SYSCALL,  /* the kernel has no such call */
	REFUSAL_PARANOID,    /* kernel.perf_event_paranoid and no CAP_PERFMON */
	REFUSAL_PRIVILEGE,   /* only CAP_PERFMON, CAP_BPF or root may, whatever the settings */
	REFUSAL_MODULE,	     /* privileged and still refused: lockdown, SELinux... */
	REFUSAL_NO_HARDWARE, /* no PMU, or no such event on it */
	REFUSAL_BUSY,	     /* someone else holds it */
	REFUSAL_FILES,	     /* too many open files */
	REFUSAL_MEMORY,	     /* locked memory used up */
	REFUSAL_OTHER,
};

/* What was asked for. */
enum refusal_of {
	REFUSED_HARDWARE,   /* a hardware event of our own thread, user space only */
	REFUSED_SOFTWARE,   /* a software event of our own thread, user space only */
	REFUSED_KERNEL,	    /* an event that includes the kernel */
	REFUSED_MACHINE,    /* any event of all tasks of a CPU */
	REFUSED_TRACEPOINT, /* a tracepoint */
	REFUSED_UPROBE,	    /* a uprobe through the perf PMU */
	REFUSED_RING,	    /* mapping a ring buffer */
	REFUSED_BPF,	    /* loading a BPF program */
};

enum syscall_state { SYSCALL_REACHED, SYSCALL_FILTERED, SYSCALL_KILLS, SYSCALL_MISSING };

enum { PARANOID_UNKNOWN = -100 };

struct refusal_facts {
	int paranoid;	       /* kernel.perf_event_paranoid, or PARANOID_UNKNOWN */
	int bpf_disabled;      /* kernel.unprivileged_bpf_disabled, -1: not known */
	unsigned seccomp;      /* /proc/self/status: 0 none, 1 strict, 2 filter */
	uint64_t capabilities; /* effective */
	bool root;	       /* user 0, with whatever capabilities */
	bool user_namespace;   /* capabilities count only inside it */
	bool container;
	bool virtual_machine;
	enum syscall_state perf_event_open, bpf, ptrace;
};

/* Read the facts of this process.  Under a filter each call is tried in a child first, because a
 * filter may kill. */
void refusal_facts_read(struct refusal_facts *ret_facts);

/* Whether we hold the capability (CAP_* number) where the kernel asks for it. */
bool refusal_facts_can(const struct refusal_facts *facts, unsigned capability);

/* The way out where the mappings of other processes (/proc/PID/maps) cannot be read. */
const char *refusal_maps_hint(const struct refusal_facts *facts);

enum refusal_cause refusal_find(const struct refusal_facts *facts, enum refusal_of what, int code);

/* The cause in one sentence and the way out, as a failure of kind ERR_UNAVAILABLE.  `code` is a
 * positive errno; returns -code. */
int refusal_explain(
	const struct refusal_facts *facts, enum refusal_of what, int code, struct err *err);
