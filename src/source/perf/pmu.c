/* pmu.c - the real PMU: core PMUs from sysfs, groups of counters on the calling thread.
 *
 * User space only, so that perf_event_paranoid 2 is enough and a preemption does not disturb the
 * exact counts. */
#include "source/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "event_fd.h"
#include "source/refusal.h"

static int event_open(uint32_t type, uint64_t config, int group_fd)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = group_fd < 0,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return event_fd_open(&attr, 0, -1, group_fd);
}

static void group_start(void *fd)
{
	ioctl(*(int *)fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

static void group_stop(void *fd)
{
	ioctl(*(int *)fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

static int group_read(int fd, unsigned count, struct pmu_count *ret_counts)
{
	struct {
		uint64_t count, enabled_ns, running_ns, value[PMU_GROUP_MAX];
	} data;
	ssize_t want = (ssize_t)(sizeof(uint64_t) * (3 + count));

	if (read(fd, &data, sizeof(data)) != want)
		return -EIO;
	for (unsigned i = 0; i < count; i++)
		ret_counts[i] = (struct pmu_count){data.value[i], data.enabled_ns, data.running_ns};
	return 0;
}

static int measure(void *context, const struct pmu_group *group, struct pmu_count *ret_counts)
{
	int fds[PMU_GROUP_MAX];
	unsigned opened = 0;
	int r = 0;

	(void)context;
	while (r >= 0 && opened < group->count) {
		r = event_open(group->type[opened], group->config[opened], opened ? fds[0] : -1);
		if (r >= 0)
			fds[opened++] = r;
	}
	if (r >= 0)
		r = pmu_do_work(group->work, group_start, group_stop, &fds[0]);
	if (r >= 0)
		r = group_read(fds[0], group->count, ret_counts);
	while (opened)
		close(fds[--opened]);
	return r;
}

unsigned pmu_list(const char *devices, struct pmu_core *ret_cores, unsigned max)
{
	DIR *folder = opendir(devices);
	struct dirent *entry;
	unsigned count = 0;

	while (folder && count < max && (entry = readdir(folder))) {
		char path[512], line[64] = "";
		bool has_cpus;

		/* A core PMU is x86's "cpu", or lists the CPUs it belongs to in `cpus` (hybrid
		 * and ARM).  Uncore PMUs have `cpumask` in its place. */
		snprintf(path, sizeof(path), "%s/%s/cpus", devices, entry->d_name);
		has_cpus = io_read_line(path, line, sizeof(line)) > 0;
		if (entry->d_name[0] == '.' || (!has_cpus && !str_equal(entry->d_name, "cpu")))
			continue;
		ret_cores[count] = (struct pmu_core){.cpu = has_cpus ? atoi(line) : -1};
		snprintf(ret_cores[count].name, sizeof(ret_cores[count].name), "%.63s",
			entry->d_name);
		snprintf(path, sizeof(path), "%s/%s/type", devices, entry->d_name);
		if (io_read_line(path, line, sizeof(line)) <= 0)
			continue;
		ret_cores[count++].type = (uint32_t)strtoul(line, NULL, 10);
	}
	if (folder)
		closedir(folder);
	return count;
}

int pmu_present(struct err *err)
{
	static const uint64_t tries[] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS};
	struct refusal_facts facts;
	int r = 0;

	for (unsigned i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		r = event_open(PERF_TYPE_HARDWARE, tries[i], -1);
		if (r >= 0) {
			close(r);
			return 1;
		}
	}
	refusal_facts_read(&facts);
	if (refusal_find(&facts, REFUSED_HARDWARE, -r) == REFUSAL_NO_HARDWARE)
		return 0;
	return refusal_explain(&facts, REFUSED_HARDWARE, -r, err);
}

/* On a hybrid CPU the test must run on a core of the right kind. */
static void test_on_its_core(const struct pmu_port *port, struct pmu_core *core)
{
	cpu_set_t before, one;

	if (core->cpu < 0 || core->cpu >= CPU_SETSIZE ||
		sched_getaffinity(0, sizeof(before), &before) < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(core->cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		return;
	pmu_test_core(port, true, core);
	sched_setaffinity(0, sizeof(before), &before);
}

int pmu_event_moves(uint32_t type, uint64_t config)
{
	struct pmu_port port = {.measure = measure};

	return pmu_test_event(&port, type, config);
}

int pmu_selftest(struct pmu_report *ret_report, struct err *err)
{
	struct pmu_report report = {0};
	struct pmu_port port = {.measure = measure};
	int r = pmu_present(err);

	if (r < 0)
		return r;
	report.present = r;
	if (report.present) {
		report.cores = pmu_list(PMU_DEVICES, report.core, PMU_CORE_TYPES);
		if (!report.cores) { /* sysfs is not mounted: all cores are taken to be alike */
			report.core[0] = (struct pmu_core){.name = "cpu", .cpu = -1};
			report.cores = 1;
		}
	}
	for (unsigned i = 0; i < report.cores; i++) {
		if (report.cores == 1)
			pmu_test_core(&port, false, &report.core[0]);
		else
			test_on_its_core(&port, &report.core[i]);
	}
	*ret_report = report;
	return 0;
}
