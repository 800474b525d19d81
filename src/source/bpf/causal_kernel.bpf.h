/* causal_kernel.bpf.h - the kernel's types, of which only what causal.bpf.c reads. */
#pragma once

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define KERNEL __attribute__((preserve_access_index))

struct sigaction {
	void *sa_handler;
} KERNEL;
struct k_sigaction {
	struct sigaction sa;
} KERNEL;
struct sighand_struct {
	struct k_sigaction action[64];
} KERNEL;
typedef struct {
	unsigned long sig[1];
} sigset_t;
struct sigpending {
	sigset_t signal;
} KERNEL;
typedef struct {
	int counter;
} atomic_t;
struct seccomp {
	int mode;
	atomic_t filter_count;
} KERNEL;
struct rlimit {
	unsigned long rlim_cur;
} KERNEL;
struct signal_struct {
	struct rlimit rlim[16];
} KERNEL;
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags;
} KERNEL;
struct task_struct {
	int pid, tgid, static_prio;
	unsigned int policy, __state, flags;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	sigset_t blocked;
	struct sigpending pending;
	struct seccomp seccomp;
	unsigned long sas_ss_sp, sas_ss_size;
	unsigned int sas_ss_flags;
	unsigned long long timer_slack_ns;
} KERNEL;
struct task_struct___before_5_14 {
	long state;
} KERNEL;

static __always_inline __u64 task_state(struct task_struct *task)
{
	struct task_struct___before_5_14 *before = (void *)task;

	return bpf_core_field_exists(task->__state) ? BPF_CORE_READ(task, __state)
						    : (__u64)BPF_CORE_READ(before, state);
}

/* What a perf_event program gets: the registers of the interrupted code first. */
struct assay_sample_context {
	__u64 registers[33];
};
struct pt_regs {
	__u64 words[36];
};
