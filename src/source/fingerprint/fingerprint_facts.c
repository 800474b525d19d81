/* fingerprint_facts.c - see fingerprint_facts.h.
 *
 * Every file is one open, read and close (about 4 us for sysfs, 10 us for procfs), so the cost of
 * the fingerprint is the number of files; what is read per cpu is kept to a handful for that
 * reason.  Values become printable ASCII here, at the one place all of them pass, so that a field
 * reads back from JSON as the same bytes. */
#include "fingerprint_facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/sha256.h"
#include "source/emit.h"

enum { VALUE_LONGEST = 400, FILE_LARGEST = 1 << 20, HASH_DIGITS = 16, FOLD_LONGEST = 8 };

static void facts_emit(
	struct facts *facts, const char *name, enum wire_field_state state, const char *value)
{
	int r = emit_field(facts->sink, facts->group, name, state, value);

	if (r < 0 && !facts->failure)
		facts->failure = r;
}

static void add_hash(struct str *out, const char *bytes, size_t len)
{
	char hex[SHA256_TEXT];
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add(&sha, bytes, len);
	sha256_text(&sha, hex);
	str_add_bytes(out, hex, HASH_DIGITS);
}

void facts_put(struct facts *facts, const char *name, const char *value)
{
	str_auto struct str clean = {0};
	size_t len;

	value += strspn(value, " \t\n");
	if (str_equal(value, "(null)")) /* how the kernel prints a mask that was never made */
		value = "";
	len = strlen(value);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)value[i];

		if (c == '\n')
			str_add(&clean, "; ");
		else if (c == '\t')
			str_add_char(&clean, ' ');
		else
			str_add_char(&clean, c < 0x20 || c > 0x7e ? '?' : (char)c);
	}
	if (clean.len > VALUE_LONGEST) {
		clean.len = VALUE_LONGEST;
		str_addf(&clean, "... (%zu bytes, hash ", len);
		add_hash(&clean, value, len);
		str_add_char(&clean, ')');
	}
	facts_emit(facts, name, WIRE_FIELD_VALUE, clean.len ? clean.at : "none");
}

void facts_putf(struct facts *facts, const char *name, const char *format, ...)
{
	str_auto struct str value = {0};
	va_list args;

	va_start(args, format);
	str_addv(&value, format, args);
	va_end(args);
	facts_put(facts, name, str_text(&value));
}

void facts_put_missing(struct facts *facts, const char *name, int error)
{
	bool denied = error == -EACCES || error == -EPERM;

	facts_emit(facts, name, denied ? WIRE_FIELD_DENIED : WIRE_FIELD_ABSENT, NULL);
}

void facts_put_hash(struct facts *facts, const char *name, const char *bytes, size_t len)
{
	str_auto struct str hash = {0};

	add_hash(&hash, bytes, len);
	facts_put(facts, name, hash.at);
}

static void trim_end(struct str *text)
{
	while (text->len && strchr(" \t\n", text->at[text->len - 1]))
		text->at[--text->len] = '\0';
}

int facts_read_start(struct facts *facts, const char *path, struct str *ret_text)
{
	io_auto int fd = openat(facts->root_fd, path, O_RDONLY | O_CLOEXEC);
	char piece[16384];
	ssize_t got = fd < 0 ? -1 : read(fd, piece, sizeof(piece));

	str_clear(ret_text);
	if (got < 0)
		return -errno;
	str_add_bytes(ret_text, piece, (size_t)got);
	return (int)got;
}

/* A file of sysfs is one record of at most a page and comes whole in one read(); asking again for
 * its end would be a quarter of all our system calls. */
int facts_read(struct facts *facts, const char *path)
{
	int r;

	str_clear(&facts->text);
	if (str_starts(path, "sys/"))
		r = facts_read_start(facts, path, &facts->text);
	else
		r = io_read_at(facts->root_fd, path, FILE_LARGEST, &facts->text);
	if (r < 0)
		return r;
	trim_end(&facts->text);
	return (int)facts->text.len;
}

