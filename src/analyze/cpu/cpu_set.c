/* cpu_set.c - the sets of a CPU, checked when they are read.
 *
 * The kernel looks at the size of a group only roughly: seven events on six counters open without
 * an error and never run (QEMU's arm64, Linux 6.1 and 6.12).  So a group that cannot fit is refused
 * here, before anybody measures nothing with it. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "cpu_parts.h"

struct set_reader {
	struct cpu_draft *draft;
	unsigned line;
	vec_of(uint32_t) events;
	/* Of the group that is open. */
	bool in_group, has_leader;
	unsigned members, general, counter0;
};

static int set_refuse(const struct set_reader *set, const char *what, const char *which)
{
	return text_refuse(&set->draft->reader, set->line, what, which);
}

static int event_index(const struct cpu_draft *draft, const char *name)
{
	for (uint32_t i = 0; i < draft->events.count; i++)
		if (str_equal(draft->events.at[i].name, name))
			return (int)i;
	return -ENOENT;
}

static int group_take(struct set_reader *set, const char *name, unsigned flags)
{
	bool first = !set->in_group || !set->members;

	set->members++;
	if (!(flags & (CPU_EVENT_FIXED | CPU_EVENT_MEMBER)))
		set->general++;
	if (flags & CPU_EVENT_COUNTER0 && ++set->counter0 > 1)
		return set_refuse(
			set, "two events for counter 0 in one group, the second is", name);
	if (flags & CPU_EVENT_LEADER && !first && !set->has_leader)
		return set_refuse(set, "the first of a group must be", name);
	set->has_leader |= (flags & CPU_EVENT_LEADER) != 0;
	if (flags & CPU_EVENT_MEMBER && !set->has_leader)
		return set_refuse(set, "it needs its leader in the same group:", name);
	if (set->draft->table.counters && set->general > set->draft->table.counters)
		return set_refuse(set, "more events than counters in the group of", name);
	return 0;
}

static void group_reset(struct set_reader *set, bool in_group)
{
	set->in_group = in_group;
	set->has_leader = false;
	set->members = set->general = set->counter0 = 0;
}

static int word_take(struct set_reader *set, const char *text, size_t len)
{
	char *name = str_trim(arena_text(&set->draft->book->arena, text, len));
	int index = event_index(set->draft, name);
	bool known = false;

	if (str_equal(name, "task-clock") && !set->in_group)
		return 0;
	if (index < 0)
		return set_refuse(set, "the table has no event", name);
	if (!set->in_group)
		group_reset(set, false);
	vec_foreach (const uint32_t, other, &set->events)
		known |= *other == (uint32_t)index;
	if (!known)
		vec_push(&set->events, (uint32_t)index);
	return group_take(set, name, set->draft->events.at[index].flags);
}

/* "{A,B},C": words, and the braces between them. */
static int groups_read(struct set_reader *set, const char *text)
{
	bool want_word = true;

	for (const char *at = text; *at; at++) {
		size_t len = strcspn(at, ",{}");
		int r = 0;

		if (len) {
			if (!want_word)
				return set_refuse(set, "missing comma before", at);
			r = word_take(set, at, len);
			at += len;
			want_word = false;
		}
		if (r < 0)
			return r;
		if ((*at == '{' && (set->in_group || !want_word)) ||
			(*at == '}' && (!set->in_group || want_word)) || (*at == ',' && want_word))
			return set_refuse(set, "unexpected text at", at);
		if (*at == '{' || *at == '}')
			group_reset(set, *at == '{');
		want_word = *at == '{' || *at == ',';
		if (!*at)
			break;
	}
	return set->in_group || want_word ? set_refuse(set, "the groups are not finished in", text)
					  : 0;
}

static void set_keep(struct set_reader *set, const struct text_block *block)
{
	struct arena *arena = &set->draft->book->arena;
	const uint32_t *events =
		arena_keep(arena, set->events.at, sizeof(*events) * set->events.count);

	vec_push(&set->draft->sets,
		(struct cpu_set){text_block_value(block, "set"), text_block_value(block, "meaning"),
			text_block_value(block, "events"), events, set->events.count});
}

int cpu_set_add(struct cpu_draft *draft, const struct text_block *block)
{
	static const char *const keys[] = {"set", "events", "meaning", NULL};
	struct set_reader set = {.draft = draft};
	const char *name = text_block_value(block, "set");
	int r = text_block_check(&draft->reader, block, keys, 3, NULL);

	if (r < 0)
		return r;
	set.line = text_block_find(block, "events")->line;
	vec_foreach (const struct cpu_set, other, &draft->sets)
		if (str_equal(other->name, name))
			return set_refuse(&set, "a second set", name);
	r = groups_read(&set, text_block_value(block, "events"));
	if (r == 0 && str_equal(name, "precise") && set.events.count > 3)
		r = set_refuse(&set, "more than three events in", name);
	if (r == 0)
		set_keep(&set, block);
	vec_done(&set.events);
	return r;
}
