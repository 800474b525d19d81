/* causal.c - see source/causal.h.
 *
 * The virtual duration of an experiment is the real one less what the clocks of the program fell
 * behind meanwhile (causal_clock.c). */
#include "source/causal.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "causal_parts.h"

/* ---- opening ---- */

/* An abstract name: no file, and gone with the process. */
static void socket_name(struct causal *causal)
{
	snprintf(causal->socket_name, sizeof(causal->socket_name), "assay-causal-%d-%016llx",
		(int)getpid(), (unsigned long long)random_next(&causal->random));
	snprintf(causal->socket_variable, sizeof(causal->socket_variable), "%s=%s%s",
		WIRE_CAUSAL_ENVIRONMENT, causal->follows.st_ino ? "0 " : "", causal->socket_name);
}

static int socket_open(struct causal *causal, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = strlen(causal->socket_name);

	memcpy(address.sun_path + 1, causal->socket_name, len);
	causal->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (causal->socket >= 0 &&
		bind(causal->socket, (struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) == 0 &&
		listen(causal->socket, 64) == 0)
		return 0;
	return err_set(err, ERR_UNAVAILABLE, errno, "cannot make a socket for the target: %s",
		err_words(errno));
}

int causal_open(const struct causal_options *options, struct causal **ret_causal, struct err *err)
{
	causal_auto struct causal *causal = mem_new(1, sizeof(*causal));
	int r;

	causal->engine = options->engine == CAUSAL_ENGINE_PRELOAD ? &causal_engine_inside
								  : &causal_engine_bpf;
	causal->socket = causal->memory[0] = causal->memory[1] = causal->memory[2] = -1;
	causal->preload.fd = -1;
	causal->period_ns = options->period_ns ? options->period_ns : CAUSAL_PERIOD_NS;
	random_seed(&causal->random, clock_monotonic_ns() ^ (uint64_t)getpid() << 32);
	causal_points_copy(causal, options->points, options->point_count);
	causal->searches = options->searches;
	causal->waits = options->waits;
	causal->runs = options->runs;
	if (options->follows && stat(options->follows, &causal->follows) < 0)
		return err_set(err, ERR_USAGE, errno, "cannot read %s: %s", options->follows,
			err_words(errno));
	socket_name(causal);
	r = preload_open(causal->engine->library, &causal->preload, err);
	if (r < 0)
		return r;
	*ret_causal = causal;
	causal = NULL;
	return 0;
}

int causal_load(struct causal *causal, struct err *err)
{
	int r = causal->engine->load(causal, err);

	return r < 0 ? r : socket_open(causal, err);
}

void causal_close(struct causal *causal)
{
	if (!causal)
		return;
	if (causal->kernel)
		causal->kernel->settings.active = 0;
	if (causal->board)
		causal->board->active = 0;
	(void)causal_detach(causal, &(struct err){0});
	causal->engine->unload(causal);
	preload_close(&causal->preload);
	io_close_pointer(&causal->socket);
	causal_points_forget(causal);
	causal_foreign_forget(causal);
	vec_done(&causal->visits);
	vec_done(&causal->spots);
	arena_done(&causal->spot_paths);
	causal_stacks_forget(causal);
	free(causal);
}

void causal_close_pointer(struct causal **causal)
{
	causal_close(*causal);
	*causal = NULL;
}

const char *causal_preload_variable(const struct causal *causal)
{
	return causal->preload.preload_variable;
}

const char *causal_socket_variable(const struct causal *causal)
{
	return causal->socket_variable;
}

int causal_descriptor(const struct causal *causal)
{
	return causal->socket;
}

/* ---- the process ---- */

static bool maps_send(struct causal *causal, int to)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(3 * sizeof(int))];
	} control = {.space = {0}};
	int fds[3];
	size_t count = causal->engine->descriptors(causal, fds);
	struct iovec bytes = {(char[]){1}, 1};
	struct msghdr message = {.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(*fds))};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(count * sizeof(*fds));
	memcpy(CMSG_DATA(&control.head), fds, count * sizeof(*fds));
	return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* What the frame of a signal takes on this CPU (3.6 KB with AVX-512), and our handler on it. */
static uint32_t signal_stack_bytes(void)
{
	enum { UNKNOWN = 16384, HANDLER = 1024 };
	unsigned long frame = getauxval(AT_MINSIGSTKSZ);

	return (uint32_t)(frame ? frame + HANDLER : UNKNOWN);
}

/* The program that is there now has asked for no counter yet and has no handler. */
static void board_clear(struct causal *causal)
{
	struct wire_causal_board *board = causal->board;

	causal->cut = true;
	causal->kernel->settings.active = 0;
	causal->kernel->settings.handler = 0;
	causal->kernel->counts.filtered = 0;
	board->active = 0;
	board->sealed = WIRE_SEAL_NONE;
	causal->kernel->counts.no_stack = 0;
	board->inside = 0;
	board->heard = causal->kernel->counts.signals;
	__atomic_store_n(&board->handler, 0, __ATOMIC_RELEASE);
	memset(board->points, 0, sizeof(board->points));
	memset(causal->kernel->visits, 0, sizeof(causal->kernel->visits));
	for (uint32_t i = 0; i < WIRE_CAUSAL_SEATS; i++)
		if (causal->seats[i].tid)
			causal->seats[i] = (struct wire_causal_seat){0};
	causal->kernel->queue.waiting = 0;
	causal_progress_forget(causal);
	causal->engine->spots_forget(causal);
}

