/* causal_load.c - programs, links and maps of the kernel side.
 *
 * Interrupt exits are attached before the entries and the nesting counters zeroed after both: a
 * program attached between an entry and its exit would leave a counter at one for ever, and drop
 * every wake of that CPU in silence. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../perf/event_fd.h"
#include "../perf/event_place.h"
#include "base/str.h"
#include "causal_parts.h"
#include "source/refusal.h"
#include "source/tracefs.h"

extern const unsigned char causal_bpf_object[];
extern const unsigned long causal_bpf_object_len;

static const size_t steps_bytes = sizeof(struct wire_causal_step) * WIRE_CAUSAL_STEPS;
static const size_t stacks_bytes = sizeof(struct assay_causal_stack) * ASSAY_CAUSAL_STACKS;

/* The inode of the first PID namespace: PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCU

/* The kernel side sees process ids of the first namespace only. */
static int namespace_check(struct err *err)
{
	struct stat space;

	if (stat("/proc/self/ns/pid", &space) < 0 || space.st_ino == FIRST_PID_NAMESPACE)
		return 0;
	err_set(err, ERR_UNAVAILABLE, ENOTSUP,
		"the BPF engine does not work inside a PID namespace (a container)");
	err_hint(err, "run assay on the host, or start the container with --pid=host");
	return -ENOTSUP;
}

/* The reason is given in our own words. */
static int silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static int refused(enum refusal_of what, int code, struct err *err)
{
	struct refusal_facts facts;

	refusal_facts_read(&facts);
	return refusal_explain(&facts, what, code, err);
}

/* ---- loading ---- */

static struct bpf_program *program_of(struct causal *causal, const char *name)
{
	return bpf_object__find_program_by_name(causal->object, name);
}

/* EINVAL and the like from a privileged loader are a kernel that lacks a feature. */
static int load_failed(int code, bool waits, struct err *err)
{
	if (code == EPERM || code == EACCES)
		return refused(REFUSED_BPF, code, err);
	err_set(err, ERR_UNAVAILABLE, code, "the kernel rejects the causal profiler's programs: %s",
		err_words(code));
	err_hint(err, "they need Linux %s with BTF (CONFIG_DEBUG_INFO_BTF); see `assay doctor`",
		waits ? "5.15" : "5.13");
	return -code;
}

static bool helper_is_there(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper, NULL) == 1;
}

/* Constants of the programs (kernel_can): what they switch off is not even verified. */
static void constants_set(struct causal *causal)
{
	const uint32_t values[] = {
		helper_is_there(BPF_FUNC_task_pt_regs),
		helper_is_there(BPF_FUNC_find_vma),
		helper_is_there(BPF_FUNC_loop),
	};
	struct bpf_map *map;

	bpf_object__for_each_map(map, causal->object)
	{
		if (str_ends(bpf_map__name(map), ".rodata"))
			(void)bpf_map__set_initial_value(map, values, sizeof(values));
	}
}

/* They see a program sandbox itself before it has.  Where the kernel lacks the functions, or a
 * trace of functions, or loops (5.17), a filter is seen at the next sample of its thread, or when
 * that wakes up in a pause. */
static const struct {
	const char *program, *function;
} seals[] = {
	{"assay_causal_seal_prctl", "prctl_set_seccomp"},
#if defined(__x86_64__)
	{"assay_causal_seal_call", "__x64_sys_seccomp"},
#elif defined(__aarch64__)
	{"assay_causal_seal_call", "__arm64_sys_seccomp"},
#endif
};

/* Some kernels have the function and still refuse to look at it; one program that is refused would
 * take all others with it. */
static bool function_can_be_seen(const char *function)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
	int id = libbpf_find_vmlinux_btf_id(function, BPF_TRACE_FENTRY);
	struct bpf_prog_load_opts how = {.sz = sizeof(how),
		.expected_attach_type = BPF_TRACE_FENTRY,
		.attach_btf_id = id > 0 ? (uint32_t)id : 0};
	int fd =
		id > 0 ? bpf_prog_load(BPF_PROG_TYPE_TRACING, "assay_look", "GPL", nothing, 2, &how)
		       : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void seals_prepare(struct causal *causal)
{
	bool loops = helper_is_there(BPF_FUNC_loop);

	for (unsigned i = 0; i < sizeof(seals) / sizeof(*seals); i++)
		bpf_program__set_autoload(program_of(causal, seals[i].program),
			loops && function_can_be_seen(seals[i].function));
}

