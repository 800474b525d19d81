/* attached.c - a process that waits, for those who attach to it meanwhile: it must not notice.
 *
 *     attached HOW SECONDS      one thread waits once in this call; prints "HOW RESULT ERRNO"
 *
 *     read      of a pipe          recv      with a timeout on the socket (SO_RCVTIMEO)
 *     epoll     epoll_wait         poll      ppoll with a mask
 *     sleep     clock_nanosleep    futex     of a word that nobody wakes, with a timeout
 *     wait      for a child        stopped   the same as read, but first stopped by SIGSTOP
 *     filtered  under a seccomp filter that kills for socketpair(2), then sleeps
 *     traced    a child that this program traces; prints its number first
 *     deleted   takes its own file away and sleeps
 *     crowd     a thousand threads that wait, one that works; prints the rounds */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CROWD = 1000, ITERATIONS = 600000 };

static unsigned seconds;

__attribute__((noinline)) static void work(unsigned long left)
{
	unsigned long x = left;

	while (left--)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	__asm__ volatile("" : : "r"(x));
}

__attribute__((noinline)) static void progress(unsigned long *rounds)
{
	++*rounds;
	__asm__ volatile("" : : : "memory");
}

/* A child that writes one byte after the time. */
static pid_t child_writes(int fd)
{
	pid_t child = fork();

	if (child == 0) {
		sleep(seconds);
		_exit(write(fd, "x", 1) != 1);
	}
	return child;
}

static long wait_read(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) < 0)
		return -1;
	child_writes(ends[1]);
	return read(ends[0], &byte, 1);
}

static long wait_stopped(void)
{
	raise(SIGSTOP);
	return wait_read();
}

static long wait_recv(void)
{
	struct timeval patience = {1000, 0};
	int ends[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ||
		setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		return -1;
	child_writes(ends[1]);
	return recv(ends[0], &byte, 1, 0);
}

static long wait_epoll(void)
{
	struct itimerspec at = {.it_value = {(time_t)seconds, 0}};
	struct epoll_event event = {.events = EPOLLIN};
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), fd = epoll_create1(0);

	timerfd_settime(timer, 0, &at, NULL);
	epoll_ctl(fd, EPOLL_CTL_ADD, timer, &event);
	return epoll_wait(fd, &event, 1, -1);
}

static long wait_poll(void)
{
	struct timespec time = {(time_t)seconds, 0};
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	return ppoll(NULL, 0, &time, &mask) + 1;
}

static long wait_sleep(void)
{
	struct timespec time = {(time_t)seconds, 0};

	return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) + 1;
}

static long wait_futex(void)
{
	struct timespec time = {(time_t)seconds, 0};
	unsigned word = 0;

	/* The time must be over: anything else is a wake that nobody made. */
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0) < 0 &&
			       errno == ETIMEDOUT
		       ? 1
		       : -1;
}

static long wait_child(void)
{
	int ends[2];

	return pipe(ends) < 0 ? -1 : waitpid(child_writes(ends[1]), NULL, 0) > 0;
}

static long wait_filtered(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return -1;
	return wait_sleep();
}

static long wait_traced(void)
{
	pid_t child = fork();

	if (child == 0) {
		sleep(seconds);
		_exit(0);
	}
	ptrace(PTRACE_SEIZE, child, 0, 0);
	printf("%d\n", (int)child);
	fflush(stdout);
	return waitpid(child, NULL, 0) > 0;
}

static long wait_deleted(void)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[len > 0 ? len : 0] = '\0';
	unlink(path);
	return wait_sleep();
}

static void *crowd_waits(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

static void *crowd_works(void *rounds)
{
	for (;;) {
		work(ITERATIONS);
		progress(rounds);
	}
	return NULL;
}

static long wait_crowd(void)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	static unsigned long rounds;
	pthread_attr_t small;
	pthread_t thread;

	pthread_mutex_lock(&gate);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (unsigned i = 0; i < CROWD; i++)
		if (pthread_create(&thread, &small, crowd_waits, &gate) != 0)
			return -1;
	pthread_create(&thread, NULL, crowd_works, &rounds);
	wait_sleep();
	return (long)__atomic_load_n(&rounds, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long (*wait)(void);
	} ways[] = {{"read", wait_read}, {"recv", wait_recv}, {"epoll", wait_epoll},
		{"poll", wait_poll}, {"sleep", wait_sleep}, {"futex", wait_futex},
		{"wait", wait_child}, {"stopped", wait_stopped}, {"filtered", wait_filtered},
		{"traced", wait_traced}, {"deleted", wait_deleted}, {"crowd", wait_crowd}};
	long result;

	seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	for (unsigned i = 0; argc > 2 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(ways[i].name, argv[1]) != 0)
			continue;
		errno = 0;
		result = ways[i].wait();
		printf("%s %ld %d\n", argv[1], result, result < 0 ? errno : 0);
		fflush(stdout);
		_exit(result < 0);
	}
	fprintf(stderr, "usage: attached HOW SECONDS\n");
	return 2;
}
