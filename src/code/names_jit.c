/* names_jit.c - code that a running program made: perf-PID.map and jitdump.
 *
 * perf-PID.map is text, "START SIZE NAME" in hex, appended as code is made; a later line replaces
 * what it covers.  A jitdump (magic "JiTD") has records with times: code loaded, moved, and source
 * lines in front of the code they belong to.  Both lie where anybody may write, so the owner is
 * checked and nothing is trusted.  Entries may overlap in any way, and code is replaced over time;
 * they stand sorted by start with the highest end of each subtree beside them (an implicit interval
 * tree), so a question costs the logarithm plus the entries that really cover the address. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/sorted.h"
#include "names_parts.h"

enum {
	LINE_STEPS = 8, /* it is sorted later */
	RECORD_STEPS = 8,
	CODE_BYTES = 128, /* a piece of code and how it is found */
	JIT_MAGIC = 0x4a695444,
	JIT_MAGIC_SWAPPED = 0x4454694a,
	RECORD_LOAD = 0,
	RECORD_MOVE = 1,
	RECORD_LINES = 2,
	ELF_HEAD = 0x40,
};
#define JIT_LIMIT (UINT64_C(1) << 30)

struct jit_code {
	uint64_t low, high, from_ns, until_ns; /* until_ns: moved away; else UINT64_MAX */
	uint64_t index;			       /* jitdump's name for it */
	const char *linkage, *name;
	uint32_t order; /* in the file: the later one wins */
	uint32_t first_line, line_count;
};

struct jit_line {
	uint64_t addr;
	const char *file;
	uint32_t line;
};

struct jit {
	vec_of(struct jit_code) codes; /* by low once laid */
	uint64_t *high;		       /* of the subtree around each */
	vec_of(struct jit_line) lines;
	struct arena arena;
	struct quota quota;
};

/* A jitdump under way. */
struct dump {
	struct jit *jit;
	bool swapped;
	uint64_t lines_addr; /* of the code that `pending` lines belong to */
	uint32_t pending;    /* first of them in jit->lines */
	struct map by_index; /* code index -> place in codes */
};

static uint32_t dump_u32(const struct dump *dump, struct cursor *cursor)
{
	uint32_t value = cursor_u32(cursor);

	return dump->swapped ? __builtin_bswap32(value) : value;
}

static uint64_t dump_u64(const struct dump *dump, struct cursor *cursor)
{
	uint64_t value = cursor_u64(cursor);

	return dump->swapped ? __builtin_bswap64(value) : value;
}

static const char *text_keep(struct jit *jit, const char *text, size_t len)
{
	enum { NAME_LIMIT = 4096 };

	len = len < NAME_LIMIT ? len : NAME_LIMIT;
	return quota_take(&jit->quota, len) ? arena_text(&jit->arena, text, len) : "";
}

static void code_add(struct jit *jit, struct jit_code code, uint64_t size)
{
	if (!size || code.low + size < code.low || !quota_take(&jit->quota, CODE_BYTES))
		return;
	code.high = code.low + size;
	code.order = jit->codes.count;
	code.until_ns = UINT64_MAX;
	vec_push(&jit->codes, code);
}

/* V8 writes the addresses as they will be in the ELF file that perf makes of them, behind
 * its header; a function's first instruction has a line, so that shows. */
static void lines_attach(struct dump *dump, struct jit_code *code)
{
	uint32_t count = dump->jit->lines.count - dump->pending;
	struct jit_line *lines;
	bool behind_head = true;

	if (!count || dump->lines_addr != code->low)
		return;
	lines = &dump->jit->lines.at[dump->pending];
	for (uint32_t i = 0; i < count; i++)
		behind_head &= lines[i].addr >= code->low + ELF_HEAD;
	for (uint32_t i = 0; i < count && behind_head; i++)
		lines[i].addr -= ELF_HEAD;
	code->first_line = dump->pending;
	code->line_count = count;
	dump->pending = dump->jit->lines.count;
}