static void seals_attach(struct causal *causal)
{
	for (unsigned i = 0; i < sizeof(seals) / sizeof(*seals); i++) {
		struct bpf_program *program = program_of(causal, seals[i].program);
		struct bpf_link *link =
			bpf_program__autoload(program) ? bpf_program__attach(program) : NULL;

		if (link)
			vec_push(&causal->links, link);
	}
}

static int object_load(struct causal *causal, struct err *err)
{
	int r;

	causal->object = bpf_object__open_mem(causal_bpf_object, causal_bpf_object_len, NULL);
	if (!causal->object)
		return load_failed(errno, false, err);
	bpf_program__set_autoload(program_of(causal, "assay_causal_choose"), causal->waits);
	bpf_program__set_autoload(program_of(causal, "assay_causal_uprobe"),
		causal->points.count || causal->searches);
	bpf_program__set_autoload(program_of(causal, "assay_causal_syscall"),
		causal->points.count || causal->searches);
	seals_prepare(causal);
	constants_set(causal);
	r = bpf_object__load(causal->object);
	return r < 0 ? load_failed(-r, causal->waits || causal->points.count, err) : 0;
}

static void *map_of(struct causal *causal, const char *name, size_t bytes)
{
	struct bpf_map *map, *found = NULL;
	size_t whole = (bytes + 4095) & ~(size_t)4095;
	void *at;

	bpf_object__for_each_map(map, causal->object)
	{
		if (str_ends(bpf_map__name(map), name))
			found = map;
	}
	if (!found) {
		errno = ENOENT;
		return NULL;
	}
	at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(found), 0);
	return at == MAP_FAILED ? NULL : at;
}

static int maps_open(struct causal *causal, struct err *err)
{
	causal->kernel = map_of(causal, ".bss", sizeof(*causal->kernel));
	if (causal->kernel)
		causal->board = map_of(causal, "assay_board", sizeof(*causal->board));
	if (causal->board)
		causal->seats =
			map_of(causal, "assay_seats", sizeof(*causal->seats) * WIRE_CAUSAL_SEATS);
	if (causal->seats)
		causal->steps = map_of(causal, "assay_steps", steps_bytes);
	if (causal->steps)
		causal->stack_pages = map_of(causal, "assay_stacks", stacks_bytes);
	if (!causal->board || !causal->stack_pages)
		return err_set(err, ERR_UNAVAILABLE, errno,
			"cannot map the causal profiler's memory: %s", err_words(errno));
	causal->board->magic = WIRE_CAUSAL_MAGIC;
	causal->board->version = WIRE_CAUSAL_VERSION;
	return 0;
}

/* ---- attaching ---- */

static int attach(struct causal *causal, const char *name, struct err *err)
{
	struct bpf_link *link = bpf_program__attach(program_of(causal, name));

	if (!link)
		return refused(REFUSED_BPF, errno, err);
	vec_push(&causal->links, link);
	return 0;
}

static int nesting_zero(struct causal *causal)
{
	struct bpf_map *map = bpf_object__find_map_by_name(causal->object, "assay_cpus");
	int cpus = libbpf_num_possible_cpus();
	size_t each = (bpf_map__value_size(map) + 7) & ~7u;
	void *zeros = cpus > 0 ? mem_new((size_t)cpus, each) : NULL;
	uint32_t key = 0;
	int r = zeros ? bpf_map_update_elem(bpf_map__fd(map), &key, zeros, BPF_ANY) : -EINVAL;

	free(zeros);
	return r;
}

