/* probe_core.bpf.c - does CO-RE work here?  A BTF tracepoint reads task_struct.tgid of the task
 * that is switched out, at an offset taken from the kernel's BTF, and compares it with the helper's
 * answer for the same task. */
#include "kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "probe.shared.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct task_struct {
	int tgid;
} __attribute__((preserve_access_index));

struct assay_probe_counts counts;

/* sched_switch(bool preempt, struct task_struct *prev, struct task_struct *next, ...) */
SEC("tp_btf/sched_switch")
int assay_probe_core(__u64 *arguments)
{
	struct task_struct *previous = (struct task_struct *)arguments[1];

	__sync_fetch_and_add(&counts.switches, 1);
	if (previous->tgid == (int)(bpf_get_current_pid_tgid() >> 32))
		__sync_fetch_and_add(&counts.agreed, 1);
	return 0;
}
