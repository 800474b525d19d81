/* fingerprint_system.c - memory, kernel, security, clock and noise: mostly one file each.
 *
 * The kernel command line can hold passwords and addresses (ip=, root keys, vendors' agents), so
 * its words pass only by name, and only with plain values.  Words behind "--" belong to init and
 * are never looked at. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "fingerprint_facts.h"

#define MM "sys/kernel/mm/"
#define KERNEL "proc/sys/kernel/"
#define CLOCK "sys/devices/system/clocksource/clocksource0/"

static void memory_sizes(struct facts *facts)
{
	str_auto struct str value = {0};
	struct str *text = &facts->text;
	unsigned long long kb, swap_kb, free_kb;

	if (facts_read(facts, "proc/meminfo") < 0 || !line_value(text->at, "MemTotal", &value)) {
		facts_put_missing(facts, "total", -ENOENT);
		facts_put_missing(facts, "swap_total", -ENOENT);
		facts_put_missing(facts, "swap_used", -ENOENT);
		facts_put_missing(facts, "hugepages", -ENOENT);
		return;
	}
	/* In steps of 64 MiB: the kernel's own share moves a little with every build. */
	kb = strtoull(value.at, NULL, 10);
	facts_putf(facts, "total", "%llu MiB", (kb + 32768) / 65536 * 64);
	line_value(text->at, "SwapTotal", &value);
	swap_kb = strtoull(str_text(&value), NULL, 10);
	line_value(text->at, "SwapFree", &value);
	free_kb = strtoull(str_text(&value), NULL, 10);
	facts_putf(facts, "swap_total", "%llu MiB", swap_kb / 1024);
	facts_putf(facts, "swap_used", "%llu MiB", (swap_kb - free_kb) / 1024);
	line_value(text->at, "HugePages_Total", &value);
	kb = strtoull(str_text(&value), NULL, 10);
	line_value(text->at, "Hugepagesize", &value);
	facts_putf(facts, "hugepages", "%llu x %s", kb, value.len ? value.at : "absent");
}

/* One line per node, as `numactl -H` shows it: "10 21; 21 10". */
static void memory_nodes(struct facts *facts)
{
	name_list_auto struct name_list nodes = {0};
	str_auto struct str distances = {0}, cpus = {0};
	struct cpus online;

	facts_list(facts, "sys/devices/system/node", "node", &nodes);
	if (facts_read(facts, "sys/devices/system/node/online") < 0 || !nodes.at.count) {
		facts_put_missing(facts, "nodes", -ENOENT);
		facts_put_missing(facts, "node_distances", -ENOENT);
		facts_put_missing(facts, "node_cpus", -ENOENT);
		return;
	}
	cpus_parse(str_text(&facts->text), &online);
	facts_putf(facts, "nodes", "%u", cpus_count(&online));
	vec_foreach (char *, node, &nodes.at) {
		char path[128];

		snprintf(path, sizeof(path), "sys/devices/system/node/%.32s/distance", *node);
		if (facts_read(facts, path) > 0)
			str_addf(&distances, "%s%s", distances.len ? "; " : "", facts->text.at);
		snprintf(path, sizeof(path), "sys/devices/system/node/%.32s/cpulist", *node);
		if (facts_read(facts, path) >= 0)
			str_addf(&cpus, "%s%s %s", cpus.len ? "; " : "", *node,
				facts->text.len ? facts->text.at : "none");
	}
	facts_put(facts, "node_distances", str_text(&distances));
	facts_put(facts, "node_cpus", str_text(&cpus));
}

void fingerprint_memory(struct facts *facts)
{
	static const struct fact_file files[] = {
		{"thp_defrag_daemon", MM "transparent_hugepage/khugepaged/defrag"},
		{"ksm", MM "ksm/run"},
		{"multi_generation_lru", MM "lru_gen/enabled"},
		{"demotion", MM "numa/demotion_enabled"},
		{"numa_balancing", KERNEL "numa_balancing"},
		{"zswap", "sys/module/zswap/parameters/enabled"},
		{"overcommit", "proc/sys/vm/overcommit_memory"},
		{"swappiness", "proc/sys/vm/swappiness"},
		{"zone_reclaim", "proc/sys/vm/zone_reclaim_mode"},
		{"dirty_ratio", "proc/sys/vm/dirty_ratio"},
		{"dirty_background_ratio", "proc/sys/vm/dirty_background_ratio"},
		{0},
	};

	facts->group = "memory";
	memory_sizes(facts);
	memory_nodes(facts);
	if (facts->recorded)
		facts_put_missing(facts, "page_bytes", -ENOENT);
	else
		facts_putf(facts, "page_bytes", "%ld", sysconf(_SC_PAGESIZE));
	facts_put_choice(facts, "thp_enabled", MM "transparent_hugepage/enabled");
	facts_put_choice(facts, "thp_defrag", MM "transparent_hugepage/defrag");
	facts_put_choice(facts, "thp_shmem", MM "transparent_hugepage/shmem_enabled");
	facts_put_files(facts, files);
}

