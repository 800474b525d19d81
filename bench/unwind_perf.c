/* unwind_perf.c - unwind the samples of a perf.data file and say how it went.
 *
 *     unwind_perf FILE            one line: name=value ...
 *     unwind_perf --frames FILE   per sample "TID TIME END", then its addresses as perf script
 *                                 tells them: offsets in the file
 *
 * Only for the benchmark: it reads what `perf record -e cpu-clock --call-graph dwarf` of perf 6.1
 * writes on this machine, believes it, and takes all mappings of a process to be there from the
 * beginning.  The product's reader is another one. */
#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "code/image.h"
#include "code/unwind.h"

enum { FRAMES = 512, PASSES = 5, ENDS = 4 };

struct module {
	struct image *image; /* NULL: cannot be opened */
	struct unwind_table *table;
};

struct mapping {
	uint64_t begin, end, offset;
	uint32_t pid, module, order;
};

struct sample {
	uint32_t pid, tid;
	uint64_t time;
	struct unwind_registers registers;
	struct unwind_stack stack;
};

struct file {
	const unsigned char *bytes;
	size_t len;
	struct perf_event_attr attr;
	struct map module_of_path;
	vec_of(struct module) modules;
	vec_of(struct mapping) mappings;
	vec_of(struct sample) samples;
};

struct process { /* whose mappings are asked for: they stand side by side */
	const struct file *file;
	const struct mapping *first;
	size_t count;
};

