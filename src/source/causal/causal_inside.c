/* causal_inside.c - the engine without a kernel side: memory for the runtime in the target, which
 * samples itself and sees its waits through interposed functions (src/runtime/inside.c).
 *
 * For users without rights, containers and kernels without BTF.  The memory is three memfds, sealed
 * so that the target cannot shrink what we have mapped.  An experiment runs out by itself when we
 * stop to say that it goes on: a target whose tool was killed is at full speed within a second. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "causal_parts.h"
#include "source/proc_text.h"

enum { STATUS_MAX_BYTES = 1 << 16, STAT_MAX_BYTES = 1 << 20, THREADS_LOOKED_AT = 200 };
static const uint64_t expiry_ns = 1000000000;

/* ---- memory ---- */

static void *memory_open(const char *name, size_t bytes, int *ret_fd)
{
	void *at = MAP_FAILED;

	*ret_fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*ret_fd >= 0 && ftruncate(*ret_fd, (off_t)bytes) == 0 &&
		fcntl(*ret_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

static size_t board_bytes(void)
{
	return (sizeof(struct wire_causal_board) + 4095) & ~(size_t)4095;
}

static size_t seats_bytes(void)
{
	return sizeof(struct wire_causal_seat) * WIRE_CAUSAL_SEATS;
}

/* The library samples and sees the waits: without it there is nothing to attach. */
static int without_library(struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, ENOTSUP,
		"the preload engine needs a dynamically linked program that assay starts, not a "
		"running, static or set-uid one");
	err_hint(err,
		"use the BPF engine: run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE");
	return -ENOTSUP;
}

static int asked_too_much(const struct causal *causal, struct err *err)
{
	if (causal->runs)
		return without_library(err);
	if (!causal->points.count && !causal->waits)
		return 0;
	err_set(err, ERR_UNAVAILABLE, ENOTSUP,
		causal->waits ? "waits need the BPF engine"
			      : "counting visits of %s needs the BPF engine",
		causal->waits ? "" : causal->points.at[0].name);
	err_hint(err, "%s",
		causal->waits ? "run as root, or with CAP_BPF and CAP_PERFMON"
			      : "put ASSAY_PROGRESS (assay.h) there, or run as root");
	return -ENOTSUP;
}

static int load(struct causal *causal, struct err *err)
{
	int r = asked_too_much(causal, err);

	if (r < 0)
		return r;
	causal->board = memory_open("assay-board", board_bytes(), &causal->memory[0]);
	if (causal->board)
		causal->seats = memory_open("assay-seats", seats_bytes(), &causal->memory[1]);
	if (causal->seats)
		causal->inside =
			memory_open("assay-inside", sizeof(*causal->inside), &causal->memory[2]);
	if (!causal->board || !causal->inside)
		return err_set(err, ERR_UNAVAILABLE, errno, "cannot set up the causal profiler: %s",
			err_words(errno));
	causal->kernel = &causal->inside->control;
	causal->steps = causal->inside->steps;
	causal->kernel->settings.period_ns = causal->period_ns;
	causal->inside->tool = (uint32_t)getpid();
	causal->board->magic = WIRE_CAUSAL_MAGIC;
	causal->board->version = WIRE_CAUSAL_VERSION;
	return 0;
}

static void unload(struct causal *causal)
{
	if (causal->inside) {
		__atomic_store_n(&causal->inside->tool, 0, __ATOMIC_RELEASE);
		munmap(causal->inside, sizeof(*causal->inside));
	}
	if (causal->board)
		munmap(causal->board, board_bytes());
	if (causal->seats)
		munmap(causal->seats, seats_bytes());
	for (unsigned i = 0; i < 3; i++)
		io_close_pointer(&causal->memory[i]);
}

static int attach(struct causal *causal, pid_t pid, struct err *err)
{
	(void)causal;
	(void)pid;
	return without_library(err);
}

static int detach(struct causal *causal, struct err *err)
{
	(void)causal;
	(void)err;
	return 0;
}

static unsigned descriptors(struct causal *causal, int ret_fds[3])
{
	memcpy(ret_fds, causal->memory, sizeof(causal->memory));
	return 3;
}

/* ---- an experiment ---- */

static int probes_place(struct causal *causal, struct err *err)
{
	(void)causal; /* none: load() refused them */
	(void)err;
	return 0;
}

static struct bpf_link *probe_place(struct causal *causal, uint32_t index)
{
	(void)causal;
	(void)index;
	errno = ENOTSUP;
	return NULL;
}

/* The threads change their rhythm themselves, with each experiment.  Timers come with the kernel's
 * tick; a period below it would take every sample for four lost ones. */
static void shuffle(struct causal *causal)
{
	struct timespec tick = {0, 4000000};
	uint64_t tick_ns;

	__atomic_store_n(
		&causal->inside->expires_ns, clock_monotonic_ns() + expiry_ns, __ATOMIC_RELEASE);
	if (causal_load32(&causal->inside->sampler) != WIRE_SAMPLER_TIMER)
		return;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	tick_ns = (uint64_t)tick.tv_nsec;
	if (causal->period_ns < tick_ns)
		causal->period_ns = tick_ns;
}

/* Whether the thread's pending signals hold ours: it blocks it, and so is not sampled. */
static bool status_is_masked(const char *text, uint32_t signal)
{
	const char *line = strstr(text, "\nSigPnd:");

	return line && signal > 0 && signal <= 64 &&
	       strtoull(line + strlen("\nSigPnd:"), NULL, 16) >> (signal - 1) & 1;
}

static uint64_t status_number(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	return at ? strtoull(at + strlen(line), NULL, 10) : 0;
}

/* Whether it has set a filter of system calls itself, behind the back of the runtime. */
static bool status_is_filtered(const char *text, uint32_t known)
{
	uint64_t mode = status_number(text, "\nSeccomp:");

	return mode == 1 || (mode && status_number(text, "\nSeccomp_filters:") != known);
}

/* What the kernel tells everyone about a thread of his: its time on a CPU, and in the queue. */
static void thread_count(struct causal *causal, int folder, struct assay_causal_counts *sum)
{
	str_auto struct str status = {0}, times = {0};
	char *queued;

	if (io_read_at(folder, "status", STATUS_MAX_BYTES, &status) >= 0) {
		uint32_t signal = causal_load32(&causal->board->signal);

		sum->masked += status_is_masked(str_text(&status), signal);
		sum->filtered +=
			status_is_filtered(str_text(&status), causal->kernel->settings.filters);
	}
	if (io_read_at(folder, "schedstat", STATUS_MAX_BYTES, &times) < 0)
		return;
	sum->ran_ns += strtoull(str_text(&times), &queued, 10);
	sum->queued_ns += strtoull(queued, NULL, 10);
}

/* CPU time that all programs but this one have had, in ticks of the kernel.  Left as it is where
 * that is not known. */
static void others_read(pid_t pid, __u64 *ret_ns)
{
	str_auto struct str text = {0};
	struct timespec own = {0};
	struct proc_cpu cpu;
	clockid_t clock;
	uint64_t all_ns, own_ns;

	if (io_read_at(AT_FDCWD, "/proc/stat", STAT_MAX_BYTES, &text) < 0 ||
		!proc_cpu_parse(str_text(&text), &cpu) || clock_getcpuclockid(pid, &clock) != 0 ||
		clock_gettime(clock, &own) < 0)
		return;
	all_ns = cpu.busy * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	own_ns = (uint64_t)own.tv_sec * 1000000000 + (uint64_t)own.tv_nsec;
	*ret_ns = all_ns > own_ns ? all_ns - own_ns : 0;
}

/* At both ends of the measured part. */
static void count_threads(struct causal *causal)
{
	struct assay_causal_counts *counts = &causal->kernel->counts, sum = {0};
	unsigned looked = 0;
	struct dirent *entry;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)causal->pid);
	folder = opendir(path);
	if (!folder)
		return;
	while (looked < THREADS_LOOKED_AT && (entry = readdir(folder))) {
		io_auto int thread = entry->d_name[0] == '.'
					     ? -1
					     : openat(dirfd(folder), entry->d_name,
						       O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (thread < 0)
			continue;
		looked++;
		thread_count(causal, thread, &sum);
	}
	closedir(folder);
	counts->ran_ns = sum.ran_ns;
	counts->queued_ns = sum.queued_ns;
	others_read(causal->pid, &counts->others_ns);
	counts->masked += sum.masked;
	counts->filtered += sum.filtered;
	if (sum.filtered)
		__atomic_store_n(&causal->board->sealed, WIRE_SEAL_SANDBOX, __ATOMIC_SEQ_CST);
}

/* ---- spots ---- */

static void spots_read(struct causal *causal, const causal_code_vec *code)
{
	for (uint32_t i = 0; i < WIRE_CAUSAL_SPOTS; i++) {
		struct wire_causal_spot spot;

		causal_copy(&spot, &causal->inside->spots[i], sizeof(spot));
		if (spot.addr)
			causal_spot_add(causal, code, spot.addr, spot.ns);
	}
}

static void spots_forget(struct causal *causal)
{
	memset(causal->inside->spots, 0, sizeof(causal->inside->spots));
}

const struct causal_engine_parts causal_engine_inside = {
	.library = PRELOAD_INTERPOSE,
	.load = load,
	.attach = attach,
	.detach = detach,
	.place_probes = probes_place,
	.place_probe = probe_place,
	.shuffle = shuffle,
	.descriptors = descriptors,
	.count = count_threads,
	.spots_read = spots_read,
	.spots_forget = spots_forget,
	.unload = unload,
};