static void record_load(struct dump *dump, struct cursor *record, uint64_t time_ns)
{
	struct jit_code code = {.from_ns = time_ns};
	uint64_t size;
	const char *name;

	cursor_skip(record, 16); /* pid, tid, vma */
	code.low = dump_u64(dump, record);
	size = dump_u64(dump, record);
	code.index = dump_u64(dump, record);
	name = cursor_text(record);
	if (!name)
		return;
	code.linkage = text_keep(dump->jit, name, strlen(name));
	lines_attach(dump, &code);
	map_put(&dump->by_index, &code.index, sizeof(code.index), dump->jit->codes.count);
	code_add(dump->jit, code, size);
}

static bool line_fits(struct jit *jit)
{
	return quota_step(&jit->quota, LINE_STEPS) &&
	       quota_take(&jit->quota, sizeof(struct jit_line));
}

static void record_move(struct dump *dump, struct cursor *record, uint64_t time_ns)
{
	struct jit_code *old, code;
	uint64_t size, index, addr, was;
	uint32_t place;

	cursor_skip(record, 16);
	was = dump_u64(dump, record);
	addr = dump_u64(dump, record);
	size = dump_u64(dump, record);
	index = dump_u64(dump, record);
	if (record->broken || !map_get(&dump->by_index, &index, sizeof(index), &place) ||
		place >= dump->jit->codes.count)
		return;
	old = &dump->jit->codes.at[place];
	old->until_ns = time_ns;
	code = *old;
	code.low = addr;
	code.from_ns = time_ns;
	code.first_line = dump->jit->lines.count;
	code.line_count = 0;
	for (uint32_t i = 0; i < old->line_count && line_fits(dump->jit); i++) {
		struct jit_line line = dump->jit->lines.at[old->first_line + i];

		line.addr += addr - was;
		vec_push(&dump->jit->lines, line);
		code.line_count++;
	}
	dump->pending = dump->jit->lines.count;
	map_put(&dump->by_index, &index, sizeof(index), dump->jit->codes.count);
	code_add(dump->jit, code, size);
}

static void record_lines(struct dump *dump, struct cursor *record)
{
	const char *file = NULL;
	uint64_t count;

	dump->jit->lines.count = dump->pending; /* lines that no code followed */
	dump->lines_addr = dump_u64(dump, record);
	count = dump_u64(dump, record);
	for (uint64_t i = 0; i < count && !record->broken && line_fits(dump->jit); i++) {
		struct jit_line line = {.addr = dump_u64(dump, record)};
		const char *name;

		line.line = dump_u32(dump, record);
		dump_u32(dump, record); /* discriminator */
		name = cursor_text(record);
		if (!name)
			break;
		if ((unsigned char)name[0] != 0xff || name[1]) /* else: the same file again */
			if (!file || !str_equal(file, name))
				file = text_keep(dump->jit, name, strlen(name));
		line.file = file;
		vec_push(&dump->jit->lines, line);
	}
}

static void dump_read(struct jit *jit, const char *bytes, size_t len)
{
	struct image_bytes all = {(const uint8_t *)bytes, len, 0};
	struct cursor cursor = cursor_over(all, 0);
	struct dump dump = {.jit = jit, .swapped = cursor_u32(&cursor) == JIT_MAGIC_SWAPPED};
	uint32_t head;

	cursor_skip(&cursor, 4); /* version */
	head = dump_u32(&dump, &cursor);
	cursor = cursor_over(all, head);
	while (cursor_left(&cursor) >= 16 && quota_step(&jit->quota, RECORD_STEPS)) {
		struct cursor record = cursor;
		uint32_t kind = dump_u32(&dump, &record), size = dump_u32(&dump, &record);
		uint64_t time_ns = dump_u64(&dump, &record);

		if (size < 16 || size > cursor_left(&cursor))
			break; /* cut in the middle: the program was killed, or still writes */
		record.end = cursor.at + size;
		cursor_skip(&cursor, size);
		if (kind == RECORD_LOAD)
			record_load(&dump, &record, time_ns);
		else if (kind == RECORD_MOVE)
			record_move(&dump, &record, time_ns);
		else if (kind == RECORD_LINES)
			record_lines(&dump, &record);
	}
	map_done(&dump.by_index);
}

