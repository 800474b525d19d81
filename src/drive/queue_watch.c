/* queue_watch.c - see queue_watch.h.
 *
 * With one thread that uses the CPU, every wait of it is a wait for others: other programs, the
 * kernel, us.  With several it may have waited for its own, and which of them made the run long is
 * not known; that is told, not guessed.  Read while nobody measures: the wall time is taken before.
 */
#include "queue_watch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "drive/spawner.h"
#include "proc_text.h"

/* Helper threads that do next to nothing (a hundredth of the CPU time) are no second path; the
 * kernel cuts user and system time down to whole microseconds. */
enum { OTHERS_SHARE = 100, ROUNDING_NS = 2000 };

/* "RAN_NS WAITED_NS TIMES": of a kernel that does not keep them all are 0. */
static bool schedstat_read(int fd, uint64_t *ret_cpu_ns, uint64_t *ret_wait_ns)
{
	char text[96];
	const char *at = text;
	uint64_t times;

	if (!proc_head_read(fd, text, sizeof(text)) || !proc_number_read(at, ret_cpu_ns, &at) ||
		*at++ != ' ' || !proc_number_read(at, ret_wait_ns, &at) || *at++ != ' ')
		return false;
	return proc_number_read(at, &times, NULL) && times > 0;
}

/* "/proc/PID/schedstat" */
static void path_make(pid_t pid, char path[40])
{
	static const char before[] = "/proc/", behind[] = "/schedstat";
	char digits[12];
	unsigned count = 0;

	for (unsigned long left = (unsigned long)pid; left || !count; left /= 10)
		digits[count++] = (char)('0' + left % 10);
	for (const char *at = before; *at; at++)
		*path++ = *at;
	while (count)
		*path++ = digits[--count];
	for (const char *at = behind; *at; at++)
		*path++ = *at;
	*path = '\0';
}

void queue_watch_open(struct queue_watch *watch)
{
	*watch = (struct queue_watch){.own = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC)};
}

void queue_watch_begin(struct queue_watch *watch)
{
	uint64_t ignored;

	if (!schedstat_read(watch->own, &ignored, &watch->own_wait_ns))
		watch->own_wait_ns = UINT64_MAX;
}

/* Since the start of the run; at most what the run itself leaves of the wall time, because we may
 * also have waited while it went on. */
static uint64_t own_wait(const struct queue_watch *watch, uint64_t most_ns)
{
	uint64_t ignored, wait_ns;

	if (!schedstat_read(watch->own, &ignored, &wait_ns) || wait_ns <= watch->own_wait_ns)
		return 0;
	wait_ns -= watch->own_wait_ns;
	return wait_ns < most_ns ? wait_ns : most_ns;
}

/* CPU time so far of a zombie and of the children it waited for: the system call says it without
 * reaping, waitid() of the C library does not hand it out. */
static bool usage_read(pid_t pid, uint64_t *ret_cpu_ns)
{
	siginfo_t info = {0};
	struct rusage usage;

	if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG, &usage) < 0 ||
		info.si_pid != pid)
		return false;
	*ret_cpu_ns = clock_timeval_ns(usage.ru_utime) + clock_timeval_ns(usage.ru_stime);
	return true;
}

void queue_watch_end(const struct queue_watch *watch, pid_t pid, struct spawner_result *result)
{
	char path[40];
	io_auto int fd = -1;
	uint64_t all_ns, first_ns;

	path_make(pid, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* The end is told before the last switch away from the program: until then its CPU time is
	 * as of the last tick.  All of it is read first, so that of the first thread is no older;
	 * what wait4() says later may be a tick more, and would look like a second thread. */
	if (!usage_read(pid, &all_ns) || !schedstat_read(fd, &first_ns, &result->queue_ns))
		return;
	/* The scheduler has its own clock, which NTP does not slow down: all of it may be a
	 * little more than the wall time. */
	if (first_ns + result->queue_ns < result->wall_ns)
		result->queue_ns += own_wait(watch, result->wall_ns - first_ns - result->queue_ns);
	result->has_queue = result->queue_ns < result->wall_ns;
	result->parallel =
		result->has_queue && all_ns > first_ns + first_ns / OTHERS_SHARE + ROUNDING_NS;
}
