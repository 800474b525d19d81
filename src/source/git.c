/* git.c - see git.h.
 *
 * The configuration of a repository can name programs, and whoever made the repository wrote it. So
 * git is told, in its environment, what counts more: no watcher of files, no hooks, no fetching of
 * missing objects (which starts a program of the remote's choice), no look into submodules. Filters
 * of file contents have names that only the configuration knows; git lists them, and each is made
 * empty.  A filter of the user's own configuration (git-lfs) stays. */
#include "source/git.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/helper.h"
#include "base/io_place.h"
#include "base/str.h"
#include "base/vec.h"

enum { FILTERS_MOST = 64, LIST_BYTES = 16384 };

/* What git gets in its environment: variables, then numbered settings. */
struct git_environment {
	struct arena texts;
	vec_of(const char *) settings;
	unsigned count;
};

static void environment_done(struct git_environment *environment)
{
	arena_done(&environment->texts);
	vec_done(&environment->settings);
}
#define environment_auto __attribute__((cleanup(environment_done)))

static void environment_set(struct git_environment *e, const char *key, const char *value)
{
	vec_push(&e->settings, arena_format(&e->texts, "GIT_CONFIG_KEY_%u=%s", e->count, key));
	vec_push(&e->settings, arena_format(&e->texts, "GIT_CONFIG_VALUE_%u=%s", e->count, value));
	e->count++;
}

static void environment_init(struct git_environment *e)
{
	static const char *const variables[] = {"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_PAGER=cat"};

	*e = (struct git_environment){0};
	for (unsigned i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		vec_push(&e->settings, variables[i]);
	environment_set(e, "core.fsmonitor", "false");
	environment_set(e, "core.hooksPath", "/dev/null");
	environment_set(e, "core.pager", "cat");
	environment_set(e, "diff.external", "");
}

/* Run `git WORDS...`: what it printed.  True when it exits with 0 or `also`. */
static bool git_tell(
	struct git_environment *e, const char *const words[], int also, char *text, size_t capacity)
{
	uint32_t count = e->settings.count;
	int status;

	vec_push(&e->settings, arena_format(&e->texts, "GIT_CONFIG_COUNT=%u", e->count));
	vec_push(&e->settings, NULL);
	status = helper_ask(words, e->settings.at, text, capacity);
	e->settings.count = count;
	return status == 0 || status == also;
}

/* The first line of the answer. */
static bool git_ask(const char *const words[], char *line, size_t capacity)
{
	environment_auto struct git_environment environment;

	environment_init(&environment);
	if (!git_tell(&environment, words, 0, line, capacity))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* Empty the filters that the repository's own configuration names.  False: they cannot be told. */
static bool filters_empty(struct git_environment *e)
{
	static const char *const words[] = {"git", "config", "--show-scope", "--name-only",
		"--get-regexp", "^filter\\..*\\.(clean|smudge|process|required)$", NULL};
	char list[LIST_BYTES] = "", *rest = list, *line;
	unsigned count = 0;

	if (!git_tell(e, words, 1, list, sizeof(list)) || strlen(list) == sizeof(list) - 1)
		return false; /* 1: there are none */
	while ((line = strsep(&rest, "\n"))) {
		const char *key = strchr(line, '\t');

		if (!key || str_starts(line, "global\t") || str_starts(line, "system\t"))
			continue;
		if (++count > FILTERS_MOST)
			return false;
		environment_set(e, key + 1, str_ends(key, ".required") ? "false" : "");
	}
	return true;
}

bool git_is_foreign(uint32_t *ret_owner)
{
	char at[PATH_MAX], path[PATH_MAX + 8], *slash;
	struct stat top, folder;

	if (!getcwd(at, sizeof(at)))
		return false;
	for (;; *slash = '\0') {
		snprintf(path, sizeof(path), "%s/.git", at);
		if (lstat(path, &folder) == 0)
			break;
		slash = strrchr(at, '/');
		if (!slash)
			return false;
	}
	if (stat(*at ? at : "/", &top) < 0)
		return false;
	*ret_owner = io_place_is_ours(folder.st_uid) ? top.st_uid : folder.st_uid;
	return !io_place_is_ours(*ret_owner);
}

bool git_user(char *name, size_t capacity)
{
	static const char *const words[] = {"git", "config", "user.name", NULL};

	return git_ask(words, name, capacity) && *name;
}

bool git_head(char *commit, size_t capacity)
{
	static const char *const words[] = {"git", "rev-parse", "--verify", "HEAD", NULL};

	return git_ask(words, commit, capacity) && strspn(commit, "0123456789abcdef") >= 40;
}

bool git_is_dirty(bool *ret_dirty)
{
	static const char *const words[] = {"git", "status", "--porcelain", "--untracked-files=no",
		"--ignore-submodules=dirty", NULL};
	environment_auto struct git_environment environment;
	char line[256];

	environment_init(&environment);
	if (!filters_empty(&environment) || !git_tell(&environment, words, 0, line, sizeof(line)))
		return false;
	*ret_dirty = *line;
	return true;
}
