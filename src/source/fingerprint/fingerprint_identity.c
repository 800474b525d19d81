/* fingerprint_identity.c - the environment the program will inherit, and who we are.
 *
 * An environment holds tokens and passwords, so it is told as a count and two hashes; only the
 * variables listed here, which change how fast programs run, show their value.  A listed variable
 * that is long gets cut to a hash like every value.  Host name and machine id are hashes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "fingerprint_facts.h"

enum { ENVIRONMENT_LARGEST = 8 << 20 };

/* Told even when not set. */
static const char *const shown_always[] = {"LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBC_TUNABLES",
	"MALLOC_ARENA_MAX", "OMP_NUM_THREADS", "GOMAXPROCS", "LANG", "LC_ALL", NULL};
/* Told when set; "X*" stands for every name that begins so. */
static const char *const shown_when_set[] = {"LD_BIND_NOW", "LD_AUDIT", "LD_PROFILE", "LC_*",
	"MALLOC_*", "OMP_*", "GOMP_*", "KMP_*", "MKL_*", "OPENBLAS_NUM_THREADS",
	"NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "RAYON_NUM_THREADS",
	"TOKIO_WORKER_THREADS", "UV_THREADPOOL_SIZE", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOAMD64",
	"PYTHONHASHSEED", "PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHON_GIL", "DOTNET_TieredPGO",
	"DOTNET_gcServer", "POSIXLY_CORRECT", "TZ", NULL};

static bool name_is_listed(const char *variable, const char *const *names)
{
	size_t len = strcspn(variable, "=");

	for (; *names; names++) {
		size_t listed = strlen(*names);
		bool prefix = (*names)[listed - 1] == '*';

		if (prefix ? len >= listed && strncmp(*names, variable, listed - 1) == 0
			   : len == listed && strncmp(*names, variable, len) == 0)
			return true;
	}
	return false;
}

static int variables_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_variable(struct facts *facts, const char *variable)
{
	size_t len = strcspn(variable, "=");
	char name[96];

	snprintf(name, sizeof(name), "%.*s", (int)(len < 90 ? len : 90), variable);
	facts_put(facts, name, variable[len] && variable[len + 1] ? variable + len + 1 : "empty");
}

static void put_variables(struct facts *facts, const char **at, size_t count)
{
	str_auto struct str names = {0}, values = {0};

	for (size_t i = 0; i < count; i++) {
		str_addf(&names, "%.*s\n", (int)strcspn(at[i], "="), at[i]);
		str_addf(&values, "%s\n", at[i]);
	}
	facts_putf(facts, "count", "%zu", count);
	facts_putf(facts, "size_bytes", "%zu", values.len);
	facts_put_hash(facts, "names_hash", str_text(&names), names.len);
	facts_put_hash(facts, "values_hash", str_text(&values), values.len);
	for (const char *const *name = shown_always; *name; name++) {
		const char *const one[] = {*name, NULL};
		bool found = false;

		for (size_t i = 0; i < count && !found; i++)
			if ((found = name_is_listed(at[i], one)))
				put_variable(facts, at[i]);
		if (!found)
			facts_put_missing(facts, *name, -ENOENT);
	}
	for (size_t i = 0; i < count; i++)
		if (name_is_listed(at[i], shown_when_set) && !name_is_listed(at[i], shown_always))
			put_variable(facts, at[i]);
}

void fingerprint_env(struct facts *facts)
{
	str_auto struct str text = {0};
	vec_of(const char *) variables = {0};
	int r = io_read_at(facts->root_fd, "proc/self/environ", ENVIRONMENT_LARGEST, &text);

	facts->group = "env";
	if (r < 0) {
		facts_put_missing(facts, "names_hash", r);
		return;
	}
	for (size_t at = 0; at < text.len; at += strlen(text.at + at) + 1)
		if (text.at[at])
			vec_push(&variables, text.at + at);
	vec_sort(&variables, variables_compare);
	put_variables(facts, variables.at, variables.count);
	vec_done(&variables);
}

/* An image that many machines are made of has an empty id. */
static void put_file_hash(struct facts *facts, const char *name, const char *path)
{
	int r = facts_read(facts, path);

	if (r < 0 || !facts->text.len)
		facts_put_missing(facts, name, r < 0 ? r : -ENOENT);
	else
		facts_put_hash(facts, name, str_text(&facts->text), facts->text.len);
}