int facts_read_number(struct facts *facts, const char *path, long long *ret_value)
{
	int r = facts_read(facts, path);
	char *end;
	long long value;

	if (r < 0)
		return r;
	value = strtoll(str_text(&facts->text), &end, 10);
	if (end == str_text(&facts->text))
		return -ENODATA;
	*ret_value = value;
	return 0;
}

bool facts_exists(const struct facts *facts, const char *path)
{
	return faccessat(facts->root_fd, path, F_OK, 0) == 0;
}

static int name_list_compare(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

void facts_list(
	const struct facts *facts, const char *path, const char *prefix, struct name_list *ret)
{
	int fd = openat(facts->root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	*ret = (struct name_list){0};
	if (!folder) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.' && str_starts(entry->d_name, prefix))
			vec_push(&ret->at, mem_copy_text(entry->d_name, strlen(entry->d_name)));
	closedir(folder);
	vec_sort(&ret->at, name_list_compare);
}

void name_list_done(struct name_list *names)
{
	vec_foreach (char *, name, &names->at)
		free(*name);
	vec_done(&names->at);
}

void facts_put_file(struct facts *facts, const char *name, const char *path)
{
	int r = facts_read(facts, path);

	if (r < 0)
		facts_put_missing(facts, name, r);
	else
		facts_put(facts, name, str_text(&facts->text));
}

void facts_put_files(struct facts *facts, const struct fact_file *files)
{
	for (; files->name; files++)
		facts_put_file(facts, files->name, files->path);
}

void facts_put_choice(struct facts *facts, const char *name, const char *path)
{
	int r = facts_read(facts, path);
	const char *from, *to = NULL;

	if (r < 0) {
		facts_put_missing(facts, name, r);
		return;
	}
	from = strpbrk(str_text(&facts->text), "[(");
	if (from)
		to = strpbrk(from, "])");
	if (to)
		facts_putf(facts, name, "%.*s", (int)(to - from - 1), from + 1);
	else
		facts_put(facts, name, str_text(&facts->text));
}

bool line_value(const char *text, const char *key, struct str *ret_value)
{
	size_t len = strlen(key);

	str_clear(ret_value);
	for (const char *line = text; *line; line += *line == '\n') {
		size_t end = strcspn(line, "\n"), at = len;

		if (end > len && strncmp(line, key, len) == 0) {
			at += strspn(line + at, " \t");
			if (line[at] == ':') {
				at++;
				at += strspn(line + at, " \t");
				str_add_bytes(ret_value, line + at, end - at);
				trim_end(ret_value);
				return true;
			}
		}
		line += end;
	}
	return false;
}

void facts_put_line(struct facts *facts, const char *name, const struct str *text, const char *key)
{
	str_auto struct str value = {0};

	if (line_value(str_text(text), key, &value))
		facts_put(facts, name, str_text(&value));
	else
		facts_put_missing(facts, name, -ENOENT);
}

void cpus_add(struct cpus *cpus, unsigned cpu)
{
	if (cpu < CPUS_LIMIT)
		cpus->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

bool cpus_has(const struct cpus *cpus, unsigned cpu)
{
	return cpu < CPUS_LIMIT && (cpus->bits[cpu / 64] >> (cpu % 64) & 1);
}

void cpus_parse(const char *text, struct cpus *ret_cpus)
{
	*ret_cpus = (struct cpus){0};
	while (*text) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < CPUS_LIMIT; first++)
			cpus_add(ret_cpus, (unsigned)first);
		text = *end ? end + 1 : end;
	}
}

unsigned cpus_count(const struct cpus *cpus)
{
	unsigned count = 0;

	for (unsigned i = 0; i < CPUS_LIMIT / 64; i++)
		count += (unsigned)__builtin_popcountll(cpus->bits[i]);
	return count;
}

int cpus_next(const struct cpus *cpus, int after)
{
	for (unsigned cpu = (unsigned)(after + 1); cpu < CPUS_LIMIT; cpu++) {
		uint64_t left = cpus->bits[cpu / 64] >> (cpu % 64);

		if (left)
			return (int)(cpu + (unsigned)__builtin_ctzll(left));
		cpu |= 63;
	}
	return -1;
}

void cpus_print(const struct cpus *cpus, struct str *out)
{
	const char *comma = "";

	for (int cpu = cpus_next(cpus, -1); cpu >= 0; cpu = cpus_next(cpus, cpu)) {
		int first = cpu;

		while (cpus_has(cpus, (unsigned)cpu + 1))
			cpu++;
		str_addf(out, "%s%d", comma, first);
		if (cpu > first)
			str_addf(out, "-%d", cpu);
		comma = ",";
	}
}

/* The distinct values of a file over the cpus, in the order they were met. */
struct fold_row {
	char *value;
	struct cpus cpus;
};

struct fold {
	vec_of(struct fold_row) rows;
};

static void fold_add(struct fold *fold, const char *value, unsigned cpu)
{
	struct fold_row *row = NULL;

	for (uint32_t i = 0; i < fold->rows.count && !row; i++)
		if (str_equal(fold->rows.at[i].value, value))
			row = &fold->rows.at[i];
	if (!row) {
		vec_push(
			&fold->rows, (struct fold_row){mem_copy_text(value, strlen(value)), {{0}}});
		row = &fold->rows.at[fold->rows.count - 1];
	}
	cpus_add(&row->cpus, cpu);
}

static void fold_print(const struct fold *fold, struct str *out)
{
	vec_foreach (const struct fold_row, row, &fold->rows) {
		str_addf(out, "%s%s (cpu ", out->len ? ", " : "", row->value);
		cpus_print(&row->cpus, out);
		str_add_char(out, ')');
	}
}

void facts_put_per_cpu(struct facts *facts, const char *name, const char *file)
{
	struct fold fold = {0};
	str_auto struct str value = {0};
	int r = -ENOENT;

	for (int cpu = cpus_next(&facts->online, -1); cpu >= 0;
		cpu = cpus_next(&facts->online, cpu)) {
		char path[128];

		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/%s", cpu, file);
		r = facts_read(facts, path);
		if (r < 0 && !fold.rows.count)
			break; /* what the first cpu lacks is not asked 255 times more */
		fold_add(&fold, r < 0 ? "absent" : str_text(&facts->text), (unsigned)cpu);
	}
	fold_print(&fold, &value);
	if (!fold.rows.count)
		facts_put_missing(facts, name, r);
	else if (fold.rows.count == 1)
		facts_putf(facts, name, "%s (all cpus)", fold.rows.at[0].value);
	else if (fold.rows.count > FOLD_LONGEST)
		facts_putf(facts, name, "%u different values: %s", fold.rows.count, value.at);
	else
		facts_put(facts, name, value.at);
	vec_foreach (struct fold_row, row, &fold.rows)
		free(row->value);
	vec_done(&fold.rows);
}

/* 36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/sda1 rw,errors=continue */
bool mount_parse(char *line, struct mount *ret_mount)
{
	const char *words[6];
	char *rest = line, *tail = strstr(line, " - ");

	if (!tail)
		return false;
	*tail = '\0';
	tail += 3;
	for (unsigned i = 0; i < 6; i++) {
		words[i] = strsep(&rest, " ");
		if (!words[i])
			return false;
	}
	ret_mount->device = words[2];
	ret_mount->root = words[3];
	ret_mount->point = words[4];
	ret_mount->options = words[5];
	ret_mount->type = strsep(&tail, " ");
	ret_mount->source = strsep(&tail, " ");
	ret_mount->super = tail ? tail : "";
	return ret_mount->type && ret_mount->source;
}
