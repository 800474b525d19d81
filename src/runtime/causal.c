/* causal.c - the part of a causal experiment that runs inside the target: it pauses threads that
 * owe a delay, and counts progress.
 *
 * The kernel side decides who owes what and asks by a real-time signal; the handler sleeps from the
 * sample that asked until the debt is paid, and books what it took.  Nothing of the program is
 * interposed: no lock, no allocator, no thread function.  The handler blocks all signals (so that
 * no other handler jumps out of it), restarts system calls, runs on the alternate stack where there
 * is one, and never holds a thread longer than WIRE_CAUSAL_PAUSE_MAX_NS: when the tool dies, the
 * last pause ends by itself and no other comes.  Once the board is sealed it makes no system call.
 *
 * The memory comes over a socket that only the tool's target is answered on.  A child by fork gets
 * private memory in its place and counts for itself; a child by exec has another parent than the
 * one in the environment and does not even ask, unless the tool follows children.  Without a tool
 * every function does nothing.
 *
 * The four _coz_* functions are coz's interface, so that a program annotated for coz needs no
 * change.  Delays are paid in the handler only: _coz_add_delays (which the Rust crate calls at each
 * visit) has nothing left to do. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "causal_pause.h"
#include "runtime_parts.h"
#include "wire/causal.h"

#define EXPORT __attribute__((visibility("default")))

enum { ANSWER_MS = 1000 };
/* Real-time signals that are not libc's, nor the ends that others like: the kernel side looks at
 * the handler before it sends one.  Where nobody looks, those that are ignored without a handler.
 */
static const int signals_asked[] = {
	59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 0};
static const int signals_harmless[] = {SIGURG, SIGWINCH, 0};

static struct wire_causal_board *board; /* NULL: no tool */
static struct wire_causal_seat *seats;
static __thread uint64_t owed_before __attribute__((tls_model("initial-exec")));
static __thread uint32_t thread_id __attribute__((tls_model("initial-exec"))); /* 0: not asked */

static size_t board_bytes(void)
{
	return (sizeof(*board) + 4095) & ~(size_t)4095;
}

/* ---- pauses: what causal_pause.h asks for ---- */

static uint64_t pause_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_sleep_until(uint64_t until)
{
	struct timespec at = {(time_t)(until / 1000000000), (long)(until % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static uint32_t pause_tid(void)
{
	if (!thread_id)
		thread_id = (uint32_t)syscall(SYS_gettid);
	return thread_id;
}

void runtime_causal_pay(struct wire_causal_seat *seat)
{
	pause_pay(board, seat);
}

/* @asyncsignalsafe */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)signal;
	(void)info;
	(void)context;
	if (board && seats)
		pause_thread(board, seats);
	errno = saved;
}

/* ---- the start ---- */

/* The handler takes the first signal that nobody has a use for. */
static int handler_set(runtime_handler *handler, const int *signals)
{
	struct sigaction mine = {.sa_sigaction = handler}, there;

	mine.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigfillset(&mine.sa_mask);
	for (; *signals; signals++)
		if (sigaction(*signals, NULL, &there) == 0 && there.sa_handler == SIG_DFL)
			return sigaction(*signals, &mine, NULL) == 0 ? *signals : 0;
	return 0;
}

/* Descriptors from the tool: the board's, the seats', and from one without a kernel side a third;
 * how many. */
static unsigned maps_receive(int socket, int ret_fds[3])
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(3 * sizeof(int))];
	} control;
	char byte;
	struct iovec bytes = {&byte, 1};
	struct msghdr message = {.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *head;
	size_t count;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return 0;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return 0;
	count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	if (count != 2 && count != 3)
		return 0;
	memcpy(ret_fds, CMSG_DATA(head), count * sizeof(int));
	return (unsigned)count;
}

static unsigned maps_ask(const char *name, int ret_fds[3])
{
	struct timeval patience = {ANSWER_MS / 1000, ANSWER_MS % 1000 * 1000};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = strlen(name);
	unsigned got = 0;
	int fd;

	if (len > sizeof(address.sun_path) - 1)
		return 0;
	memcpy(address.sun_path + 1, name, len); /* the first byte 0: abstract */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) == 0)
		got = maps_receive(fd, ret_fds);
	close(fd);
	return got;
}

