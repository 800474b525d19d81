/* tune_knob.c - one setting is one file: its value, what is wanted of it, and whether that can be.
 *
 * A value is the first line of its file; a file that lists its choices marks the current one with
 * [brackets].  Writing is one write() of one line without truncation: sysfs and procfs take it as a
 * whole, and a plain file (a tree in a test) is at no moment empty. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "drive/cpu_list.h"
#include "tune_parts.h"

const char *tune_full_path(struct tune *tune, const char *path)
{
	return arena_format(&tune->texts, "%s%s", tune->options.root, path);
}

int tune_value_read(
	struct tune *tune, const char *path, const char **ret_value, const char **ret_line)
{
	char text[4096], *value = text, *open, *close;
	int got = io_read_line(tune_full_path(tune, path), text, sizeof(text));

	if (got < 0)
		return got;
	text[strcspn(text, "\n")] = '\0';
	if (ret_line)
		*ret_line = arena_copy(&tune->texts, text);
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close) {
		*close = '\0';
		value = open + 1;
	}
	value = str_trim(value);
	if (!tune_text_is_plain(value, strlen(value)))
		return -EINVAL;
	*ret_value = arena_copy(&tune->texts, value);
	return 0;
}

int tune_value_write(struct tune *tune, const char *path, const char *value)
{
	io_auto int fd = open(tune_full_path(tune, path), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	char line[TUNE_VALUE_LARGEST + 2];
	int len = snprintf(line, sizeof(line), "%s\n", value);

	if (fd < 0)
		return -errno;
	if ((size_t)len >= sizeof(line))
		return -EINVAL;
	return write(fd, line, (size_t)len) == len ? 0 : -(errno ? errno : EIO);
}

static const char *beside(struct tune *tune, const char *path, const char *name)
{
	int folder = (int)(strrchr(path, '/') - path);

	return arena_format(&tune->texts, "%.*s/%s", folder, path, name);
}

static bool words_have(const char *words, const char *word, const char *between)
{
	size_t len = strlen(word);

	while (*words) {
		size_t here = strcspn(words, between);

		if (here == len && strncmp(words, word, len) == 0)
			return true;
		words += here;
		words += strspn(words, between);
	}
	return false;
}

static bool number_is(const char *text, long *ret_value)
{
	char *end;

	*ret_value = strtol(text, &end, 10);
	return end != text && !*end;
}

/* "!cpus": every processor that is online but those that are measured on.  Whether the list `now`
 * keeps off them already. */
static bool others_hold(struct tune *tune, struct tune_item *item)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	const char *online_text, *measured_text = tune->options.cpus;
	cpu_set_t online, measured, now, both, others;
	str_auto struct str text = {0};

	item->want = NULL;
	if (!measured_text || cpu_list_parse(measured_text, &measured) < 0 ||
		tune_value_read(tune, path, &online_text, NULL) < 0 ||
		cpu_list_parse(online_text, &online) < 0)
		return false;
	CPU_AND(&both, &online, &measured);
	CPU_XOR(&others, &online, &both);
	if (!CPU_COUNT(&others))
		return false;
	cpu_list_print(&others, &text);
	item->want = arena_format(&tune->texts, "%s", text.at);
	if (cpu_list_parse(item->now, &now) < 0)
		return false;
	CPU_AND(&both, &now, &measured);
	return CPU_COUNT(&both) == 0;
}

/* What is wanted, as a value to write, and whether `now` will do. */
static bool want_holds(struct tune *tune, const char *want, struct tune_item *item)
{
	long bound, value;

	if (str_equal(want, "!cpus"))
		return others_hold(tune, item);
	if (*want == '@') {
		if (tune_value_read(tune, beside(tune, item->path, want + 1), &item->want, NULL) <
			0)
			item->want = NULL;
		return str_equal(item->want, item->now);
	}
	if (*want == '<' || *want == '>') {
		item->want = want + 2;
		return number_is(item->want, &bound) && number_is(item->now, &value) &&
		       (*want == '<' ? value <= bound : value >= bound);
	}
	item->want = arena_text(&tune->texts, want, strcspn(want, "|"));
	return words_have(want, item->now, "|");
}

static bool want_is_offered(struct tune *tune, const struct tune_item *item, const char *line)
{
	const char *offered = tune->options.knobs[item->knob].offered, *value;

	/* Brackets around one value of several: the file lists what it takes. */
	if (strchr(line, '['))
		return words_have(line, item->want, " ");
	if (!offered || tune_value_read(tune, beside(tune, item->path, offered), &value, &line) < 0)
		return true; /* the kernel will say */
	return words_have(line, item->want, " ");
}

