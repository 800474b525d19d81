/* probe.bpf.c - the smallest program that proves BPF works here: count context switches.  A raw
 * tracepoint, so it needs neither BTF nor tracefs. */
#include "kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "probe.shared.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct assay_probe_counts counts;

SEC("raw_tp/sched_switch")
int assay_probe_switch(void *context)
{
	(void)context;
	__sync_fetch_and_add(&counts.switches, 1);
	return 0;
}
