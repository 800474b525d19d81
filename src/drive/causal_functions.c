/* causal_functions.c - see causal_functions.h.
 *
 * A direct call names its target, so every place in a function's bytes that would be a call to the
 * first byte of another is taken for one: without a disassembler, and hardly ever by chance. */
#include "drive/causal_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "causal_cheap.h"
#include "code/image.h"
#include "code/names.h"

enum { CHAIN = 64, LISTED_MOST = 1 << 16 };

/* What the compiler and the C library put into every program, and what runs once. */
static bool is_furniture(const char *name)
{
	static const char *const names[] = {"main", "_start", "_init", "_fini", "frame_dummy",
		"register_tm_clones", "deregister_tm_clones", "__do_global_dtors_aux",
		"_dl_relocate_static_pie", "__libc_csu_init", "__libc_csu_fini", NULL};

	for (const char *const *known = names; *known; known++)
		if (str_equal(name, *known))
			return true;
	return str_ends(name, "@plt") || strstr(name, ".cold") || str_starts(name, "std::") ||
	       str_starts(name, "core::") || str_starts(name, "runtime.");
}

static bool is_wanted(
	struct names *names, const struct scope *scope, const struct names_frame *function)
{
	struct names_frame frames[CHAIN];
	unsigned count;

	if (!function->function || is_furniture(function->function))
		return false;
	count = names_find(names, function->function_addr, UINT64_MAX, frames, CHAIN);
	if (!count)
		return false;
	return !frames[count - 1].file || scope_has(scope, frames[count - 1].file);
}

static int by_size(const void *a, const void *b)
{
	const struct causal_function *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Parameters say nothing here, and the rest of a long name would be cut on its way: then the point
 * could not be found again by it. */
const char *causal_point_name(struct arena *arena, const char *function)
{
	size_t len = names_bare_length(function), most = CAUSAL_NAME_SIZE - 1;

	return arena_text(arena, function, len < most ? len : most);
}

int causal_functions_list(const char *path, const struct scope *scope, struct arena *arena,
	causal_function_vec *ret_functions, struct err *err)
{
	struct names_frame *listed = mem_new(LISTED_MOST, sizeof(*listed));
	struct image *image = NULL;
	struct names *names = NULL;
	const char *file = arena_copy(arena, path);
	unsigned count = 0;
	int r = image_open(path, &image, err);

	if (r >= 0)
		r = names_open(&(struct names_options){.path = path}, &names, err);
	if (r >= 0)
		count = names_functions(names, listed, LISTED_MOST);
	for (unsigned i = 0; i < count; i++) {
		struct causal_function function = {.addr = listed[i].function_addr,
			.bytes = listed[i].function_bytes,
			.point = {.kind = CAUSAL_UPROBE, .path = file}};

		if (!is_wanted(names, scope, &listed[i]) ||
			!causal_cheap_point(image, &listed[i], function.addr, &function.point))
			continue;
		function.point.name = causal_point_name(arena, listed[i].function);
		vec_push(ret_functions, function);
	}
	vec_sort(ret_functions, by_size);
	if (ret_functions->count > CAUSAL_FUNCTIONS_MAX)
		ret_functions->count = CAUSAL_FUNCTIONS_MAX;
	names_close(names);
	image_close(image);
	free(listed);
	return r;
}

/* Where a call that stands at these bytes leads; 0: it is none. */
static uint64_t call_target(
	enum image_machine machine, const unsigned char *at, size_t left, uint64_t addr)
{
	uint32_t word;
	int32_t by;

	if (machine == IMAGE_X86_64 && left >= 5 && (at[0] == 0xe8 || at[0] == 0xe9)) {
		memcpy(&by, at + 1, sizeof(by));
		return addr + 5 + (uint64_t)(int64_t)by;
	}
	if (machine != IMAGE_AARCH64 || left < 4 || addr % 4)
		return 0;
	memcpy(&word, at, sizeof(word));
	if ((word & 0x7c000000) != 0x14000000) /* b, bl */
		return 0;
	by = (int32_t)(word << 6) >> 4;
	return addr + (uint64_t)(int64_t)by;
}

void causal_functions_callers(const char *path, const struct causal_function *const *functions,
	uint32_t count, uint64_t *ret_callers)
{
	struct image *image = NULL;
	struct err ignored = {0};

	memset(ret_callers, 0, count * sizeof(*ret_callers));
	if (image_open(path, &image, &ignored) < 0)
		return;
	for (uint32_t i = 0; i < count && i < 64; i++) {
		struct image_bytes code =
			image_code(image, functions[i]->addr, (size_t)functions[i]->bytes);

		for (size_t at = 0; at < code.len; at++) {
			uint64_t target = call_target(image_machine(image), code.at + at,
				code.len - at, functions[i]->addr + at);

			for (uint32_t k = 0; target && k < count; k++)
				if (k != i && functions[k]->addr == target)
					ret_callers[k] |= 1ULL << i;
		}
	}
	image_close(image);
}
