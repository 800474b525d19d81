/* probe_parts.h - what the probe_*.c files share; not seen outside this room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/pmu.h"
#include "source/probe.h"
#include "source/refusal.h"
#include "wire/record.h"

/* One capability's answer. */
struct finding {
	enum wire_status status;
	char reason[768];
	char fix[768];
};

void finding_set(struct finding *finding, enum wire_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void finding_fix(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Take sentence and way out of a failure. */
void finding_from(struct finding *finding, enum wire_status status, const struct err *err);

/* A few milliseconds of samples of ourselves, half of them in the kernel. */
struct sample_ask {
	uint32_t type;
	uint64_t config, period;
	bool kernel;
	bool branches;
};

struct sample_trial {
	int open_code, map_code; /* positive errno, 0: it worked */
	unsigned samples, lost;
	uint64_t gap_ns; /* median between two samples, 0: fewer than two */
	unsigned with_registers, with_branches, with_kernel;
	unsigned user_frames, kernel_frames; /* of the deepest frame-pointer chains */
	uint64_t stack_bytes;		     /* of the longest stack copy */
};

enum { SAMPLE_GAP_NS = 100000 };

void sample_try(const struct sample_ask *ask, struct sample_trial *ret_trial);

/* What the probes know and share: done once, used by several. */
struct probe {
	struct refusal_facts facts;
	int pmu_code; /* positive errno with which the self-test was refused, 0 */
	struct err pmu_err;
	struct pmu_report pmu;
	struct sample_trial clock;  /* cpu-clock, with the kernel where permitted */
	bool clock_has_kernel;	    /* `clock` was opened with the kernel included */
	int kernel_code;	    /* why not */
	struct sample_trial cycles; /* only with a PMU */
	probe_lines_find *lines_find;
};

/* The two kernel-side trials of bpf/: programs counted `ret_count` context switches; the second
 * one only those where a relocated read of task_struct agrees with the helper.  0 or negative
 * errno; `step` says what failed. */
int probe_bpf_count(uint64_t *ret_count, const char **ret_step);
int probe_bpf_core_count(uint64_t *ret_count, const char **ret_step);

typedef void probe_function(const struct probe *probe, struct finding *ret_finding);

/* probe_perf.c */
probe_function probe_pmu, probe_sampling, probe_clock_precision, probe_kernel_stacks,
	probe_user_stacks, probe_branch_records, probe_perf_buffers;
/* probe_trace.c */
probe_function probe_tracepoints, probe_bpf, probe_btf, probe_uprobes;
/* probe_limits.c */
probe_function probe_paranoid, probe_kptr, probe_nmi_watchdog, probe_mlock, probe_privileges,
	probe_seccomp, probe_virtual_machine, probe_quota;
/* probe_programs.c */
probe_function probe_preload, probe_ptrace, probe_valgrind, probe_debug_files;
