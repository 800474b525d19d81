/* tune_process.c - see tune_process.h.
 *
 * The spawner inherits what we are at that moment, and the program inherits the spawner; so nothing
 * is done between fork and exec, and the spawner need not know.  The latency request is a file that
 * counts while it is open: the kernel takes it back itself, however we end. */
#include "drive/tune_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/personality.h>
#include <unistd.h>

#include "base/io.h"
#include "drive/cpu_list.h"

enum { FIFO_PRIORITY = 1, PERSONA_ASK = -1 };

static int cpus_take(const char *list, struct err *err)
{
	cpu_set_t cpus, got, both;
	int r = cpu_list_parse(list, &cpus);

	CPU_ZERO(&got);
	if (r < 0) {
		err_set(err, ERR_USAGE, EINVAL, "'%s' is not a list of CPUs", list);
		err_hint(err, "write --cpus 2 or --cpus 0,2-3");
		return -EINVAL;
	}
	/* The kernel silently leaves out what is offline or not ours: the program would run on
	 * fewer than were asked for. */
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ||
		sched_getaffinity(0, sizeof(got), &got) < 0)
		r = -errno;
	CPU_AND(&both, &cpus, &got);
	if (r < 0 || !CPU_EQUAL(&both, &cpus)) {
		err_set(err, ERR_UNAVAILABLE, EINVAL,
			"the program cannot run on all of the CPUs %s", list);
		err_hint(err,
			"see `nproc --all` and /sys/devices/system/cpu/online; a container or "
			"cpuset may allow fewer");
		return -EINVAL;
	}
	return 0;
}

static int aslr_stop(int persona, struct err *err)
{
	if (personality((unsigned long)persona | ADDR_NO_RANDOMIZE) >= 0)
		return 0;
	err_set(err, ERR_UNAVAILABLE, errno,
		"cannot disable address randomization for the program: %s", err_words(errno));
	err_hint(err, "a container may forbid personality(); run it outside, or without --no-aslr");
	return -err->code;
}

static int fifo_take(struct err *err)
{
	const struct sched_param param = {.sched_priority = FIFO_PRIORITY};

	if (sched_setscheduler(0, SCHED_FIFO, &param) >= 0)
		return 0;
	err_set(err, ERR_UNAVAILABLE, errno, "cannot give the program real-time priority: %s",
		err_words(errno));
	err_hint(err, "run it as root, or after `ulimit -r 1`, or without --fifo");
	return -err->code;
}

int tune_process_begin(const struct tune_process_options *options, struct tune_process *ret_process,
	struct err *err)
{
	struct tune_process process = {.options = *options, .latency = -1};
	struct sched_param param = {0};
	int r = 0;

	if (sched_getaffinity(0, sizeof(process.cpus), &process.cpus) < 0)
		return err_set(err, ERR_UNAVAILABLE, errno, "cannot read our own CPU affinity: %s",
			err_words(errno));
	process.policy = sched_getscheduler(0);
	(void)sched_getparam(0, &param);
	process.priority = param.sched_priority;
	process.persona = personality((unsigned long)PERSONA_ASK);
	if (options->cpus)
		r = cpus_take(options->cpus, err);
	if (r >= 0 && options->no_aslr)
		r = aslr_stop(process.persona, err);
	if (r >= 0 && options->fifo)
		r = fifo_take(err);
	if (r < 0)
		tune_process_restore(&process);
	*ret_process = process;
	return r;
}

void tune_process_restore(struct tune_process *process)
{
	const struct sched_param param = {.sched_priority = process->priority};

	if (process->options.fifo)
		(void)sched_setscheduler(0, process->policy, &param);
	if (process->options.no_aslr)
		(void)personality((unsigned long)process->persona);
	if (process->options.cpus)
		(void)sched_setaffinity(0, sizeof(process->cpus), &process->cpus);
}

int tune_process_hold(struct tune_process *process, struct err *err)
{
	static const char path[] = "/dev/cpu_dma_latency";
	const int32_t microseconds = 0;
	int r;

	if (!process->options.awake)
		return 0;
	process->latency = open(path, O_WRONLY | O_CLOEXEC);
	r = process->latency < 0
		    ? -errno
		    : io_write_all(process->latency, &microseconds, sizeof(microseconds));
	if (r >= 0)
		return 0;
	err_set(err, ERR_UNAVAILABLE, -r, "cannot keep the CPUs awake: %s: %s", path,
		err_words(-r));
	err_hint(err, "run it as root, or without --awake");
	return r;
}

void tune_process_close(struct tune_process *process)
{
	io_close_pointer(&process->latency);
}
