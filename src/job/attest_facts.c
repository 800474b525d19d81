/* attest_facts.c - see attest_facts.h. */
#include "job/attest_facts.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sha256.h"
#include "model/run.h"
#include "source/git.h"

enum { FIXTURES_MAX = 256 };

const char *attest_file_hash(const char *path, struct arena *arena, struct err *err)
{
	char *hex = arena_take(arena, SHA256_TEXT);
	int r = sha256_file(path, hex);

	if (r < 0) {
		err_set(err, ERR_USAGE, -r, "cannot read %s: %s", path, err_words(-r));
		err_hint(err, "check the path");
		return NULL;
	}
	return hex;
}

/* A word that names a plain file, hashed; false when it does not. */
static bool fixture_of(const char *word, uint64_t started_ns, struct arena *arena,
	struct attest_fixture *ret_fixture)
{
	struct err ignored = {0};
	struct stat file;

	if (stat(word, &file) < 0 || !S_ISREG(file.st_mode))
		return false;
	*ret_fixture = (struct attest_fixture){
		.path = arena_format(arena, "%s", word),
		.sha256 = attest_file_hash(word, arena, &ignored),
		.changed_since = (uint64_t)file.st_mtim.tv_sec * 1000000000 +
					 (uint64_t)file.st_mtim.tv_nsec >
				 started_ns,
	};
	return ret_fixture->sha256;
}

uint32_t attest_fixtures(const struct audit_view *audit, const struct run *run, struct arena *arena,
	const struct attest_fixture **ret_fixtures)
{
	struct attest_fixture *fixtures = arena_take(arena, FIXTURES_MAX * sizeof(*fixtures));
	uint32_t count = 0;

	for (uint32_t i = 0; i < audit->command_count; i++)
		for (char *const *word = audit->commands[i]->argv + 1;
			*word && count < FIXTURES_MAX; word++)
			if (fixture_of(*word, run->started_ns, arena, &fixtures[count]))
				fixtures[count++].command = i;
	*ret_fixtures = fixtures;
	return count;
}

void attest_git(struct attest_facts *facts, struct arena *arena)
{
	char commit[128];

	facts->git_is_foreign = git_is_foreign(&facts->git_owner);
	if (facts->git_is_foreign || !git_head(commit, sizeof(commit)))
		return;
	facts->git_commit = arena_format(arena, "%s", commit);
	facts->git_known = git_is_dirty(&facts->git_dirty);
}

const char *attest_user(struct arena *arena)
{
	const struct passwd *user = getpwuid(getuid());
	char name[256];
	uint32_t owner;

	if (!git_is_foreign(&owner) && git_user(name, sizeof(name)))
		return arena_format(arena, "%s", name);
	return arena_format(arena, "%s", user && *user->pw_name ? user->pw_name : "unknown");
}

const char *attest_time(struct arena *arena)
{
	time_t now = time(NULL);
	struct tm parts;
	char text[40];

	gmtime_r(&now, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	return arena_format(arena, "%s", text);
}
