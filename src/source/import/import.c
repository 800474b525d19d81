/* import.c - which format is it: a table, asked in order, by content and never by file name.
 *
 * Files with a mark of their own are asked for first, text that looks like anything last.  A plain
 * file is mapped, and what was read of it is let go every thousand samples, so that a recording of
 * gigabytes costs only the pages in use; a pipe is read whole, because detection may have to look
 * past a program's own output. */
#include "source/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/str.h"
#include "import_format.h"
#include "source/emit.h"

enum {
	IMPORT_PIPE_LIMIT = 1 << 30,
	LET_GO_SAMPLES = 1024,
	FAULT_AROUND = 1 << 16,
	LINE_STEPS = 4,
	PIPE_PIECE = 1 << 16,
};

static const struct import_format *const formats[] = {
	&import_perf_data,
	&import_pprof,
	&import_callgrind,
	&import_coz,
	&import_coz_json,
	&import_events,
	&import_perf_stat_json,
	&import_hyperfine,
	&import_gbench,
	&import_perf_script,
	&import_folded,
	&import_perf_stat_csv, /* looks at every line for one of its own */
	NULL,
};

struct import_reason {
	const char *key;
	const char *one, *many; /* what is lost, worth a warning; NULL: no loss */
};

static const struct import_reason reasons[] = {
	[IMPORT_FOREIGN] = {"foreign_lines", "line of another kind", "lines of another kind"},
	[IMPORT_MALFORMED] = {"malformed_lines", "malformed line", "malformed lines"},
	[IMPORT_METRIC] = {"metric_lines", NULL, NULL},
	[IMPORT_RANGE] = {"values_out_of_range", "value out of range", "values out of range"},
	[IMPORT_TOO_MANY] = {"events_beyond_limit",
		"line or sample of events beyond the first 4096",
		"lines or samples of events beyond the first 4096"},
	[IMPORT_TRUNCATED] = {"truncated_lines", "line cut off at the end of the file",
		"lines cut off at the end of the file"},
	[IMPORT_SAMPLE_MALFORMED] = {"malformed_samples", "malformed sample", "malformed samples"},
	[IMPORT_SAMPLE_NO_EVENT] = {"samples_of_unknown_event",
		"sample of an event that the file does not describe",
		"samples of events that the file does not describe"},
	[IMPORT_SAMPLE_EMPTY] = {"samples_without_value", NULL, NULL},
	[IMPORT_STACK_32] = {"user_stacks_of_32_bit", "user stack of a 32-bit program",
		"user stacks of 32-bit programs"},
	[IMPORT_RECORD_MALFORMED] = {"malformed_records", "malformed record", "malformed records"},
	[IMPORT_RECORD_UNKNOWN] = {"unknown_records", "record of unknown type",
		"records of unknown type"},
	[IMPORT_AUX] = {"aux_records", "record of a hardware trace (AUX)",
		"records of hardware traces (AUX)"},
	[IMPORT_SWITCH] = {"switch_records", NULL, NULL},
	[IMPORT_NAMESPACE] = {"namespace_records", NULL, NULL},
	[IMPORT_CGROUP] = {"cgroup_records", NULL, NULL},
	[IMPORT_KSYMBOL] = {"ksymbol_records", NULL, NULL},
	[IMPORT_BPF] = {"bpf_records", NULL, NULL},
	[IMPORT_TEXT_POKE] = {"text_poke_records", NULL, NULL},
	[IMPORT_DATA_MAP] = {"data_mappings", NULL, NULL},
	[IMPORT_READ] = {"read_records", NULL, NULL},
};

bool import_line_next(
	struct quota *quota, struct import_text *rest, struct import_text *line, bool *ret_whole)
{
	const char *end = rest->len ? memchr(rest->at, '\n', rest->len) : NULL;
	size_t len = end ? (size_t)(end - rest->at) : rest->len;

