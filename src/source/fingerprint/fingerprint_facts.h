/* fingerprint_facts.h - private to the fingerprint: reading small files, writing fields.
 *
 * Paths are relative to the root ("proc/loadavg"), so that a recorded machine reads like this one.
 * Nothing here fails: a file that is not there becomes an absent field; only a sink that refuses
 * is remembered in `failure`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

struct wire_sink;

enum { CPUS_LIMIT = 8192 }; /* the largest CONFIG_NR_CPUS of x86-64 */

struct cpus {
	uint64_t bits[CPUS_LIMIT / 64];
};

struct facts {
	const struct wire_sink *sink;
	int root_fd;
	bool recorded; /* a recorded machine: no system calls about this one */
	const char *storage_path;
	const char *group;  /* of the fields put next */
	struct str text;    /* the file read last */
	struct str cpuinfo; /* the first processors of proc/cpuinfo */
	struct str status;  /* proc/self/status */
	struct str mounts;  /* proc/self/mountinfo */
	struct cpus online;
	int failure;
};

struct fact_file {
	const char *name, *path;
};

struct name_list {
	vec_of(char *) at; /* sorted, numbers by value */
};

struct mount {
	const char *device; /* "254:0" */
	const char *root, *point, *options, *type, *source, *super;
};

/* One field of facts->group.  Values are made printable ASCII; a value longer than 400 bytes is cut
 * and carries its hash; an empty one reads "none". */
void facts_put(struct facts *facts, const char *name, const char *value);
void facts_putf(struct facts *facts, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void facts_put_missing(struct facts *facts, const char *name, int error); /* negative errno */
void facts_put_hash(struct facts *facts, const char *name, const char *bytes, size_t len);

/* The trimmed content of a file, its lines joined by "; ". */
void facts_put_file(struct facts *facts, const char *name, const char *path);
void facts_put_files(struct facts *facts, const struct fact_file *files); /* ends without a name */
/* The word in [brackets], or in (parentheses): what a file of choices has chosen. */
void facts_put_choice(struct facts *facts, const char *name, const char *path);
/* "key: value" of a text already read (cpuinfo, status, meminfo). */
void facts_put_line(struct facts *facts, const char *name, const struct str *text, const char *key);
/* One file of every online cpu: "performance (all cpus)" or "a (cpu 0-3), b (cpu 4-7)". */
void facts_put_per_cpu(struct facts *facts, const char *name, const char *file);

/* Read into facts->text, trimmed.  Its length, or negative errno. */
int facts_read(struct facts *facts, const char *path);
/* Only what the first read() gives: the whole of a small file, the first records of a long one. */
int facts_read_start(struct facts *facts, const char *path, struct str *ret_text);
/* A number in a file; -ENODATA when there is none. */
int facts_read_number(struct facts *facts, const char *path, long long *ret_value);
bool facts_exists(const struct facts *facts, const char *path);
/* The entries of a folder that start with `prefix`. */
void facts_list(
	const struct facts *facts, const char *path, const char *prefix, struct name_list *ret);
void name_list_done(struct name_list *names);
#define name_list_auto __attribute__((cleanup(name_list_done)))

/* The value behind "key" and a colon in a text of lines; false when there is none. */
bool line_value(const char *text, const char *key, struct str *ret_value);

/* Lists of cpus as the kernel writes them: "0-3,8". */
void cpus_parse(const char *text, struct cpus *ret_cpus);
bool cpus_has(const struct cpus *cpus, unsigned cpu);
void cpus_add(struct cpus *cpus, unsigned cpu);
unsigned cpus_count(const struct cpus *cpus);
int cpus_next(const struct cpus *cpus, int after); /* -1: no more; start with -1 */
void cpus_print(const struct cpus *cpus, struct str *out);

/* Split a line of mountinfo in place.  False when it is not one. */
bool mount_parse(char *line, struct mount *ret_mount);

/* The groups. */
void fingerprint_cpu(struct facts *facts);
void fingerprint_freq(struct facts *facts);
void fingerprint_memory(struct facts *facts);
void fingerprint_kernel(struct facts *facts);
void fingerprint_security(struct facts *facts);
void fingerprint_limits(struct facts *facts);
void fingerprint_cgroup(struct facts *facts);
void fingerprint_clock(struct facts *facts);
void fingerprint_noise(struct facts *facts);
void fingerprint_tuning(struct facts *facts);
void fingerprint_storage(struct facts *facts);
void fingerprint_env(struct facts *facts);
void fingerprint_identity(struct facts *facts);
