/* pace.c - programs of which something else than their own work sets the pace, and those beside.
 *
 *     pace frames SECONDS   a round each 5 ms by the clock
 *     pace pauses SECONDS   a round, then a sleep of 1 ms: faster work makes it faster
 *     pace unix SECONDS     answers another process, one request at a time, through a socket
 *     pace tcp SECONDS      the same through the network
 *     pace queue SECONDS    the same with eight requests under way: it never waits
 *
 * A server has a reader (parse) and a worker (reply), which the reader wakes.  Work is counted in
 * iterations. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_NS = 5000000, ROUND = 800000, PARSE = 150000, REPLY = 450000, UNDER_WAY = 8 };

__attribute__((noinline)) static void spin(unsigned long left)
{
	unsigned long x = left;

	while (left--)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	__asm__ volatile("" : : "r"(x));
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- by the clock, and by its own sleeps ---- */

__attribute__((noinline)) static void draw(void)
{
	spin(ROUND);
	__asm__ volatile("");
}

static void frame_wait(void)
{
	static struct timespec next;

	if (!next.tv_sec)
		clock_gettime(CLOCK_MONOTONIC, &next);
	next.tv_nsec += FRAME_NS;
	if (next.tv_nsec >= 1000000000) {
		next.tv_nsec -= 1000000000;
		next.tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
}

static void frames(bool by_clock, double end)
{
	while (seconds_now() < end) {
		draw();
		if (by_clock)
			frame_wait();
		else
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

/* ---- a server and its client ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int waiting, server;

__attribute__((noinline)) static void parse(void)
{
	spin(PARSE);
	__asm__ volatile("");
}

__attribute__((noinline)) static void reply(void)
{
	spin(REPLY);
	if (write(server, "", 1) != 1)
		_exit(0);
}

static void *work(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!waiting)
			pthread_cond_wait(&filled, &lock);
		waiting--;
		pthread_mutex_unlock(&lock);
		reply();
	}
	return NULL;
}

static void serve(double end)
{
	pthread_t worker;
	char byte;

	if (pthread_create(&worker, NULL, work, NULL) != 0)
		_exit(3);
	while (seconds_now() < end && read(server, &byte, 1) == 1) {
		parse();
		pthread_mutex_lock(&lock);
		waiting++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&lock);
	}
}

static void ask(int fd, int under_way)
{
	char byte = 0;

	for (int i = 0; i < under_way; i++)
		if (write(fd, &byte, 1) != 1)
			_exit(0);
	while (read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1)
		;
	_exit(0);
}

static void pair_unix(int fds[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		_exit(3);
}

static void pair_tcp(int fds[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || fds[1] < 0 || bind(listener, (struct sockaddr *)&at, size) < 0 ||
		listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&at, &size) < 0 ||
		connect(fds[1], (struct sockaddr *)&at, size) < 0)
		_exit(3);
	fds[0] = accept(listener, NULL, NULL);
	for (int i = 0; i < 2; i++)
		setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
}

static void client_and_server(const char *what, double end)
{
	int fds[2];

	if (strcmp(what, "tcp") == 0)
		pair_tcp(fds);
	else
		pair_unix(fds);
	signal(SIGPIPE, SIG_IGN);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		ask(fds[1], strcmp(what, "queue") == 0 ? UNDER_WAY : 1);
	}
	close(fds[1]);
	server = fds[0];
	serve(end);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "frames";
	double end = seconds_now() + (argc > 2 ? strtod(argv[2], NULL) : 5);

	if (strcmp(what, "frames") == 0 || strcmp(what, "pauses") == 0)
		frames(strcmp(what, "frames") == 0, end);
	else
		client_and_server(what, end);
	return 0;
}