	if (!rest->len || !quota_step(quota, LINE_STEPS + len / IMPORT_BYTES_STEP))
		return false;
	*line = (struct import_text){rest->at, len};
	*ret_whole = end;
	rest->at += len + (end != NULL);
	rest->len -= len + (end != NULL);
	if (line->len && line->at[line->len - 1] == '\r')
		line->len--;
	return true;
}

/* Measured with jansson 2.14: an empty object takes 240 bytes, an empty array 144, a number 32 and
 * its place 8, a text 32 and its bytes. */
bool import_json_fits(struct quota *quota, struct import_text text)
{
	enum { OBJECT = 256, ARRAY = 160, VALUE = 64 };
	uint64_t bytes = text.len;

	for (size_t i = 0; i < text.len; i++)
		bytes += text.at[i] == '{'   ? OBJECT
			 : text.at[i] == '[' ? ARRAY
			 : text.at[i] == ',' ? VALUE
					     : 0;
	if (!quota_step(quota, text.len) || !quota_take(quota, bytes))
		return false;
	quota_give(quota, bytes);
	return true;
}

bool import_line_is_empty(struct import_text line)
{
	size_t i = 0;

	while (i < line.len && (line.at[i] == ' ' || line.at[i] == '\t'))
		i++;
	return i == line.len || line.at[i] == '#';
}

const char *import_skip_name(enum import_skip skip)
{
	return reasons[skip].key;
}

void import_damage(struct import_report *report, const char *format, ...)
{
	va_list args;

	if (*report->damage)
		return;
	va_start(args, format);
	vsnprintf(report->damage, sizeof(report->damage), format, args);
	va_end(args);
}

void import_core_split(struct arena *arena, const char **name, const char **core)
{
	const char *slash = strchr(*name, '/'), *last = strrchr(*name, '/');
	int inner;

	if (!str_starts(*name, "cpu_") || !slash || last == slash)
		return;
	*core = arena_text(arena, *name, (size_t)(slash - *name));
	inner = (int)(last - slash) - 1;
	if (memchr(slash, '=', (size_t)(last - slash)) || !inner)
		return;
	*name = arena_format(arena, last[1] ? "%.*s:%s" : "%.*s%s", inner, slash + 1,
		last + 1 + (last[1] == ':'));
}

/* One warning for everything that holds a loss. */
static int note_skipped(const struct import_report *report, const struct wire_sink *sink)
{
	str_auto struct str what = {0}, text = {0};
	uint64_t lost = 0;

	for (unsigned i = 0; i < IMPORT_SKIPS; i++) {
		uint64_t count = report->skipped[i];

		if (!reasons[i].one || !count)
			continue;
		str_addf(&what, "%s%llu %s", lost ? ", " : "", (unsigned long long)count,
			count == 1 ? reasons[i].one : reasons[i].many);
		lost += count;
	}
	if (!lost)
		return 0;
	if (report->lines)
		str_addf(&text, "%llu of %llu lines ", (unsigned long long)lost,
			(unsigned long long)report->lines);
	str_addf(&text, "not used: %s", what.at);
	return emit_note(sink, report->lines ? "import-lines-skipped" : "import-records-skipped",
		str_text(&text),
		report->skipped[IMPORT_TRUNCATED] ? "the file ends early: was perf still writing?"
						  : NULL);
}

static int note_damage(const struct import_report *report, const struct wire_sink *sink)
{
	bool runs = report->holds == IMPORT_BENCHMARK;
	str_auto struct str text = {0};

	if (!*report->damage)
		return 0;
	str_addf(&text, "the file is damaged: %s; kept the %llu %s before that", report->damage,
		(unsigned long long)(runs ? report->executions : report->samples),
		runs ? "runs" : "samples");
	return emit_note(sink, "import-damaged", str_text(&text),
		"shares and totals cover only what was kept; record again for the rest");
}