static int sampler_attach(struct causal *causal, int cpu, struct err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = causal->period_ns,
	};
	int fd = event_fd_open(&attr, -1, cpu, -1);
	struct bpf_link *link;

	if (fd < 0)
		return refused(REFUSED_MACHINE, -fd, err);
	link = bpf_program__attach_perf_event(program_of(causal, "assay_causal_sample"), fd);
	if (!link) {
		int code = errno;

		close(fd);
		return refused(REFUSED_BPF, code, err);
	}
	vec_push(&causal->samplers, fd); /* the link closes it */
	vec_push(&causal->links, link);
	return 0;
}

static int samplers_attach(struct causal *causal, struct err *err)
{
	event_place_vec cpus = {0};
	int r = event_place_add_cpus(&cpus, err);

	event_place_allow_descriptors(2 * (uint64_t)cpus.count + 100);
	for (uint32_t i = 0; r >= 0 && i < cpus.count; i++)
		r = sampler_attach(causal, cpus.at[i].cpu, err);
	vec_done(&cpus);
	return r;
}

static int attach_all(struct causal *causal, struct err *err)
{
	static const char *const order[] = {
		"assay_causal_irq_handler_exit",
		"assay_causal_softirq_exit",
		"assay_causal_hrtimer_expire_exit",
		"assay_causal_irq_handler_entry",
		"assay_causal_softirq_entry",
		"assay_causal_hrtimer_expire_entry",
		"assay_causal_switch",
		"assay_causal_waking",
		"assay_causal_new",
	};
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < sizeof(order) / sizeof(*order); i++)
		r = attach(causal, order[i], err);
	if (r >= 0 && causal->waits) /* after the switch: it looks at what that one wrote */
		r = attach(causal, "assay_causal_choose", err);
	seals_attach(causal);
	if (r >= 0 && nesting_zero(causal) < 0)
		r = refused(REFUSED_BPF, errno, err);
	return r < 0 ? r : samplers_attach(causal, err);
}

static int programs_load(struct causal *causal, struct err *err)
{
	libbpf_print_fn_t talk = libbpf_set_print(silent);
	int r = namespace_check(err);

	if (r >= 0)
		r = object_load(causal, err);
	if (r >= 0)
		r = maps_open(causal, err);
	if (r >= 0)
		r = attach_all(causal, err);
	libbpf_set_print(talk);
	return r;
}

/* ---- progress points of the kernel side ---- */

static struct bpf_link *uprobe_place(
	struct causal *causal, const struct causal_point *point, uint64_t index)
{
	struct bpf_uprobe_opts how = {
		.sz = sizeof(how), .bpf_cookie = index, .ref_ctr_offset = (size_t)point->semaphore};

	return bpf_program__attach_uprobe_opts(program_of(causal, "assay_causal_uprobe"),
		causal->pid, point->path, point->offset, &how);
}

static struct bpf_link *syscall_place(
	struct causal *causal, const struct causal_point *point, uint64_t index, struct err *err)
{
	struct bpf_perf_event_opts how = {.sz = sizeof(how), .bpf_cookie = index};
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .sample_period = 1};
	struct bpf_link *link;
	char name[128];
	int fd = tracefs_open(err), id;

	if (fd < 0)
		return NULL;
	snprintf(name, sizeof(name), "sys_exit_%s", point->name);
	id = tracefs_event_id(fd, "syscalls", name, err);
	close(fd);
	if (id < 0)
		return NULL;
	attr.config = (uint64_t)id;
	fd = event_fd_open(&attr, -1, 0, -1);
	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event_opts(
		program_of(causal, "assay_causal_syscall"), fd, &how);
	if (!link)
		close(fd);
	return link;
}

static struct bpf_link *probe_place(struct causal *causal, uint32_t index)
{
	libbpf_print_fn_t talk = libbpf_set_print(silent);
	const struct causal_point *point = &causal->points.at[index];
	struct err ignored = {0};
	struct bpf_link *link = point->kind == CAUSAL_UPROBE
					? uprobe_place(causal, point, index)
					: syscall_place(causal, point, index, &ignored);

	libbpf_set_print(talk);
	return link;
}

