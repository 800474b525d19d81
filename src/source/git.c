/* git.c - see git.h. */
#include "source/git.h"

#include <string.h>

#include "base/str.h"
#include "probe/probe_room.h"

/* Run `git WORDS...`; its first line in `line`.  True when it exits with 0. */
static bool git_ask(char *const words[], char *line, size_t room)
{
	static char no_locks[] = "GIT_OPTIONAL_LOCKS=0";
	char *const extra[] = {no_locks, NULL};

	if (child_run(words, extra, line, room) != 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

bool git_user(char *name, size_t room)
{
	static char git[] = "git", config[] = "config", key[] = "user.name";
	char *const words[] = {git, config, key, NULL};

	return git_ask(words, name, room) && *name;
}

bool git_head(char *commit, size_t room)
{
	static char git[] = "git", parse[] = "rev-parse", verify[] = "--verify", head[] = "HEAD";
	char *const words[] = {git, parse, verify, head, NULL};

	return git_ask(words, commit, room) && strspn(commit, "0123456789abcdef") >= 40;
}

bool git_is_dirty(bool *ret_dirty)
{
	static char git[] = "git", status[] = "status", porcelain[] = "--porcelain",
		    tracked[] = "--untracked-files=no";
	char *const words[] = {git, status, porcelain, tracked, NULL};
	char line[256];

	if (!git_ask(words, line, sizeof(line)))
		return false;
	*ret_dirty = *line;
	return true;
}