/* A file that takes too much is read up to there. */
static int note_stopped(
	const char *name, struct import_report *report, const struct wire_sink *sink)
{
	str_auto struct str text = {0};

	if (quota_is_left(report->quota))
		return 0;
	report->stopped = true;
	quota_tell(report->quota, name, &text);
	return emit_note(sink, "file-too-costly", str_text(&text), quota_hint);
}

static int format_unknown(struct import_text text, const char *name, struct err *err)
{
	static const char human[] = "Performance counter stats for";

	err_set(err, ERR_USAGE, EINVAL, text.len ? "%s: unknown file format" : "%s is empty", name);
	if (text.len && memmem(text.at, text.len, human, strlen(human)))
		err_hint(err,
			"this is perf stat's output for people; record with `perf stat -j` or "
			"`perf stat -x,`");
	else
		err_hint(err, "supported: perf.data, perf script text, folded stacks, pprof, "
			      "callgrind.out, cachegrind.out, profile.coz, perf stat -j and -x "
			      "SEPARATOR, JSON of hyperfine and Google Benchmark, and logs with "
			      "perf.profile.* events");
	return -EINVAL;
}

static int format_read(const struct import_format *format, struct import_text text,
	const struct wire_sink *sink, struct import_report *report)
{
	int r;

	report->kind = format->kind;
	report->holds = format->holds;
	r = format->read(text, sink, report);
	if (r == 0)
		r = note_damage(report, sink);
	return r < 0 ? r : note_skipped(report, sink);
}

static bool is_interrupted(const struct quota *quota)
{
	return quota->end == QUOTA_INTERRUPTED;
}

static int say_interrupted(struct err *err)
{
	return err_set(err, ERR_INTERRUPTED, EINTR, "interrupted; nothing was imported");
}

/* On report->quota. */
static int text_read(struct import_text text, const char *name, const struct wire_sink *sink,
	struct import_report *report, struct err *err)
{
	struct quota *quota = report->quota;
	int r;

	for (const struct import_format *const *format = formats; *format; format++) {
		if (!(*format)->detect(text, quota))
			continue;
		r = format_read(*format, text, sink, report);
		if (r == 0 && !is_interrupted(quota))
			r = note_stopped(name, report, sink);
		if (is_interrupted(quota))
			return say_interrupted(err);
		if (r < 0)
			return err_set(
				err, ERR_USAGE, -r, "cannot import %s: %s", name, err_words(-r));
		if (*report->damage && !report->samples && !report->executions) {
			err_set(err, ERR_USAGE, EINVAL, "%s (%s) has nothing to import: %s", name,
				report->kind, report->damage);
			err_hint(err, "copy it again from where it was recorded, or record again");
			return -EINVAL;
		}
		report->reached = NULL;
		report->quota = NULL;
		return 0;
	}
	return is_interrupted(quota) ? say_interrupted(err) : format_unknown(text, name, err);
}

int import_bytes(const char *bytes, size_t len, const char *name, const struct wire_sink *sink,
	struct import_report *ret_report, struct err *err)
{
	struct quota quota = quota_of(len, NULL);
	struct import_report report = {.quota = &quota};
	int r = text_read((struct import_text){bytes, len}, name, sink, &report, err);

	if (r == 0)
		*ret_report = report;
	return r;
}

/* 0, or -ENODEV when it is no plain file that can be mapped.  Whoever shortens the file meanwhile
 * ends us (SIGBUS), as with every reader that maps. */
static int file_map(const char *path, struct import_text *ret_text)
{
	struct stat stat;
	io_auto int fd = io_open_regular(AT_FDCWD, path, 0, &stat);
	void *at;

	if (fd < 0 || stat.st_size <= 0)
		return -ENODEV;
	at = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return -ENODEV;
	*ret_text = (struct import_text){at, (size_t)stat.st_size};
	return 0;
}

