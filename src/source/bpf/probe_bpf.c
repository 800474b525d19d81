/* probe_bpf.c - load, attach, see it count, take it away again.
 *
 * Two objects and not one with two programs: libbpf wants the kernel's BTF as soon as an object has
 * one CO-RE relocation, also in a program that is not to be loaded, and then "no BTF" would look
 * like "no BPF".  Links and programs live in file descriptors only and end with them. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include "../probe/probe_parts.h"
#include "probe.shared.h"

extern const unsigned char probe_bpf_object[], probe_core_bpf_object[];
extern const unsigned long probe_bpf_object_len, probe_core_bpf_object_len;

/* The reason is given by our own probe, once; libbpf's talk would be a stack of messages. */
static int silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Sleeping switches us out; a few times, because the first may fall before the attachment is seen
 * by every CPU. */
static void switch_some(void)
{
	for (unsigned i = 0; i < 5; i++)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static int counts_read(struct bpf_object *object, struct assay_probe_counts *ret_counts)
{
	struct bpf_map *map;
	unsigned key = 0;

	bpf_object__for_each_map(map, object) if (
		bpf_map__is_internal(map) &&
		bpf_map__value_size(map) ==
			sizeof(*ret_counts)) return bpf_map_lookup_elem(bpf_map__fd(map), &key,
		ret_counts);
	return -ENOENT;
}

static int object_count(
	struct bpf_object *object, struct assay_probe_counts *ret_counts, const char **ret_step)
{
	struct bpf_program *program = bpf_object__next_program(object, NULL);
	struct bpf_link *link;
	int r;

	*ret_step = "loading";
	r = bpf_object__load(object);
	if (r < 0)
		return r;
	*ret_step = "attaching";
	link = bpf_program__attach(program);
	if (!link)
		return -errno;
	switch_some();
	*ret_step = "reading its map";
	r = counts_read(object, ret_counts);
	bpf_link__destroy(link);
	return r;
}

static int bytes_count(
	const void *bytes, size_t len, struct assay_probe_counts *ret_counts, const char **ret_step)
{
	libbpf_print_fn_t talk = libbpf_set_print(silent);
	struct bpf_object *object = bpf_object__open_mem(bytes, len, NULL);
	int r = -errno;

	*ret_step = "opening";
	if (object)
		r = object_count(object, ret_counts, ret_step);
	bpf_object__close(object);
	libbpf_set_print(talk);
	return r;
}

int probe_bpf_count(uint64_t *ret_count, const char **ret_step)
{
	struct assay_probe_counts counts = {0};
	int r = bytes_count(probe_bpf_object, probe_bpf_object_len, &counts, ret_step);

	if (r >= 0)
		*ret_count = counts.switches;
	return r;
}

int probe_bpf_core_count(uint64_t *ret_count, const char **ret_step)
{
	struct assay_probe_counts counts = {0};
	int r = bytes_count(probe_core_bpf_object, probe_core_bpf_object_len, &counts, ret_step);

	if (r >= 0)
		*ret_count = counts.agreed;
	return r;
}
