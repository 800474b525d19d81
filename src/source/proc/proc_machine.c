/* proc_machine.c - what the whole machine did meanwhile: pressure, steal, throttling, disks.
 *
 * All are counters that only grow, so two readings and a difference.  Pressure and disks are the
 * machine's, not the program's: they are a second witness, never the only one. */
#include <errno.h>
#include <string.h>

#include "proc_parts.h"

static int pressure_read(
	struct proc_watch *watch, const char *name, struct proc_pressure *ret_pressure)
{
	int r = proc_file_read(watch, "/proc/pressure/%s", name);

	if (r >= 0 && !proc_pressure_parse(str_text(&watch->text), ret_pressure))
		r = -EINVAL;
	return r < 0 ? -r : 0;
}

/* In a container the path may not be visible; then the root of the mount is its own group. */
static int throttle_read(struct proc_watch *watch, struct proc_throttle *ret_throttle)
{
	int r = proc_file_read(watch, "/sys/fs/cgroup%s/cpu.stat", watch->cgroup);

	if (r < 0)
		r = proc_file_read(watch, "/sys/fs/cgroup/cpu.stat");
	if (r < 0)
		r = proc_file_read(watch, "/sys/fs/cgroup/cpu/cpu.stat");
	if (r >= 0 && !proc_throttle_parse(str_text(&watch->text), ret_throttle))
		r = -ENOENT; /* the root group has no quota, so no such lines */
	return r < 0 ? -r : 0;
}

/* "0::/PATH" is the control group in version 2.  Asked while the program lives.  Until now the
 * group was not known, so what it had been held back is read here: a difference of two groups would
 * be no difference. */
void proc_cgroup_follow(struct proc_watch *watch)
{
	int r = proc_file_read(watch, "/proc/%d/cgroup", (int)watch->options.pid);
	const char *found = r >= 0 ? strstr(str_text(&watch->text), "0::/") : NULL;
	size_t len = found ? strcspn(found + 3, "\n") : 0;

	len = len < sizeof(watch->cgroup) ? len : 0;
	memcpy(watch->cgroup, found ? found + 3 : "", len);
	watch->cgroup[len] = '\0';
	watch->machine.throttle_errno = throttle_read(watch, &watch->machine.throttle);
}

static int disks_read(struct proc_watch *watch, struct proc_machine *machine)
{
	int r = proc_file_read(watch, "/proc/diskstats");
	const char *at = str_text(&watch->text);
	struct proc_disk disk;

	if (r < 0)
		return -r;
	machine->disks.count = 0;
	while (machine->disks.count < 4096 && proc_disk_next(&at, &disk))
		vec_push(&machine->disks, disk);
	return machine->disks.count ? 0 : ENOENT;
}

void proc_machine_read(struct proc_watch *watch, struct proc_machine *machine)
{
	int r;

	machine->cpu_errno = pressure_read(watch, "cpu", &machine->cpu);
	machine->io_errno = pressure_read(watch, "io", &machine->io);
	machine->memory_errno = pressure_read(watch, "memory", &machine->memory);
	r = proc_file_read(watch, "/proc/stat");
	machine->stat_errno = r < 0						       ? -r
			      : proc_cpu_parse(str_text(&watch->text), &machine->stat) ? 0
										       : EINVAL;
	machine->throttle_errno = throttle_read(watch, &machine->throttle);
	machine->disk_errno = disks_read(watch, machine);
}