int causal_bind(struct causal *causal, pid_t pid, struct err *err)
{
	causal->kernel->settings.active = 0;
	if (causal->pid != pid || !pid)
		board_clear(causal);
	causal->pid = pid;
	causal->kernel->settings.filters = causal->runs ? 0 : causal_filters_own();
	causal->kernel->settings.stack_bytes = signal_stack_bytes();
	causal->kernel->settings.pid = (uint32_t)pid;
	return causal->engine->place_probes(causal, err);
}

/* Whether it runs the file that is followed; false too when it has ended. */
static bool process_is_followed(const struct causal *causal, pid_t pid)
{
	char path[48];
	struct stat file;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, &file) == 0 && file.st_ino == causal->follows.st_ino &&
	       file.st_dev == causal->follows.st_dev;
}

pid_t causal_process(const struct causal *causal)
{
	bool gone = causal->follows.st_ino && !process_is_followed(causal, causal->pid);

	return gone ? 0 : causal->pid;
}

/* Of several that run at once the first is as good as any. */
static bool process_is_wanted(const struct causal *causal, pid_t peer, pid_t pid)
{
	if (!causal->follows.st_ino)
		return peer == pid;
	return process_is_followed(causal, peer) &&
	       (peer == causal->pid || !causal_process(causal));
}

int causal_admit(struct causal *causal, pid_t pid, struct err *err)
{
	int admitted = 0;

	for (;;) {
		io_auto int fd = accept4(causal->socket, NULL, NULL, SOCK_CLOEXEC);
		struct ucred peer = {0};
		socklen_t len = sizeof(peer);

		if (fd < 0)
			return admitted;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
			!process_is_wanted(causal, peer.pid, pid))
			continue;
		board_clear(causal);
		causal->pid = 0;
		if (causal_bind(causal, peer.pid, err) < 0)
			return -err->code;
		admitted = maps_send(causal, fd);
	}
}

/* Of the target's making: read once and checked, then only the copy is used. */
static uint32_t board_signal(const struct causal *causal)
{
	uint32_t signal = causal_load32(&causal->board->signal);

	return signal <= 64 ? signal : 0;
}

bool causal_is_ready(const struct causal *causal)
{
	return causal->pid && causal_load64(&causal->board->handler) && board_signal(causal) &&
	       !causal_sealed(causal);
}

enum causal_seal causal_sealed(const struct causal *causal)
{
	uint32_t sealed = causal_load32(&causal->board->sealed);

	if (sealed == WIRE_SEAL_SIGNAL)
		return CAUSAL_SEAL_SIGNAL;
	return sealed || causal_load64(&causal->kernel->counts.filtered) ? CAUSAL_SEAL_SANDBOX
									 : CAUSAL_SEAL_NONE;
}

void causal_trace_read(const struct causal *causal, struct causal_trace *ret_trace)
{
	uint64_t heard = causal_load64(&causal->board->heard);
	uint32_t inside = causal_load32(&causal->board->inside);
	struct assay_causal_counts counts;
	bool is_missing;

	causal_copy(&counts, &causal->kernel->counts, sizeof(counts));
	is_missing = !causal->inside && counts.signals > heard;
	*ret_trace = (struct causal_trace){.signal = board_signal(causal),
		.no_stack = counts.no_stack,
		.inside = inside || is_missing,
		.stray = is_missing && counts.unheard};
}

int causal_attach(struct causal *causal, pid_t pid, struct err *err)
{
	return causal->engine->attach(causal, pid, err);
}

int causal_detach(struct causal *causal, struct err *err)
{
	return causal->engine->detach(causal, err);
}

uint64_t causal_stop_ns(const struct causal *causal)
{
	return causal->injection.stop_ns;
}

/* ---- an experiment ---- */

void causal_shuffle(struct causal *causal)
{
	causal->engine->shuffle(causal);
}

static int target_set(struct causal *causal, const struct causal_target *target, struct err *err)
{
	struct assay_causal_settings *settings = &causal->kernel->settings;
	int r = causal_map_places(causal->pid, target->places, target->count, settings->range,
		WIRE_CAUSAL_RANGES, err);
	int callers = 0;

	if (r >= 0 && target->caller_count)
		callers = causal_map_places(causal->pid, target->callers, target->caller_count,
			settings->caller, WIRE_CAUSAL_RANGES, err);
	if (r < 0 || callers < 0)
		return r < 0 ? r : callers;
	settings->ranges = (uint32_t)r;
	settings->callers = (uint32_t)callers;
	settings->waits = target->waits;
	settings->callees = target->callees;
	return 0;
}