static uint64_t word(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t half(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t file_module(struct file *file, const char *path)
{
	struct module module = {0};
	struct err err = {0};
	uint32_t index;

	if (map_get(&file->module_of_path, path, strlen(path), &index))
		return index;
	if (str_equal(path, "[vdso]")) {
		const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);

		image_open_bytes(vdso, 8192, path, &module.image, &err);
	} else {
		image_open(path, &module.image, &err);
	}
	if (module.image)
		module.table = unwind_table_open(module.image);
	index = file->modules.count;
	vec_push(&file->modules, module);
	map_put(&file->module_of_path, path, strlen(path), index);
	return index;
}

static void take_mapping(struct file *file, const unsigned char *at)
{
	struct mapping mapping = {.pid = half(at),
		.begin = word(at + 8),
		.end = word(at + 8) + word(at + 16),
		.offset = word(at + 24),
		.order = file->mappings.count};

	if (!(half(at + 56) & PROT_EXEC) || mapping.pid == UINT32_MAX)
		return;
	mapping.module = file_module(file, (const char *)at + 64);
	vec_push(&file->mappings, mapping);
}

/* A child starts with its parent's mappings. */
static void take_fork(struct file *file, const unsigned char *at)
{
	uint32_t pid = half(at), parent = half(at + 4), count = file->mappings.count;

	for (uint32_t i = 0; i < count && pid != parent; i++) {
		struct mapping copy = file->mappings.at[i];

		if (copy.pid != parent)
			continue;
		copy.pid = pid;
		copy.order = file->mappings.count;
		vec_push(&file->mappings, copy);
	}
}

static uint64_t register_of(const unsigned char *registers, uint64_t mask, unsigned number)
{
	return word(registers + 8 * __builtin_popcountll(mask & ((1ull << number) - 1)));
}

static void take_registers(struct sample *sample, const unsigned char *at, uint64_t mask)
{
#if defined(__aarch64__)
	sample->registers.fp = register_of(at, mask, 29);
	sample->registers.lr = register_of(at, mask, 30);
	sample->registers.sp = register_of(at, mask, 31);
	sample->registers.ip = register_of(at, mask, 32);
#else
	sample->registers.fp = register_of(at, mask, 6);
	sample->registers.sp = register_of(at, mask, 7);
	sample->registers.ip = register_of(at, mask, 8);
#endif
}

static void take_sample(struct file *file, const unsigned char *at)
{
	uint64_t type = file->attr.sample_type, mask = file->attr.sample_regs_user, size;
	struct sample sample = {0};

	at += type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	at += type & PERF_SAMPLE_IP ? 8 : 0;
	sample.pid = half(at);
	sample.tid = half(at + 4);
	at += 8;
	sample.time = word(at);
	at += 8;
	for (uint64_t bit = PERF_SAMPLE_ADDR; bit <= PERF_SAMPLE_PERIOD; bit <<= 1)
		if (bit != PERF_SAMPLE_READ && bit != PERF_SAMPLE_CALLCHAIN)
			at += type & bit ? 8 : 0;
	if (type & PERF_SAMPLE_CALLCHAIN)
		at += 8 + 8 * word(at);
	at += 8;
	if (word(at - 8) == 0) /* no registers: not in a user's context */
		return;
	take_registers(&sample, at, mask);
	at += 8 * __builtin_popcountll(mask);
	size = word(at);
	sample.stack.bytes = at + 8;
	sample.stack.base = sample.registers.sp;
	sample.stack.len = size ? word(at + 8 + size) : 0;
	sample.stack.cut = sample.stack.len == size;
	vec_push(&file->samples, sample);
}

static void file_read(struct file *file)
{
	const unsigned char *at = file->bytes + word(file->bytes + 40);
	const unsigned char *end = at + word(file->bytes + 48);

	memcpy(&file->attr, file->bytes + word(file->bytes + 24), PERF_ATTR_SIZE_VER5);
	while (at < end) {
		uint16_t size;

		memcpy(&size, at + 6, sizeof(size));
		if (half(at) == PERF_RECORD_MMAP2)
			take_mapping(file, at + 8);
		else if (half(at) == PERF_RECORD_FORK)
			take_fork(file, at + 8);
		else if (half(at) == PERF_RECORD_SAMPLE)
			take_sample(file, at + 8);
		at += size;
	}
}

static int mapping_compare(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static const struct mapping *process_mapping(const struct process *process, uint64_t addr)
{
	size_t low = 0, high = process->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (process->first[middle].begin <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || addr >= process->first[low - 1].end)
		return NULL;
	return &process->first[low - 1];
}

static bool process_find(void *context, uint64_t addr, struct unwind_place *ret_place)
{
	const struct process *process = context;
	const struct mapping *mapping = process_mapping(process, addr);
	const struct module *module;
	uint64_t image_addr;

	if (!mapping)
		return false;
	module = &process->file->modules.at[mapping->module];
	*ret_place = (struct unwind_place){.table = module->table};
	if (module->image && image_addr_of_offset(module->image,
				     addr - mapping->begin + mapping->offset, &image_addr))
		ret_place->bias = addr - image_addr;
	return true;
}

static struct process file_process(const struct file *file, uint32_t pid)
{
	struct process process = {.file = file};

	vec_foreach (const struct mapping, mapping, &file->mappings)
		if (mapping->pid == pid) {
			process.first = process.first ? process.first : mapping;
			process.count++;
		}
	return process;
}

struct outcome {
	uint64_t ends[ENDS], frames, ns;
};

/* Of this process: what others do to the machine does not count. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct walked {
	uint64_t addrs[FRAMES];
	size_t count;
	enum unwind_end end;
};

static void print_frames(
	const struct process *process, const struct sample *sample, const struct walked *walked)
{
	static const char *const names[ENDS] = {"root", "truncated", "broken", "deep"};

	printf("%u %llu %s\n", sample->tid, (unsigned long long)sample->time, names[walked->end]);
	for (size_t i = 0; i < walked->count; i++) {
		uint64_t addr = walked->addrs[i] - (i ? 1 : 0);
		const struct mapping *mapping = process_mapping(process, addr);

		printf(" %llx\n",
			(unsigned long long)(mapping ? addr - mapping->begin + mapping->offset
						     : addr));
	}
}

static struct outcome file_unwind(const struct file *file, bool print)
{
	struct outcome outcome = {0};
	struct process process = {0};
	struct unwind_world world = {.machine = IMAGE_X86_64, .find = process_find};
	struct walked walked;
	uint64_t begin;
	uint32_t pid = 0;

	if (file->modules.count && file->modules.at[0].image)
		world.machine = image_machine(file->modules.at[0].image);
	world.context = &process;
	begin = cpu_ns();
	vec_foreach (const struct sample, sample, &file->samples) {
		if (sample->pid != pid || !process.file)
			process = file_process(file, pid = sample->pid);
		walked.count = unwind_sample(&world, &sample->registers, &sample->stack,
			walked.addrs, FRAMES, &walked.end);
		outcome.ends[walked.end]++;
		outcome.frames += walked.count;
		if (print)
			print_frames(&process, sample, &walked);
	}
	outcome.ns = cpu_ns() - begin;
	return outcome;
}

static void print_sizes(const struct file *file)
{
	size_t table_bytes = 0, frame_bytes = 0;

	vec_foreach (const struct module, module, &file->modules) {
		if (!module->image)
			continue;
		table_bytes += unwind_table_bytes(module->table);
		frame_bytes += image_section(module->image, ".eh_frame").len;
	}
	printf(" modules=%u eh_frame=%zu tables=%zu\n", file->modules.count, frame_bytes,
		table_bytes);
}

static void file_forget(struct file *file)
{
	vec_foreach (struct module, module, &file->modules) {
		if (!module->image)
			continue;
		unwind_table_close(module->table);
		module->table = unwind_table_open(module->image);
	}
}

/* What compiling rules costs: the same samples from empty tables, less the same from full ones. */
static uint64_t file_compile_ns(struct file *file, uint64_t warm_ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < PASSES; i++) {
		uint64_t ns;

		file_forget(file);
		ns = file_unwind(file, false).ns;
		best = ns < best ? ns : best;
	}
	return best > warm_ns ? best - warm_ns : 0;
}

static void file_measure(struct file *file)
{
	struct outcome cold = file_unwind(file, false), warm = cold;

	for (int i = 0; i < PASSES; i++) {
		struct outcome again = file_unwind(file, false);

		warm = i == 0 || again.ns < warm.ns ? again : warm;
	}
	printf("samples=%u frames=%llu cold_ns=%llu warm_ns=%llu", file->samples.count,
		(unsigned long long)cold.frames, (unsigned long long)cold.ns,
		(unsigned long long)warm.ns);
	printf(" root=%llu truncated=%llu broken=%llu deep=%llu",
		(unsigned long long)cold.ends[UNWIND_ROOT],
		(unsigned long long)cold.ends[UNWIND_TRUNCATED],
		(unsigned long long)cold.ends[UNWIND_BROKEN],
		(unsigned long long)cold.ends[UNWIND_TOO_DEEP]);
	printf(" compile_ns=%llu", (unsigned long long)file_compile_ns(file, warm.ns));
	print_sizes(file);
}

int main(int argc, char **argv)
{
	bool print = argc == 3 && str_equal(argv[1], "--frames");
	int fd = argc > 1 ? open(argv[argc - 1], O_RDONLY | O_CLOEXEC) : -1;
	struct file file = {0};
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0) {
		fprintf(stderr, "usage: unwind_perf [--frames] PERF.DATA\n");
		return 2;
	}
	file.len = (size_t)status.st_size;
	file.bytes = mmap(NULL, file.len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file.bytes == MAP_FAILED || file.len < 104 || memcmp(file.bytes, "PERFILE2", 8) != 0) {
		fprintf(stderr, "unwind_perf: %s is no perf.data file\n", argv[argc - 1]);
		return 2;
	}
	file_read(&file);
	if (!file.samples.count || !file.mappings.count) {
		fprintf(stderr, "unwind_perf: %s has no samples with stacks\n", argv[argc - 1]);
		return 2;
	}
	qsort(file.mappings.at, file.mappings.count, sizeof(*file.mappings.at), mapping_compare);
	if (print)
		file_unwind(&file, true);
	else
		file_measure(&file);
	return 0;
}