static void map_line(struct jit *jit, const char *line, size_t len)
{
	struct jit_code code = {0};
	char numbers[48] = "", *end;
	uint64_t size;

	memcpy(numbers, line, len < sizeof(numbers) ? len : sizeof(numbers) - 1);
	if (strspn(numbers, "0123456789abcdefABCDEFxX") == 0)
		return;
	code.low = strtoull(numbers, &end, 16);
	if (*end != ' ')
		return;
	size = strtoull(end, &end, 16);
	if (*end != ' ' || (size_t)(end - numbers) + 1 >= len)
		return;
	end++;
	code.linkage = text_keep(jit, line + (end - numbers), len - (size_t)(end - numbers));
	code_add(jit, code, size);
}

static void map_read(struct jit *jit, const char *bytes, size_t len)
{
	while (len && quota_step(&jit->quota, RECORD_STEPS)) {
		const char *end = memchr(bytes, '\n', len);
		size_t line = end ? (size_t)(end - bytes) : len;

		if (!end)
			break; /* the last line is still being written */
		map_line(jit, bytes, line);
		bytes += line + 1;
		len -= line + 1;
	}
}

static int code_order(const void *left, const void *right)
{
	const struct jit_code *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The subtree of [first, end) hangs at its middle. */
static uint64_t tree_build(struct jit *jit, uint32_t first, uint32_t end)
{
	uint32_t middle = first + (end - first) / 2;
	uint64_t high, other;

	if (first >= end)
		return 0;
	high = jit->codes.at[middle].high;
	other = tree_build(jit, first, middle);
	high = other > high ? other : high;
	other = tree_build(jit, middle + 1, end);
	jit->high[middle] = other > high ? other : high;
	return jit->high[middle];
}

struct question {
	uint64_t addr, time_ns;
	struct jit_code *best;
};

static void tree_ask(struct jit *jit, uint32_t first, uint32_t end, struct question *question)
{
	while (first < end && quota_step(&jit->quota, 1)) {
		uint32_t middle = first + (end - first) / 2;
		struct jit_code *code = &jit->codes.at[middle];

		if (jit->high[middle] <= question->addr)
			return;
		tree_ask(jit, first, middle, question);
		if (code->low > question->addr)
			return;
		if (question->addr < code->high && code->from_ns <= question->time_ns &&
			(question->time_ns < code->until_ns || code->until_ns == UINT64_MAX) &&
			(!question->best || code->order > question->best->order))
			question->best = code;
		first = middle + 1;
	}
}

static struct jit_code *code_find(struct jit *jit, uint64_t addr, uint64_t time_ns)
{
	struct question question = {addr, time_ns, NULL};

	tree_ask(jit, 0, jit->codes.count, &question);
	return question.best;
}

int jit_read(struct jit **ret_jit, const struct names_options *options, const char *bytes,
	size_t len, struct err *err)
{
	struct jit *jit = mem_new(1, sizeof(*jit));
	uint32_t magic = 0;

	jit->quota = quota_of(len, options->interrupted);
	if (len >= sizeof(magic))
		memcpy(&magic, bytes, sizeof(magic));
	if (magic == JIT_MAGIC || magic == JIT_MAGIC_SWAPPED)
		dump_read(jit, bytes, len);
	else
		map_read(jit, bytes, len);
	if (!jit->codes.count) {
		jit_close(jit);
		return err_set(err, ERR_UNAVAILABLE, ENODATA, "%s names no code", options->path);
	}
	vec_sort(&jit->codes, code_order);
	vec_foreach (struct jit_code, code, &jit->codes)
		if (code->line_count)
			qsort(jit->lines.at + code->first_line, code->line_count,
				sizeof(*jit->lines.at), sorted_compare);
	jit->high = mem_new(jit->codes.count, sizeof(*jit->high));
	tree_build(jit, 0, jit->codes.count);
	*ret_jit = jit;
	return 0;
}

/* The last line of the code at or before `addr`. */
static const struct jit_line *line_find(
	const struct jit *jit, const struct jit_code *code, uint64_t addr)
{
	uint32_t low = code->first_line, high = low + code->line_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (jit->lines.at[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > code->first_line ? &jit->lines.at[low - 1] : NULL;
}

static const char *code_name(struct jit *jit, struct jit_code *code)
{
	str_auto struct str text = {0};

	if (!code->name) {
		if (!names_demangle_within(&jit->quota, code->linkage, &text))
			return code->linkage;
		code->name = arena_text(&jit->arena, str_text(&text), text.len);
	}
	return code->name;
}

static void code_frame(
	struct jit *jit, struct jit_code *code, uint64_t addr, struct names_frame *ret_frame)
{
	const struct jit_line *line = line_find(jit, code, addr);

	*ret_frame = (struct names_frame){.function = code_name(jit, code),
		.linkage = code->linkage,
		.file = line ? line->file : NULL,
		.line = line ? line->line : 0,
		.function_addr = code->low,
		.function_bytes = code->high - code->low};
}

unsigned jit_find(struct jit *jit, uint64_t addr, uint64_t time_ns, struct names_frame *ret_frame)
{
	struct jit_code *code = code_find(jit, addr, time_ns);

	if (!code)
		return 0;
	code_frame(jit, code, addr, ret_frame);
	return 1;
}

bool jit_search(struct jit *jit, const char *name, struct names_frame *ret_frame)
{
	struct jit_code *best = NULL;

	vec_foreach (struct jit_code, code, &jit->codes)
		if ((str_equal(code->linkage, name) || str_equal(code_name(jit, code), name)) &&
			(!best || code->order > best->order))
			best = code;
	if (best)
		code_frame(jit, best, best->low, ret_frame);
	return best != NULL;
}

unsigned jit_lines(
	struct jit *jit, uint64_t addr, uint64_t len, struct names_line *ret_lines, unsigned max)
{
	const struct jit_code *code = code_find(jit, addr, UINT64_MAX);
	unsigned count = 0;

	for (uint32_t i = 0; code && i < code->line_count && count < max; i++) {
		const struct jit_line *line = &jit->lines.at[code->first_line + i];

		if (line->addr >= addr && line->addr - addr < len)
			ret_lines[count++] =
				(struct names_line){line->addr, line->file, line->line};
	}
	return count;
}

struct quota *jit_quota(struct jit *jit)
{
	return &jit->quota;
}

void jit_close(struct jit *jit)
{
	if (!jit)
		return;
	vec_done(&jit->codes);
	vec_done(&jit->lines);
	free(jit->high);
	arena_done(&jit->arena);
	free(jit);
}

static int owner_check(uint32_t found, const char *path, uint32_t owner, struct err *err)
{
	if (found == owner || found == 0)
		return 0;
	err_set(err, ERR_UNAVAILABLE, EPERM,
		"%s belongs to user %u, not to user %u who runs the program", path, found, owner);
	err_hint(err, "anyone can write there: delete the file, or change its owner");
	return -EPERM;
}

int names_open_jit(const struct names_options *options, uint32_t owner, struct names **ret_names,
	struct err *err)
{
	const char *path = options->path;
	struct stat status;
	io_auto int fd = io_open_regular(AT_FDCWD, path, O_NOFOLLOW, &status);
	str_auto struct str text = {0};
	char self[64];
	struct jit *jit = NULL;
	int result;

	if (fd < 0)
		return err_set(
			err, ERR_UNAVAILABLE, -fd, "%s cannot be read: %s", path, err_words(-fd));
	result = owner_check(status.st_uid, path, owner, err);
	if (result < 0)
		return result;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd); /* the file whose owner was checked */
	result = io_read(self, JIT_LIMIT, &text, err);
	if (result >= 0)
		result = jit_read(&jit, options, str_text(&text), text.len, err);
	if (result < 0 || !jit)
		return result;
	*ret_names = mem_new(1, sizeof(**ret_names));
	(*ret_names)->jit = jit;
	(*ret_names)->quota = jit_quota(jit);
	str_addf(&(*ret_names)->basis, "JIT code of %s", path);
	return 0;
}