/* The folder behind `.git`, which is a file with "gitdir: PATH" in a linked working tree. */
static bool git_folder(char folder[PATH_MAX])
{
	char at[PATH_MAX], line[PATH_MAX];

	if (!getcwd(at, sizeof(at)))
		return false;
	for (;;) {
		char *slash;

		if (snprintf(folder, PATH_MAX, "%s/.git", at) >= PATH_MAX)
			return false;
		if (io_read_line(folder, line, sizeof(line)) > 8 && str_starts(line, "gitdir: ")) {
			line[strcspn(line, "\n")] = '\0';
			return snprintf(folder, PATH_MAX, "%s%s%s", line[8] == '/' ? "" : at,
				       line[8] == '/' ? "" : "/", line + 8) < PATH_MAX;
		}
		if (access(folder, F_OK) == 0)
			return true;
		slash = strrchr(at, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
}

static bool is_commit(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	return (len == 40 || len == 64) && !text[len];
}

/* refs/heads/x as a file, or as a line "SHA NAME" of packed-refs. */
static bool git_resolve(
	const char *folder, const char *reference, char *ret_commit, size_t capacity)
{
	str_auto struct str path = {0}, packed = {0};
	char *rest, *line;

	str_addf(&path, "%s/%s", folder, reference);
	if (io_read_line(path.at, ret_commit, capacity) > 0 && is_commit(ret_commit))
		return true;
	str_clear(&path);
	str_addf(&path, "%s/packed-refs", folder);
	if (io_read_at(AT_FDCWD, path.at, 4 << 20, &packed) < 0 || !packed.len)
		return false;
	rest = packed.at;
	while ((line = strsep(&rest, "\n"))) {
		char *name = strchr(line, ' ');

		if (!name || !str_equal(name + 1, reference))
			continue;
		*name = '\0';
		snprintf(ret_commit, capacity, "%s", line);
		return is_commit(ret_commit);
	}
	return false;
}

/* What is checked out around the working directory.  Whether it was changed since would take a
 * walk over all its files, so that is not told. */
static bool git_commit(char *ret_commit, size_t capacity)
{
	char folder[PATH_MAX], head[512], common[PATH_MAX];
	str_auto struct str path = {0};

	if (!git_folder(folder))
		return false;
	str_addf(&path, "%s/HEAD", folder);
	if (io_read_line(path.at, head, sizeof(head)) <= 0)
		return false;
	if (!str_starts(head, "ref: ")) {
		snprintf(ret_commit, capacity, "%.*s", (int)(capacity - 1), head);
		return is_commit(ret_commit);
	}
	if (strstr(head, ".."))
		return false; /* never followed out of the folder */
	if (git_resolve(folder, head + 5, ret_commit, capacity))
		return true;
	str_clear(&path);
	str_addf(&path, "%s/commondir", folder);
	if (io_read_line(path.at, common, sizeof(common)) <= 0)
		return false;
	str_clear(&path);
	str_addf(&path, "%s%s%s", common[0] == '/' ? "" : folder, common[0] == '/' ? "" : "/",
		common);
	return git_resolve(path.at, head + 5, ret_commit, capacity);
}

static void put_times(struct facts *facts)
{
	struct timespec now;
	struct tm parts;
	char text[40];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	facts_put(facts, "time_utc", text);
	clock_gettime(CLOCK_MONOTONIC, &now);
	facts_putf(facts, "monotonic_ns", "%lld",
		(long long)now.tv_sec * 1000000000 + (long long)now.tv_nsec);
}

void fingerprint_identity(struct facts *facts)
{
	char commit[80];

	facts->group = "identity";
	facts_put(facts, "tool_version", ASSAY_VERSION);
	put_times(facts);
	put_file_hash(facts, "hostname_hash", "proc/sys/kernel/hostname");
	put_file_hash(facts, "machine_id_hash", "etc/machine-id");
	facts_put_file(facts, "boot_id", "proc/sys/kernel/random/boot_id");
	if (facts_read(facts, "proc/uptime") > 0)
		facts_putf(facts, "uptime", "%.0f s", strtod(facts->text.at, NULL));
	else
		facts_put_missing(facts, "uptime", -ENOENT);
	facts_put_line(facts, "user_ids", &facts->status, "Uid");
	facts_put_line(facts, "capabilities", &facts->status, "CapEff");
	if (!facts->recorded && git_commit(commit, sizeof(commit)))
		facts_put(facts, "git_commit", commit);
	else
		facts_put_missing(facts, "git_commit", -ENOENT);
}
