/* inside_sampler.c - samples of a thread, taken by itself.
 *
 * A perf event on the own thread's task-clock is what perf_event_paranoid <= 2 allows everyone:
 * hrtimer, so 1 ms is 1 ms, user space only (so the signal never falls into a system call), and the
 * time of each sample stands in its ring.  The descriptor is closed at once, the mapping keeps the
 * event alive: a program that closes or counts its descriptors finds none of ours.  Where that is
 * refused (a container's seccomp, paranoid 3, more threads than perf_event_mlock_kb has pages for)
 * a POSIX timer on the thread's CPU clock: permitted everywhere, but the kernel looks at it at its
 * ticks only (at 250 Hz one signal per 3.3 to 4 ms, whatever was asked for).
 *
 * Measured at 1 ms, as nobody: event 113 signals in 114 ms of CPU time, 18 us after their samples;
 * timer 34.  Opening an event takes 39 us. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inside_parts.h"

enum { LATE_MOST_NS = 1000000 };

/* Not 4096 on every aarch64: a mapping of two smaller ones would be the head and no ring. */
static size_t page_bytes(void)
{
	return getauxval(AT_PAGESZ);
}

/* The head and one page of ring. */
static size_t event_bytes(void)
{
	return 2 * page_bytes();
}

/* The only kind of record that is asked for. */
struct sample {
	struct perf_event_header header;
	uint64_t time_ns;
};

static bool event_ask(int fd, int signal)
{
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};

	return fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, signal) == 0 &&
	       fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 &&
	       ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

static void *event_open(int signal, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.wakeup_events = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *at;

	if (fd < 0)
		return NULL;
	at = mmap(NULL, event_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED && !event_ask(fd, signal)) {
		munmap(at, event_bytes());
		at = MAP_FAILED;
	}
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

static bool timer_open(struct inside_sampler *sampler, int signal, uint64_t period_ns)
{
	struct sigevent how = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal};
	struct timespec period = {(time_t)(period_ns / 1000000000), (long)(period_ns % 1000000000)};
	struct itimerspec times = {period, period};

	how._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &how, &sampler->timer) < 0)
		return false;
	sampler->has_timer = true;
	return syscall(SYS_timer_settime, sampler->timer, 0, &times, NULL) == 0;
}

enum wire_causal_sampler inside_sampler_open(
	struct inside_sampler *sampler, int signal, uint64_t period_ns)
{
	sampler->event = event_open(signal, period_ns);
	if (sampler->event)
		return WIRE_SAMPLER_EVENT;
	return timer_open(sampler, signal, period_ns) ? WIRE_SAMPLER_TIMER : WIRE_SAMPLER_NONE;
}

void inside_sampler_close(struct inside_sampler *sampler)
{
	if (sampler->event)
		munmap(sampler->event, event_bytes());
	if (sampler->has_timer)
		syscall(SYS_timer_delete, sampler->timer);
	*sampler = (struct inside_sampler){0};
}

uint64_t inside_sampler_time(const struct inside_sampler *sampler, uint64_t now_ns)
{
	struct perf_event_mmap_page *head = sampler->event;
	size_t page = page_bytes();
	struct sample last;
	uint64_t end;

	if (!head)
		return now_ns;
	end = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE);
	if (end < sizeof(last))
		return now_ns;
	memcpy(&last, (char *)head + page + ((end - sizeof(last)) & (page - 1)), sizeof(last));
	__atomic_store_n(&head->data_tail, end, __ATOMIC_RELEASE);
	if (last.header.type != PERF_RECORD_SAMPLE || last.time_ns > now_ns ||
		now_ns - last.time_ns > LATE_MOST_NS)
		return now_ns;
	return last.time_ns;
}