/* Names of command line words that may be shown; "x*" stands for every name that begins so. */
static const char *const isolation_words[] = {"isolcpus", "nohz", "nohz_full", "rcu_nocbs",
	"rcu_nocb_poll", "irqaffinity", "kthread_cpus", "managed_irq", NULL};
static const char *const mitigation_words[] = {"mitigations", "nosmt", "spectre_v2",
	"spectre_v2_user", "spectre_bhi", "nospectre_v1", "nospectre_v2", "nospectre_bhb",
	"spec_store_bypass_disable", "nospec_store_bypass_disable", "ssbd", "pti", "nopti", "kpti",
	"l1tf", "mds", "mmio_stale_data", "tsx", "tsx_async_abort", "srbds", "retbleed",
	"reg_file_data_sampling", "gather_data_sampling", "spec_rstack_overflow",
	"indirect_target_selection", "tsa", "vmscape", "l1d_flush", "kvm-intel.vmentry_l1d_flush",
	NULL};
static const char *const tuning_words[] = {"transparent_hugepage", "hugepages", "hugepagesz",
	"default_hugepagesz", "clocksource", "tsc", "hpet", "idle", "intel_idle.max_cstate",
	"processor.max_cstate", "intel_idle.states_off", "intel_pstate", "amd_pstate",
	"cpufreq.default_governor", "cpufreq.off", "cpuidle.off", "cpuidle.governor", "preempt",
	"numa", "numa_balancing", "nr_cpus", "maxcpus", "mem", "audit", "selinux", "apparmor",
	"security", "lsm", "init_on_alloc", "init_on_free", "page_poison", "slub_debug", "iommu",
	"intel_iommu", "amd_iommu", "iommu.passthrough", "iommu.strict", "skew_tick", "threadirqs",
	"nowatchdog", "nmi_watchdog", "nosoftlockup", "psi", "cgroup_disable", "cgroup_no_v1",
	"cgroup_enable", "systemd.unified_cgroup_hierarchy", "nokaslr", "nopcid", "highres",
	"workqueue.power_efficient", "rcupdate.rcu_expedited", "randomize_kstack_offset", NULL};

static bool word_is_listed(const char *word, const char *const *names)
{
	size_t len = strcspn(word, "=");

	for (; *names; names++)
		if (strlen(*names) == len && strncmp(*names, word, len) == 0)
			return true;
	return false;
}

static bool word_is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "=_-.,:+";

	return strlen(word) < 128 && word[strspn(word, plain)] == '\0';
}

static void kernel_cmdline(struct facts *facts)
{
	static const struct {
		const char *field;
		const char *const *names;
	} kinds[] = {
		{"cmdline_isolation", isolation_words},
		{"cmdline_mitigations", mitigation_words},
		{"cmdline_tuning", tuning_words},
	};
	int r = facts_read(facts, "proc/cmdline");

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		str_auto struct str copy = {0}, value = {0};
		char *rest, *word;

		if (r < 0) {
			facts_put_missing(facts, kinds[i].field, r);
			continue;
		}
		str_add(&copy, str_text(&facts->text));
		rest = copy.at;
		while ((word = strsep(&rest, " \n")) && !str_equal(word, "--"))
			if (word_is_listed(word, kinds[i].names) && word_is_plain(word))
				str_addf(&value, "%s%s", value.len ? " " : "", word);
		facts_put(facts, kinds[i].field, str_text(&value));
	}
}