/* A sink before the caller's: what was read of the mapping need not stay in memory.  Whatever is
 * read again comes back from the page cache.  Only where the reader was lately is let go, because
 * each call walks every page it is given: with all of the mapping, the cost would grow with the
 * square of the file.  perf.data hands samples on up to two rounds after it read them, so the last
 * three places that the reader had reached are remembered. */
struct letting_go {
	const struct wire_sink *sink;
	struct import_text mapped;
	struct import_report report;
	uint64_t samples;
	size_t reached[3]; /* bytes, the oldest first */
};

static int letting_go_take(void *context, const struct wire_record *record)
{
	const struct wire_sink *sink = ((const struct letting_go *)context)->sink;

	return sink->take(sink->context, record);
}

static void letting_go_release(struct letting_go *file)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)file->mapped.at;
	size_t offset = ((uintptr_t)file->report.reached - start) & ~(page - 1), first;

	if (!file->report.reached || offset > file->mapped.len) /* unpacked elsewhere */
		return;
	if (offset > file->reached[2]) {
		file->reached[0] = file->reached[1];
		file->reached[1] = file->reached[2];
		file->reached[2] = offset;
	}
	/* A fault maps the pages around it too, also those before. */
	first = file->reached[0] < FAULT_AROUND ? 0 : file->reached[0] - FAULT_AROUND;
	madvise((void *)(start + first), file->reached[2] - first, MADV_DONTNEED);
}

static int letting_go_take_sample(void *context, const struct wire_sample *sample)
{
	struct letting_go *file = context;

	if (++file->samples % LET_GO_SAMPLES == 0)
		letting_go_release(file);
	return file->sink->take_sample ? file->sink->take_sample(file->sink->context, sample) : 0;
}

/* What a pipe gives, up to its end. */
static int pipe_read(const char *path, struct quota *quota, struct str *text, struct err *err)
{
	struct interrupt now = {0};
	io_auto int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	mem_auto char *piece = mem_new(1, PIPE_PIECE);
	ssize_t got = fd < 0 ? 0 : 1;
	int r = fd < 0 ? -errno : 0;

	while (got && r == 0) {
		got = read(fd, piece, PIPE_PIECE);
		if (got < 0 && errno != EINTR)
			r = -errno;
		str_add_bytes(text, piece, got > 0 ? (size_t)got : 0);
		if (text->len > IMPORT_PIPE_LIMIT)
			r = -EFBIG;
		now = interrupt_now(quota->interrupted);
		if (now.count > quota->seen + now.from_terminal)
			return say_interrupted(err);
	}
	if (r < 0)
		return io_read_failed(path, IMPORT_PIPE_LIMIT, r, err);
	*quota = quota_of(text->len, quota->interrupted);
	quota->seen = now.count;
	return 0;
}

int import_file(const char *path, struct quota *quota, const struct wire_sink *sink,
	struct import_report *ret_report, struct err *err)
{
	bool is_stdin = str_equal(path, "-");
	const char *name = is_stdin ? "stdin" : path, *open_path = is_stdin ? "/dev/stdin" : path;
	str_auto struct str text = {0};
	struct letting_go file = {.sink = sink};
	struct wire_sink before = {letting_go_take, letting_go_take_sample, &file};
	unsigned seen = quota->seen;
	int r;

	/* A shell's redirection may stand in the middle of the file, so stdin is always read. */
	if (!is_stdin && file_map(path, &file.mapped) == 0) {
		*quota = quota_of(file.mapped.len, quota->interrupted);
		quota->seen = seen;
		file.report.quota = quota;
		r = text_read(file.mapped, name, &before, &file.report, err);
		munmap((void *)(uintptr_t)file.mapped.at, file.mapped.len);
		if (r == 0)
			*ret_report = file.report;
		return r;
	}
	r = pipe_read(open_path, quota, &text, err);
	if (r < 0)
		return r;
	file.report.quota = quota;
	r = text_read(
		(struct import_text){str_text(&text), text.len}, name, sink, &file.report, err);
	if (r == 0)
		*ret_report = file.report;
	return r;
}
