/* git.c - see git.h. */
#include "source/git.h"

#include <string.h>

#include "base/helper.h"

/* Run `git WORDS...`; its first line in `line`.  True when it exits with 0. */
static bool git_ask(const char *const words[], char *line, size_t capacity)
{
	static const char *const settings[] = {"GIT_OPTIONAL_LOCKS=0", NULL};

	if (helper_ask(words, settings, line, capacity) != 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
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
	static const char *const words[] = {
		"git", "status", "--porcelain", "--untracked-files=no", NULL};
	char line[256];

	if (!git_ask(words, line, sizeof(line)))
		return false;
	*ret_dirty = *line;
	return true;
}