/* "6.18.44-vendor" is series 6.18: what runs the program changes with the series. */
static void kernel_release(struct facts *facts)
{
	unsigned major, minor;
	int r = facts_read(facts, KERNEL "osrelease");

	if (r < 0) {
		facts_put_missing(facts, "series", r);
		facts_put_missing(facts, "release", r);
		return;
	}
	if (sscanf(str_text(&facts->text), "%u.%u", &major, &minor) == 2)
		facts_putf(facts, "series", "%u.%u", major, minor);
	else
		facts_put_missing(facts, "series", -ENOENT);
	facts_put(facts, "release", str_text(&facts->text));
}

/* The build's model stands in the version; with PREEMPT_DYNAMIC the active one is only in debugfs,
 * which belongs to root. */
static void kernel_preempt(struct facts *facts)
{
	static const char *const models[] = {
		"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_LAZY", "PREEMPT"};
	const char *model = "none or voluntary";
	int r = facts_read(facts, KERNEL "version");

	if (r < 0) {
		facts_put_missing(facts, "version", r);
		facts_put_missing(facts, "preempt_model", r);
	} else {
		for (unsigned i = sizeof(models) / sizeof(*models); i-- > 0;)
			if (strstr(str_text(&facts->text), models[i]))
				model = models[i];
		facts_put(facts, "version", str_text(&facts->text));
		facts_put(facts, "preempt_model", model);
	}
	facts_put_choice(facts, "preempt_active", "sys/kernel/debug/sched/preempt");
}

static void kernel_sched_features(struct facts *facts)
{
	int r = facts_read(facts, "sys/kernel/debug/sched/features");

	if (r < 0)
		facts_put_missing(facts, "sched_features_hash", r);
	else
		facts_put_hash(facts, "sched_features_hash", facts->text.at, facts->text.len);
}

static void kernel_live(struct facts *facts)
{
	struct utsname name;
	struct timespec tick;

	if (facts->recorded || uname(&name) < 0)
		facts_put_file(facts, "architecture", KERNEL "arch"); /* since 6.1 */
	else
		facts_put(facts, "architecture", name.machine);
	/* The coarse clock advances once per tick: its resolution is 1/HZ, no config file needed.
	 */
	if (facts->recorded || clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0 || !tick.tv_nsec)
		facts_put_missing(facts, "tick_hz", -ENOENT);
	else
		facts_putf(facts, "tick_hz", "%ld", (1000000000 + tick.tv_nsec / 2) / tick.tv_nsec);
}

static void kernel_livepatch(struct facts *facts)
{
	name_list_auto struct name_list patches = {0};
	str_auto struct str value = {0};

	if (!facts_exists(facts, "sys/kernel/livepatch")) {
		facts_put_missing(facts, "livepatch", -ENOENT);
		return;
	}
	facts_list(facts, "sys/kernel/livepatch", "", &patches);
	vec_foreach (char *, patch, &patches.at)
		str_addf(&value, "%s%s", value.len ? " " : "", *patch);
	facts_put(facts, "livepatch", str_text(&value));
}

void fingerprint_kernel(struct facts *facts)
{
	static const struct fact_file files[] = {
		{"cpus_isolated", "sys/devices/system/cpu/isolated"},
		{"nohz_full", "sys/devices/system/cpu/nohz_full"},
		{"irq_default_affinity", "proc/irq/default_smp_affinity"},
		{"workqueue_cpumask", "sys/devices/virtual/workqueue/cpumask"},
		{"sched_ext", "sys/kernel/sched_ext/state"},
		{"sched_ext_scheduler", "sys/kernel/sched_ext/root/ops"},
		{"sched_autogroup", KERNEL "sched_autogroup_enabled"},
		{"sched_rt_runtime_us", KERNEL "sched_rt_runtime_us"},
		{"sched_bandwidth_slice_us", KERNEL "sched_cfs_bandwidth_slice_us"},
		{"timer_migration", KERNEL "timer_migration"},
		{"nmi_watchdog", KERNEL "nmi_watchdog"},
		{"watchdog", KERNEL "watchdog"},
		{"split_lock_mitigate", KERNEL "split_lock_mitigate"},
		{"tainted", KERNEL "tainted"},
		{0},
	};

	facts->group = "kernel";
	kernel_live(facts);
	kernel_release(facts);
	kernel_cmdline(facts);
	kernel_preempt(facts);
	kernel_sched_features(facts);
	kernel_livepatch(facts);
	facts_put_files(facts, files);
}

