/* probe_perf.c - what perf events give: counters, samples, stacks, branch records, rings. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../perf/event_fd.h"
#include "base/io.h"
#include "base/str.h"
#include "probe_parts.h"

enum { RING_CPUS = 8 }; /* the limit is per CPU, so a few of them tell */

static void names_with(const struct pmu_core *core, enum pmu_verdict verdict, struct str *text)
{
	unsigned found = 0;

	for (unsigned i = 0; i < core->events; i++)
		if (core->event[i].verdict == verdict)
			str_addf(text, "%s%s", found++ ? ", " : "", core->event[i].name);
	if (found)
		str_addf(text, " %s; ", pmu_verdict_name(verdict));
}

static bool core_trusts(const struct pmu_core *core, const char *name)
{
	for (unsigned i = 0; i < core->events; i++)
		if (str_equal(core->event[i].name, name))
			return core->event[i].verdict == PMU_TRUSTED;
	return false;
}

/* What every ratio is made of; stalls and L1 events are missing on many a sound PMU. */
static bool core_is_sound(const struct pmu_core *core)
{
	return core->counters >= 4 && core_trusts(core, "cycles") &&
	       core_trusts(core, "instructions") && core_trusts(core, "branches") &&
	       core_trusts(core, "branch-misses") && core_trusts(core, "cache-misses");
}

void probe_pmu(const struct probe *probe, struct finding *ret_finding)
{
	str_auto struct str text = {0};
	bool sound = true;
	struct err err;

	if (probe->pmu_code) {
		finding_from(ret_finding, WIRE_NO, &probe->pmu_err);
		return;
	}
	if (!probe->pmu.present) {
		refusal_explain(&probe->facts, REFUSED_HARDWARE, ENOENT, &err);
		finding_from(ret_finding, WIRE_NO, &err);
		return;
	}
	for (unsigned i = 0; i < probe->pmu.cores; i++) {
		const struct pmu_core *core = &probe->pmu.core[i];

		str_addf(&text, "%s: %u counters at the same time; ", core->name, core->counters);
		for (enum pmu_verdict v = PMU_TRUSTED; v < PMU_VERDICTS; v++)
			names_with(core, v, &text);
		sound = sound && core_is_sound(core);
	}
	finding_set(ret_finding, sound ? WIRE_OK : WIRE_LIMITED, "%.*s",
		text.len > 2 ? (int)text.len - 2 : 0, str_text(&text));
	if (!sound)
		finding_fix(ret_finding,
			"%s; untrusted events are shown as not measured and used in no metric",
			probe->facts.virtual_machine
				? "use a VM with a full PMU (cloud: a larger or .metal size; own "
				  "KVM: -cpu host,pmu=on)"
				: "stop other users of the counters (kernel.nmi_watchdog=0)");
}

void probe_sampling(const struct probe *probe, struct finding *ret_finding)
{
	const struct sample_trial *clock = &probe->clock, *cycles = &probe->cycles;
	char hardware[64] = "no cycles event";
	struct err err;

	if (clock->open_code || clock->map_code) {
		if (clock->open_code)
			refusal_explain(&probe->facts, REFUSED_SOFTWARE, clock->open_code, &err);
		else
			refusal_explain(&probe->facts, REFUSED_RING, clock->map_code, &err);
		finding_from(ret_finding, WIRE_NO, &err);
		return;
	}
	if (!clock->samples) {
		finding_set(ret_finding, WIRE_NO, "cpu-clock opens but delivers no samples");
		finding_fix(ret_finding, "use a kernel with CONFIG_HIGH_RES_TIMERS");
		return;
	}
	if (probe->pmu.present)
		snprintf(hardware, sizeof(hardware), "cycles gave %u samples", cycles->samples);
	finding_set(ret_finding, WIRE_OK, "cpu-clock gave %u samples in 6 ms, %u losses; %s",
		clock->samples, clock->lost, hardware);
	if (probe->pmu.present && !cycles->samples) {
		ret_finding->status = WIRE_LIMITED;
		finding_fix(ret_finding, "use cpu-clock: this PMU counts cycles but its overflow "
					 "interrupt does not arrive");
	}
}

void probe_clock_precision(const struct probe *probe, struct finding *ret_finding)
{
	uint64_t gap_ns = probe->clock.gap_ns;

	if (!gap_ns) {
		finding_set(ret_finding, WIRE_NO, "not measured: there are no samples");
		finding_fix(ret_finding, "fix sampling first: this needs its samples");
	} else if (gap_ns > 4 * SAMPLE_GAP_NS) {
		finding_set(ret_finding, WIRE_LIMITED,
			"asked for a sample every %d us, got one every %llu us",
			SAMPLE_GAP_NS / 1000, (unsigned long long)gap_ns / 1000);
		finding_fix(ret_finding, "use a kernel with CONFIG_HIGH_RES_TIMERS and without "
					 "highres=off, or measure longer");
	} else
		finding_set(ret_finding, WIRE_OK,
			"asked for a sample every %d us, got one every %llu us (median)",
			SAMPLE_GAP_NS / 1000, (unsigned long long)gap_ns / 1000);
}

void probe_user_stacks(const struct probe *probe, struct finding *ret_finding)
{
	const struct sample_trial *clock = &probe->clock;

	if (!clock->samples) {
		finding_set(ret_finding, WIRE_NO, "not measured: there are no samples");
		finding_fix(ret_finding, "fix sampling first: this needs its samples");
	} else if (!clock->with_registers || !clock->stack_bytes) {
		finding_set(ret_finding, WIRE_LIMITED,
			"samples have no registers or no stack bytes; frame pointers gave %u "
			"frames",
			clock->user_frames);
		finding_fix(ret_finding, "build the target with -fno-omit-frame-pointer and use "
					 "--stack fp");
	} else
		finding_set(ret_finding, WIRE_OK,
			"registers in %u of %u samples, up to %llu bytes of stack; frame pointers "
			"gave %u frames",
			clock->with_registers, clock->samples,
			(unsigned long long)clock->stack_bytes, clock->user_frames);
}