static int probe_failed(const struct causal_point *point, struct err *err)
{
	int code = errno ? errno : EINVAL;

	if (err->code)
		return -err->code;
	err_set(err, ERR_UNAVAILABLE, code, "cannot count visits of %s: %s", point->name,
		err_words(code));
	if (point->kind == CAUSAL_UPROBE)
		err_hint(err, "a progress point must be the first byte of an instruction in %s",
			point->path);
	return -code;
}

static int probes_place(struct causal *causal, struct err *err)
{
	libbpf_print_fn_t talk = libbpf_set_print(silent);
	int r = 0;

	causal_probes_remove(causal);
	for (uint32_t i = 0; causal->pid && r >= 0 && i < causal->points.count; i++) {
		const struct causal_point *point = &causal->points.at[i];
		struct bpf_link *link = point->kind == CAUSAL_UPROBE
						? uprobe_place(causal, point, i)
						: syscall_place(causal, point, i, err);

		if (link)
			vec_push(&causal->probes, link);
		else
			r = probe_failed(point, err);
	}
	libbpf_set_print(talk);
	return r;
}

/* ---- samples ---- */

/* A fixed period that a program's own rhythm agrees with would see the same place of it again and
 * again; the kernel has no event that comes at random. */
static void samplers_shuffle(struct causal *causal)
{
	vec_foreach (int, fd, &causal->samplers) {
		uint64_t half = causal->period_ns / 2;
		uint64_t period =
			causal->period_ns - half / 2 + random_below(&causal->random, half);

		ioctl(*fd, PERF_EVENT_IOC_PERIOD, &period);
	}
}

int causal_map_descriptor(const struct causal *causal, const char *name)
{
	return bpf_map__fd(bpf_object__find_map_by_name(causal->object, name));
}

static void spots_read(struct causal *causal, const causal_code_vec *code)
{
	int map = causal_map_descriptor(causal, "assay_spots");
	uint64_t addr = 0, ns;

	for (void *from = NULL; bpf_map_get_next_key(map, from, &addr) == 0; from = &addr)
		if (bpf_map_lookup_elem(map, &addr, &ns) == 0)
			causal_spot_add(causal, code, addr, ns);
}

/* Another program: its addresses mean something else. */
static void spots_forget(struct causal *causal)
{
	int map = causal_map_descriptor(causal, "assay_spots");
	uint64_t addr;

	while (bpf_map_get_next_key(map, NULL, &addr) == 0 && bpf_map_delete_elem(map, &addr) == 0)
		;
}

static unsigned descriptors(struct causal *causal, int ret_fds[3])
{
	ret_fds[0] = causal_map_descriptor(causal, "assay_board");
	ret_fds[1] = causal_map_descriptor(causal, "assay_seats");
	return 2;
}

static void count(struct causal *causal)
{
	(void)causal; /* the programs count all there is */
}

void causal_silence(struct causal *causal)
{
	causal_probes_remove(causal);
	vec_foreach (struct bpf_link *, link, &causal->links)
		bpf_link__destroy(*link);
	vec_done(&causal->links);
	vec_done(&causal->samplers);
}

static void unload(struct causal *causal)
{
	causal_silence(causal);
	if (causal->kernel)
		munmap(causal->kernel, (sizeof(*causal->kernel) + 4095) & ~(size_t)4095);
	if (causal->board)
		munmap(causal->board, (sizeof(*causal->board) + 4095) & ~(size_t)4095);
	if (causal->seats)
		munmap(causal->seats, sizeof(*causal->seats) * WIRE_CAUSAL_SEATS);
	if (causal->steps)
		munmap(causal->steps, steps_bytes);
	if (causal->stack_pages)
		munmap(causal->stack_pages, stacks_bytes);
	bpf_object__close(causal->object);
}

const struct causal_engine_parts causal_engine_bpf = {
	.library = PRELOAD_RUNTIME,
	.load = programs_load,
	.attach = causal_inject,
	.detach = causal_take_out,
	.place_probes = probes_place,
	.place_probe = probe_place,
	.shuffle = samplers_shuffle,
	.descriptors = descriptors,
	.count = count,
	.spots_read = spots_read,
	.spots_forget = spots_forget,
	.unload = unload,
};