void fingerprint_security(struct facts *facts)
{
	static const struct fact_file files[] = {
		{"aslr", KERNEL "randomize_va_space"},
		{"lsm", "sys/kernel/security/lsm"},
		{"selinux_enforce", "sys/fs/selinux/enforce"},
		{"apparmor", "sys/module/apparmor/parameters/enabled"},
		{"lockdown", "sys/kernel/security/lockdown"},
		{"perf_event_paranoid", KERNEL "perf_event_paranoid"},
		{"kptr_restrict", KERNEL "kptr_restrict"},
		{"ptrace_scope", KERNEL "yama/ptrace_scope"},
		{"unprivileged_bpf_disabled", KERNEL "unprivileged_bpf_disabled"},
		{0},
	};
	name_list_auto struct name_list bugs = {0};

	facts->group = "security";
	facts_put_files(facts, files);
	facts_put_line(facts, "seccomp", &facts->status, "Seccomp");
	facts_put_line(facts, "no_new_privs", &facts->status, "NoNewPrivs");
	facts_put_line(facts, "store_bypass", &facts->status, "Speculation_Store_Bypass");
	facts_put_line(facts, "indirect_branch", &facts->status, "SpeculationIndirectBranch");
	facts_list(facts, "sys/devices/system/cpu/vulnerabilities", "", &bugs);
	vec_foreach (char *, bug, &bugs.at) {
		char name[96], path[160];

		snprintf(name, sizeof(name), "vulnerability_%.64s", *bug);
		snprintf(path, sizeof(path), "sys/devices/system/cpu/vulnerabilities/%.64s", *bug);
		facts_put_file(facts, name, path);
	}
	if (!bugs.at.count)
		facts_put_missing(facts, "vulnerabilities", -ENOENT);
}

static void clock_flags(struct facts *facts)
{
	static const char *const names[] = {
		"constant_tsc", "nonstop_tsc", "tsc_reliable", "tsc_known_freq"};
	str_auto struct str flags = {0}, value = {0};

	if (!line_value(str_text(&facts->cpuinfo), "flags", &flags)) {
		facts_put_missing(facts, "tsc_flags", -ENOENT); /* not an x86 */
		return;
	}
	str_add_char(&flags, ' ');
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char word[32];

		snprintf(word, sizeof(word), " %s ", names[i]);
		if (strstr(flags.at, word))
			str_addf(&value, "%s%s", value.len ? " " : "", names[i]);
	}
	facts_put(facts, "tsc_flags", str_text(&value));
}

/* The smallest step between two readings: resolution and cost of the clock in one number. */
static long clock_step_ns(void)
{
	struct timespec a, b;
	long best = 0;

	for (unsigned i = 0; i < 64; i++) {
		long step;

		clock_gettime(CLOCK_MONOTONIC, &a);
		clock_gettime(CLOCK_MONOTONIC, &b);
		step = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
		if (step > 0 && (!best || step < best))
			best = step;
	}
	return best;
}

static void clock_live(struct facts *facts)
{
	struct timespec resolution;
	struct timex time = {.modes = 0};
	int state;

	if (facts->recorded || clock_getres(CLOCK_MONOTONIC, &resolution) < 0) {
		facts_put_missing(facts, "resolution_ns", -ENOENT);
		facts_put_missing(facts, "step_ns", -ENOENT);
		facts_put_missing(facts, "ntp", -ENOENT);
		return;
	}
	facts_putf(facts, "resolution_ns", "%ld", resolution.tv_nsec);
	facts_putf(facts, "step_ns", "%ld", clock_step_ns());
	state = adjtimex(&time); /* modes 0 only reads; a container's filter may still refuse */
	if (state < 0)
		facts_put_missing(facts, "ntp", -errno);
	else
		facts_put(facts, "ntp",
			time.status & STA_UNSYNC || state == TIME_ERROR ? "not synchronised"
									: "synchronised");
}

void fingerprint_clock(struct facts *facts)
{
	facts->group = "clock";
	facts_put_file(facts, "source", CLOCK "current_clocksource");
	facts_put_file(facts, "available", CLOCK "available_clocksource");
	clock_flags(facts);
	clock_live(facts);
	facts_put_file(facts, "timer_slack_ns", "proc/self/timerslack_ns");
}