int causal_window_begin(struct causal *causal, const struct causal_target *target,
	uint32_t speedup_permille, struct err *err)
{
	struct assay_causal_settings *settings = &causal->kernel->settings;
	struct wire_causal_board *board = causal->board;
	int r;

	settings->active = 0;
	r = target_set(causal, target, err);
	if (r >= 0)
		r = causal_foreign_place(causal, err);
	if (r < 0)
		return r;
	causal_shuffle(causal);
	causal->cut = false;
	causal->kernel->last_taken_ns = 0;
	settings->handler = causal_load64(&board->handler);
	settings->signal = causal_is_ready(causal) ? board_signal(causal) : 0;
	settings->speedup_permille = speedup_permille < 1000 ? speedup_permille : 1000;
	settings->period_ns = causal->period_ns;
	settings->start_ns = clock_monotonic_ns();
	causal_clock_begin(causal);
	settings->epoch = ++causal->epoch;
	board->epoch = causal->epoch;
	__atomic_store_n(&board->active, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&settings->active, 1, __ATOMIC_RELEASE);
	return 0;
}

static void snapshot_take(struct causal *causal, struct causal_snapshot *ret)
{
	ret->now_ns = clock_monotonic_ns();
	ret->seats = 0;
	causal_progress_read(causal, ret);
	ret->taken_ns = causal_clock_furthest(causal, ret->now_ns);
	ret->owed_ns = causal_clock_owed(causal, ret->now_ns);
	ret->stolen_ns = causal_load64(&causal->board->stolen_ns);
	ret->pauses = causal_load64(&causal->board->pauses);
	ret->paused_ns = causal_load64(&causal->board->paused_ns);
	causal_copy(&ret->counts, &causal->kernel->counts, sizeof(ret->counts));
	causal_clock_spans_add(causal, ret);
}

void causal_window_mark(struct causal *causal)
{
	causal->engine->count(causal);
	snapshot_take(causal, &causal->before);
}

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static struct causal_counts counts_between(
	const struct causal_snapshot *a, const struct causal_snapshot *b)
{
	const struct assay_causal_counts *x = &a->counts, *y = &b->counts;

	return (struct causal_counts){
		.samples = grown(x->samples, y->samples),
		.hits = grown(x->hits, y->hits),
		.lost = grown(x->lost, y->lost),
		.hit_ns = grown(x->hit_ns, y->hit_ns),
		.handed = grown(x->handed, y->handed),
		.outside = grown(x->outside, y->outside),
		.irq = grown(x->irq, y->irq),
		.timer = grown(x->timer, y->timer),
		.signals = grown(x->signals, y->signals),
		.masked = grown(x->masked, y->masked),
		.unheard = grown(x->unheard, y->unheard),
		.filtered = grown(x->filtered, y->filtered),
		.no_stack = grown(x->no_stack, y->no_stack),
		.in_kernel = grown(x->in_kernel, y->in_kernel),
		.pauses = grown(a->pauses, b->pauses),
		.paused_ns = grown(a->paused_ns, b->paused_ns),
		.queued_ns = grown(x->queued_ns, y->queued_ns),
		.ran_ns = grown(x->ran_ns, y->ran_ns),
		.others_ns = grown(x->others_ns, y->others_ns),
		.no_seat = grown(x->no_seat, y->no_seat),
		.inside = grown(x->inside, y->inside),
		.marked = grown(x->marked, y->marked),
		.by_clock = grown(x->by_clock, y->by_clock),
		.by_peer = grown(x->by_peer, y->by_peer),
		.ticks = grown(x->ticks, y->ticks),
		.calls = grown(x->calls, y->calls),
	};
}

static void threads_read(const struct causal *causal, struct causal_result *result)
{
	uint64_t now = causal->after.now_ns;

	for (uint32_t i = 0; i < WIRE_CAUSAL_SEATS; i++) {
		struct wire_causal_seat seat;
		uint64_t debt, cpu;

		if (!causal_seat_read(causal, i, &seat))
			continue;
		result->threads++;
		cpu = seat.cpu_ns + (seat.running_ns ? grown(seat.running_ns, now) : 0);
		if (cpu > result->busiest_ns)
			result->busiest_ns = cpu;
		debt = causal_debt(&seat.account, causal->after.owed_ns);
		if (!seat.blocked_ns && !seat.queued && !seat.account.pause_ns &&
			debt > result->unpaid_ns)
			result->unpaid_ns = debt;
	}
}

void causal_window_end(struct causal *causal, struct causal_result *ret_result)
{
	const struct causal_snapshot *a = &causal->before, *b = &causal->after;

	causal->engine->count(causal);
	snapshot_take(causal, &causal->after);
	__atomic_store_n(&causal->kernel->settings.active, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&causal->board->active, 0, __ATOMIC_RELEASE);
	*ret_result = (struct causal_result){
		.start_ns = a->now_ns,
		.wall_ns = grown(a->now_ns, b->now_ns),
		.owed_ns = grown(a->owed_ns, b->owed_ns),
		.cut = causal->cut,
		.counts = counts_between(a, b),
	};
	ret_result->virtual_ns = grown(causal_clock_delay(causal), ret_result->wall_ns);
	threads_read(causal, ret_result);
	causal_progress_conclude(causal);
}
