/* fingerprint_tuning.c - what `assay tune` has changed at this moment, by its journal.
 *
 * The values themselves are in their own groups and decide there; this group says that they are a
 * passing state, and who to ask for the way back.  A change that somebody else has undone since is
 * not told as active. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "fingerprint_facts.h"
#include "source/tune_journal.h"

enum { JOURNAL_LARGEST = 64 << 20 };

/* Whether the file says what we wrote; files of choices mark theirs with [brackets]. */
static bool entry_stands(struct facts *facts, const struct tune_entry *entry)
{
	const char *now, *open;
	str_auto struct str word = {0};

	if (strstr(entry->path, "/../") || facts_read(facts, entry->path + 1) < 0)
		return false;
	now = str_text(&facts->text);
	open = strchr(now, '[');
	if (open)
		str_add_bytes(&word, open + 1, strcspn(open + 1, "]"));
	else
		str_add_bytes(&word, now, strcspn(now, "\n;"));
	return str_equal(str_text(&word), entry->written) && !str_equal(entry->written, entry->old);
}

/* "governor powersave -> performance (16 files), swappiness 60 -> 1"; how many files. */
static unsigned active_print(
	struct facts *facts, const struct tune_journal *journal, struct str *out)
{
	const struct tune_entry *told = NULL;
	unsigned count = 0, alike = 0;

	vec_foreach (const struct tune_entry, entry, &journal->entries) {
		if (!entry->active || !entry_stands(facts, entry))
			continue;
		count++;
		if (told && str_equal(told->knob, entry->knob) &&
			str_equal(told->old, entry->old) &&
			str_equal(told->written, entry->written)) {
			alike++;
			continue;
		}
		if (alike > 1)
			str_addf(out, " (%u files)", alike);
		str_addf(out, "%s%s %s -> %s", told ? ", " : "", entry->knob, entry->old,
			entry->written);
		told = entry;
		alike = 1;
	}
	if (alike > 1)
		str_addf(out, " (%u files)", alike);
	return count;
}

static void tuning_journal(struct facts *facts)
{
	struct tune_journal journal = {0};
	str_auto struct str text = {0}, active = {0};
	char boot[64], path[160];
	uint64_t session = 0;
	unsigned count = 0;
	int r = facts_read(facts, "proc/sys/kernel/random/boot_id");

	snprintf(boot, sizeof(boot), "%.63s", r > 0 ? facts->text.at : "");
	snprintf(path, sizeof(path), "var/lib/assay/tune/%s.ndjson", boot);
	if (r > 0 && !strchr(boot, '/'))
		r = io_read_at(facts->root_fd, path, JOURNAL_LARGEST, &text);
	if (r >= 0) {
		tune_journal_read(&journal, str_text(&text), text.len);
		count = active_print(facts, &journal, &active);
	}
	vec_foreach (const struct tune_entry, entry, &journal.entries)
		if (entry->active && entry->last_session > session)
			session = entry->last_session;
	if (session)
		facts_putf(facts, "journal", "%s:%" PRIu64, boot, session);
	else
		facts_put_missing(facts, "journal", r < 0 ? r : -ENOENT);
	if (r < 0 && r != -ENOENT) {
		facts_put_missing(facts, "active", r);
		facts_put_missing(facts, "active_files", r);
	} else {
		facts_put(facts, "active", str_text(&active));
		facts_putf(facts, "active_files", "%u", count);
	}
	tune_journal_done(&journal);
}

/* The strictest wish of anybody: 2000000000 us when nobody has one.  The device tells 32 bits. */
static void tuning_latency(struct facts *facts)
{
	io_auto int fd = facts->recorded ? -1
					 : openat(facts->root_fd, "dev/cpu_dma_latency",
						   O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int32_t microseconds;

	if (fd < 0)
		facts_put_missing(facts, "idle_latency", facts->recorded ? -ENOENT : -errno);
	else if (read(fd, &microseconds, sizeof(microseconds)) != sizeof(microseconds))
		facts_put_missing(facts, "idle_latency", -ENOENT);
	else if (microseconds >= 2000000000)
		facts_put(facts, "idle_latency", "any");
	else
		facts_putf(facts, "idle_latency", "%d us", (int)microseconds);
}

/* "/autogroup-123 nice 0": the number is the session's and says nothing. */
static void tuning_autogroup(struct facts *facts)
{
	int r = facts_read(facts, "proc/self/autogroup");
	const char *nice = r > 0 ? strstr(facts->text.at, "nice ") : NULL;

	if (nice)
		facts_put(facts, "autogroup_nice", nice + 5);
	else
		facts_put_missing(facts, "autogroup_nice", r < 0 ? r : -ENOENT);
}

void fingerprint_tuning(struct facts *facts)
{
	facts->group = "tuning";
	tuning_journal(facts);
	tuning_latency(facts);
	facts_put_file(facts, "personality", "proc/self/personality");
	tuning_autogroup(facts);
}