static enum tune_state item_is(struct tune_item *item, enum tune_state state, const char *reason)
{
	item->reason = reason;
	return item->state = state;
}

static const char *absent_words(const struct tune *tune, uint32_t knob)
{
	const char *absent = tune->options.knobs[knob].absent;

	return absent ? absent : "this machine does not have it";
}

/* "VALUE SENTENCE": with that value the knob is out of use, and writing it would reset another. */
static const char *unless_words(const struct tune *tune, const struct tune_item *item)
{
	const char *unless = tune->options.knobs[item->knob].unless;
	size_t len = unless ? strcspn(unless, " ") : 0;

	return len && strlen(item->now) == len && strncmp(unless, item->now, len) == 0
		       ? unless + len + strspn(unless + len, " ")
		       : NULL;
}

enum tune_state tune_item_look(struct tune *tune, struct tune_item *item)
{
	const char *line = "";
	int r = tune_value_read(tune, item->path, &item->now, &line);

	if (r < 0)
		item->now = NULL;
	if (r == -ENOENT || r == -ENOTDIR)
		return item_is(item, TUNE_ABSENT, absent_words(tune, item->knob));
	if (r == -EACCES || r == -EPERM)
		return item_is(item, TUNE_DENIED, "only root can read it");
	if (r < 0)
		return item_is(item, TUNE_UNSUPPORTED,
			r == -EINVAL ? "its value is not one line of text" : err_words(-r));
	if (unless_words(tune, item))
		return item_is(item, TUNE_UNSUPPORTED, unless_words(tune, item));
	if (want_holds(tune, tune->options.knobs[item->knob].want, item))
		return item_is(item, TUNE_SET, NULL);
	if (!item->want)
		return item_is(item, TUNE_UNSUPPORTED,
			str_equal(tune->options.knobs[item->knob].want, "!cpus")
				? "name the CPUs to keep free with --cpus, not all of them"
				: "cannot read the file with the value");
	if (!want_is_offered(tune, item, line))
		return item_is(item, TUNE_UNSUPPORTED, "it does not accept that value");
	if (faccessat(AT_FDCWD, tune_full_path(tune, item->path), W_OK, AT_EACCESS) < 0)
		return item_is(item, TUNE_DENIED,
			errno == EROFS ? "it is mounted read-only (a container?)"
				       : "only root can write it");
	return item_is(item, TUNE_CHANGE, NULL);
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

void tune_knob_expand(struct tune *tune, uint32_t knob)
{
	const char *pattern = tune->options.knobs[knob].pattern;
	size_t root = strlen(tune->options.root);
	glob_t found = {0};

	if (glob(tune_full_path(tune, pattern), GLOB_NOSORT, NULL, &found) == 0) {
		/* cpu2 before cpu10 */
		qsort(found.gl_pathv, found.gl_pathc, sizeof(*found.gl_pathv), by_version);
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *path = found.gl_pathv[i] + root;

			if (!tune_text_is_plain(path, strlen(path)))
				continue; /* a journal could not name it */
			vec_push(&tune->items, (struct tune_item){
						       .knob = knob,
						       .path = arena_copy(&tune->texts, path),
					       });
			tune_item_look(tune, &tune->items.at[tune->items.count - 1]);
		}
	} else {
		vec_push(&tune->items, (struct tune_item){
					       .knob = knob,
					       .path = pattern,
					       .reason = absent_words(tune, knob),
				       });
	}
	globfree(&found);
}

struct tune_item tune_item_of(struct tune *tune, const struct tune_entry *entry)
{
	return (struct tune_item){
		.knob = tune_knob_of(tune, entry->knob, entry->path),
		.state = TUNE_ACTIVE,
		.path = arena_format(&tune->texts, "%s", entry->path),
		.old = arena_format(&tune->texts, "%s", entry->old),
		.want = arena_format(&tune->texts, "%s", entry->written),
		.by = entry->by ? arena_format(&tune->texts, "%s", entry->by) : NULL,
		.time_ns = entry->time_ns,
	};
}

uint32_t tune_knob_of(const struct tune *tune, const char *name, const char *path)
{
	/* FNM_PERIOD: no `*` stands for "..", whatever a journal says. */
	for (uint32_t i = 0; i < tune->options.knob_count; i++)
		if (str_equal(tune->options.knobs[i].name, name) &&
			fnmatch(tune->options.knobs[i].pattern, path, FNM_PATHNAME | FNM_PERIOD) ==
				0)
			return i;
	return UINT32_MAX;
}
