/* probe.c - the table of capabilities, and the work that several of them share.
 *
 * The trials that cost time (the PMU self-test, 6 ms of samples) are done once and read by all
 * that need them. */
#include "source/probe.h"

#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>

#include "probe_parts.h"
#include "source/emit.h"

/* In the order shown: counters, samples, kernel side, inside the target, settings. */
static const struct {
	const char *name;
	probe_function *run;
} capabilities[] = {
	{"pmu", probe_pmu},
	{"sampling", probe_sampling},
	{"cpu-clock-precision", probe_clock_precision},
	{"user-stacks", probe_user_stacks},
	{"kernel-stacks", probe_kernel_stacks},
	{"branch-records", probe_branch_records},
	{"perf-buffers", probe_perf_buffers},
	{"tracepoints", probe_tracepoints},
	{"bpf", probe_bpf},
	{"btf", probe_btf},
	{"uprobes", probe_uprobes},
	{"preload", probe_preload},
	{"ptrace", probe_ptrace},
	{"valgrind", probe_valgrind},
	{"debug-files", probe_debug_files},
	{"privileges", probe_privileges},
	{"seccomp", probe_seccomp},
	{"perf-event-paranoid", probe_paranoid},
	{"kptr-restrict", probe_kptr},
	{"nmi-watchdog", probe_nmi_watchdog},
	{"mlock-limit", probe_mlock},
	{"virtual-machine", probe_virtual_machine},
	{"cgroup-quota", probe_quota},
};

enum { CAPABILITIES = sizeof(capabilities) / sizeof(*capabilities) };

void finding_set(struct finding *finding, enum wire_status status, const char *format, ...)
{
	va_list args;

	finding->status = status;
	va_start(args, format);
	vsnprintf(finding->reason, sizeof(finding->reason), format, args);
	va_end(args);
}

void finding_fix(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->fix, sizeof(finding->fix), format, args);
	va_end(args);
}

void finding_from(struct finding *finding, enum wire_status status, const struct err *err)
{
	finding_set(finding, status, "%s", err->text);
	finding_fix(finding, "%s", err->hint);
}

static void clock_try(struct probe *probe)
{
	struct sample_ask ask = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.period = SAMPLE_GAP_NS,
		.kernel = true,
	};

	sample_try(&ask, &probe->clock);
	probe->kernel_code = probe->clock.open_code;
	probe->clock_has_kernel = !probe->kernel_code;
	if (probe->kernel_code) {
		ask.kernel = false;
		sample_try(&ask, &probe->clock);
	}
}

static void cycles_try(struct probe *probe)
{
	struct sample_ask ask = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.period = 200003,
		.branches = true,
	};

	sample_try(&ask, &probe->cycles);
	if (probe->cycles.open_code) {
		ask.branches = false;
		sample_try(&ask, &probe->cycles);
	}
}

static void probe_prepare(struct probe *probe)
{
	refusal_facts_read(&probe->facts);
	if (probe->facts.perf_event_open == SYSCALL_KILLS) { /* not one more call */
		probe->pmu_code = probe->kernel_code = probe->clock.open_code = 1;
		refusal_explain(&probe->facts, REFUSED_HARDWARE, 1, &probe->pmu_err);
		return;
	}
	probe->pmu_code = -pmu_selftest(&probe->pmu, &probe->pmu_err);
	clock_try(probe);
	if (probe->pmu.present)
		cycles_try(probe);
}

int probe_machine(const struct wire_sink *sink, probe_lines_find *lines_find)
{
	struct probe probe = {.lines_find = lines_find};
	int r = 0;

	probe_prepare(&probe);
	for (unsigned i = 0; i < CAPABILITIES && r >= 0; i++) {
		struct finding finding = {0};

		capabilities[i].run(&probe, &finding);
		r = emit_capability(
			sink, capabilities[i].name, finding.status, finding.reason, finding.fix);
	}
	return r < 0 ? r : 0;
}

const char *probe_name(unsigned index)
{
	return index < CAPABILITIES ? capabilities[index].name : NULL;
}