void probe_kernel_stacks(const struct probe *probe, struct finding *ret_finding)
{
	const struct sample_trial *clock = &probe->clock;
	struct err err;

	if (probe->kernel_code) {
		refusal_explain(&probe->facts, REFUSED_KERNEL, probe->kernel_code, &err);
		finding_from(ret_finding, WIRE_NO, &err);
	} else if (!clock->with_kernel) {
		finding_set(ret_finding, WIRE_NO,
			"permitted, but no sample of a loop of system "
			"calls had a kernel address");
		finding_fix(ret_finding, "use a kernel with an unwinder (CONFIG_UNWINDER_ORC)");
	} else
		finding_set(ret_finding, WIRE_OK, "%u of %u samples had kernel frames, up to %u",
			clock->with_kernel, clock->samples, clock->kernel_frames);
}

/* Intel and AMD list the depth of their branch stack in caps/branches (6.1 and later for AMD). */
static unsigned branch_depth(void)
{
	char line[32];

	if (io_read_line("/sys/bus/event_source/devices/cpu/caps/branches", line, sizeof(line)) <=
		0)
		return 0;
	return (unsigned)strtoul(line, NULL, 10);
}

static int spe_open(uint32_t type)
{
	struct perf_event_attr attr = {
		.type = type, .disabled = 1, .exclude_kernel = 1, .sample_period = 4096};
	int fd = event_fd_open(&attr, 0, -1, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

void probe_branch_records(const struct probe *probe, struct finding *ret_finding)
{
	char line[32];
	int r;

	if (probe->cycles.with_branches) {
		finding_set(ret_finding, WIRE_OK,
			"%u of %u samples have a branch stack (%u entries)",
			probe->cycles.with_branches, probe->cycles.samples, branch_depth());
		return;
	}
	if (io_read_line("/sys/bus/event_source/devices/arm_spe_0/type", line, sizeof(line)) > 0) {
		r = spe_open((uint32_t)strtoul(line, NULL, 10));
		finding_set(ret_finding, r < 0 ? WIRE_NO : WIRE_OK, "Arm SPE exists and %s%s",
			r < 0 ? "does not open: " : "opens", r < 0 ? err_words(-r) : "");
		if (r < 0)
			finding_fix(ret_finding, "sudo assay ... (SPE needs CAP_PERFMON at this "
						 "perf_event_paranoid)");
		return;
	}
	if (probe->pmu_code) {
		finding_set(ret_finding, WIRE_NO, "not tried: hardware events are not permitted");
		finding_fix(ret_finding, "fix the PMU first: this needs its events");
		return;
	}
	finding_set(ret_finding, WIRE_NO, "%s, and there is no Arm SPE",
		probe->pmu.present ? "the PMU has no branch stack (LBR, AMD LbrExtV2, BRBE)"
				   : "branch records need a PMU, which this machine lacks");
	finding_fix(ret_finding,
		"none on this machine: use --stack dwarf for call chains, and real hardware or a "
		".metal size for branch records");
}

static int dummy_open(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.sample_period = 1,
	};

	return event_fd_open(&attr, 0, cpu, -1);
}

/* Rings of `bytes` on `count` CPUs at the same time, the way record maps them.  The kernel counts
 * them against perf_event_mlock_kb per CPU and user, then against RLIMIT_MEMLOCK. */
static int rings_map(const int *fds, unsigned count, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *rings[RING_CPUS];
	unsigned mapped = 0;
	int r = 0;

	while (mapped < count && !r) {
		rings[mapped] = mmap(
			NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fds[mapped], 0);
		if (rings[mapped] == MAP_FAILED)
			r = -errno;
		else
			mapped++;
	}
	while (mapped)
		munmap(rings[--mapped], bytes + page);
	return r;
}

void probe_perf_buffers(const struct probe *probe, struct finding *ret_finding)
{
	unsigned count = 0;
	size_t bytes = 2 << 20;
	int fds[RING_CPUS], r = -ENODEV;
	struct err err;

	for (int cpu = 0; cpu < RING_CPUS && probe->facts.perf_event_open != SYSCALL_KILLS; cpu++) {
		int fd = dummy_open(cpu);

		if (fd >= 0)
			fds[count++] = fd;
		else if (fd != -ENODEV && fd != -EINVAL)
			r = fd;
	}
	while (count && (r = rings_map(fds, count, bytes)) < 0 && bytes > 8192)
		bytes /= 2;
	if (r < 0) {
		refusal_explain(&probe->facts, count ? REFUSED_RING : REFUSED_SOFTWARE, -r, &err);
		finding_from(ret_finding, WIRE_NO, &err);
	} else {
		finding_set(ret_finding, bytes >= 1 << 19 ? WIRE_OK : WIRE_LIMITED,
			"rings of %zu KiB mapped on %u CPU%s at once%s", bytes >> 10, count,
			count == 1 ? "" : "s",
			bytes >= 1 << 19 ? ""
					 : "; record wants 512 KiB and loses samples with less");
		if (bytes < 1 << 19)
			finding_fix(ret_finding, "sudo sysctl kernel.perf_event_mlock_kb=2052");
	}
	while (count)
		close(fds[--count]);
}