static void *map_whole(int fd, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* A forked child is another process: its counts are its own, its threads nobody's. */
static void child_leave(void)
{
	if (runtime_inside_leave)
		runtime_inside_leave();
	if (seats)
		munmap(seats, sizeof(*seats) * WIRE_CAUSAL_SEATS);
	seats = NULL;
	if (board) /* the program holds pointers to its counters */
		(void)mmap(board, board_bytes(), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* "PID NAME": PID is our parent only in the process that the tool started; 0: the tool looks for
 * one among all that is started below it, and answers that one.  A process that is under other
 * filters of system calls than its parent is left alone. */
static const char *socket_name(const char *text)
{
	struct runtime_status mine, parents;
	long parent = 0;

	for (; *text >= '0' && *text <= '9' && parent < INT32_MAX; text++)
		parent = parent * 10 + (*text - '0');
	if (*text != ' ' || !runtime_status_read(0, &mine) || (parent && parent != mine.parent))
		return NULL;
	if (mine.sandbox > 0 &&
		(!runtime_status_read(mine.parent, &parents) || mine.sandbox != parents.sandbox ||
			mine.filters != parents.filters || mine.filters < 1))
		return NULL;
	return text + 1;
}

/* A third part of the memory is for the engine inside the target; a library without it that gets
 * one is not the one that was asked for. */
static runtime_handler *handler_choose(unsigned count, int fd)
{
	if (count == 2)
		return runtime_inside_open ? NULL : on_signal;
	return runtime_inside_open ? runtime_inside_open(board, seats, fd) : NULL;
}

void runtime_causal_start(void)
{
	const char *text = secure_getenv(WIRE_CAUSAL_ENVIRONMENT);
	const char *name = text ? socket_name(text) : NULL;
	struct wire_causal_board *got;
	runtime_handler *handler;
	int fds[3], signal;
	unsigned count = name ? maps_ask(name, fds) : 0;

	if (!count)
		return;
	got = map_whole(fds[0], board_bytes());
	seats = map_whole(fds[1], sizeof(*seats) * WIRE_CAUSAL_SEATS);
	if (!got || !seats || got->magic != WIRE_CAUSAL_MAGIC ||
		got->version != WIRE_CAUSAL_VERSION)
		return;
	board = got;
	handler = handler_choose(count, fds[2]);
	pthread_atfork(NULL, NULL, child_leave);
	signal = handler ? handler_set(handler, count == 2 ? signals_asked : signals_harmless) : 0;
	if (!signal)
		return;
	board->signal = (uint32_t)signal;
	__atomic_store_n(&board->handler, (uint64_t)(uintptr_t)handler, __ATOMIC_RELEASE);
	if (runtime_inside_begin)
		runtime_inside_begin(signal);
}

/* ---- progress points ---- */

static bool point_is(const struct wire_causal_point *point, int type, const char *name)
{
	return load32(&point->state) == WIRE_POINT_READY && point->type == (uint32_t)type &&
	       strncmp(point->name, name, sizeof(point->name) - 1) == 0;
}

/* Two threads that come with the same name at once may get two counters: the tool adds them up. */
static struct wire_causal_point *point_claim(int type, const char *name)
{
	for (uint32_t i = 0; i < WIRE_CAUSAL_POINTS; i++) {
		struct wire_causal_point *point = &board->points[i];
		uint32_t none = WIRE_POINT_FREE;

		if (point_is(point, type, name))
			return point;
		if (!__atomic_compare_exchange_n(&point->state, &none, WIRE_POINT_CLAIMED, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		point->type = (uint32_t)type;
		strncpy(point->name, name, sizeof(point->name) - 1);
		__atomic_store_n(&point->state, WIRE_POINT_READY, __ATOMIC_RELEASE);
		return point;
	}
	return NULL;
}

EXPORT void *_coz_get_counter(int type, const char *name);
EXPORT void _coz_add_delays(void);
EXPORT void _coz_pre_block(void);
EXPORT void _coz_post_block(int skip);
EXPORT void *assay_point(int type, const char *name);

void *_coz_get_counter(int type, const char *name)
{
	if (!board || board->magic != WIRE_CAUSAL_MAGIC || !name || type < WIRE_POINT_THROUGHPUT ||
		type >= WIRE_POINT_TYPES)
		return NULL;
	return point_claim(type, name);
}

void *assay_point(int type, const char *name)
{
	return _coz_get_counter(type, name);
}

void _coz_add_delays(void)
{
}

/* For locks that spin and so make no wake that the kernel could see. */
void _coz_pre_block(void)
{
	owed_before = board ? load64(&board->owed_ns) : 0;
}

void _coz_post_block(int skip)
{
	struct wire_causal_seat *seat;
	uint64_t owed, gained;

	if (!skip || !board || !seats || !load32(&board->active) || load32(&board->sealed))
		return;
	owed = load64(&board->owed_ns);
	seat = pause_seat(board, seats);
	if (!seat || owed <= owed_before)
		return;
	gained = causal_debt(&seat->account, owed);
	seat->account.taken_ns += gained < owed - owed_before ? gained : owed - owed_before;
}
