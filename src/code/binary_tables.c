/* binary_tables.c - what segments and section names tell: kind, debug sections, .comment, Go. */
#include <string.h>

#include "binary_parts.h"

enum { COMMENT_LIMIT = 1 << 16, RODATA_LIMIT = 16 << 20 };

static enum binary_kind kind_of(const struct binary_work *work)
{
	const struct image *image = work->image;
	bool loader = image_segment(image, PT_INTERP) != NULL;

	if (image->head.e_type == ET_EXEC)
		return loader ? BINARY_EXEC : BINARY_STATIC;
	if (loader)
		return BINARY_PIE;
	return work->dynamic.pie && !work->dynamic.has_soname ? BINARY_STATIC_PIE : BINARY_LIBRARY;
}

static void read_loader(struct binary_work *work)
{
	const Elf64_Phdr *head = image_segment(work->image, PT_INTERP);
	const char *text = image_text_at(image_segment_bytes(work->image, head), 0);

	if (text)
		work->facts->loader = arena_copy(work->arena, text);
}

static void read_debug_sections(struct binary_work *work)
{
	const struct image *image = work->image;
	struct binary_facts *facts = work->facts;
	const char *link;
	uint32_t crc;

	facts->has_sections = image->sections.count > 1;
	facts->has_symbols = image_has(image, ".symtab");
	facts->has_mini_symbols = image_has(image, ".gnu_debugdata");
	facts->has_eh_frame_header = image_segment(image, PT_GNU_EH_FRAME) != NULL;
	facts->has_eh_frame = image_has(image, ".eh_frame") ||
			      (!facts->has_sections && facts->has_eh_frame_header);
	facts->has_debug_info = image_has(image, ".debug_info");
	facts->has_debug_lines = image_has(image, ".debug_line");
	vec_foreach (const struct image_section, section, &image->sections)
		if ((str_starts(section->name, ".debug_") &&
			    section->head.sh_flags & SHF_COMPRESSED) ||
			str_starts(section->name, ".zdebug_"))
			facts->debug_compressed = true;
	link = image_link(work->image, &crc);
	if (link)
		facts->debug_link = arena_copy(work->arena, link);
}

/* .comment holds one text per compiler that left a mark, the linker's start files included. */
static void read_comment(struct binary_work *work)
{
	struct image_bytes section = image_section(work->image, ".comment");
	struct cursor cursor = cursor_over(section, 0);
	str_auto struct str joined = {0};
	const char *text;

	if (section.len > COMMENT_LIMIT)
		return;
	while ((text = cursor_text(&cursor)))
		if (*text && !strstr(str_text(&joined), text))
			str_addf(&joined, "%s%s", joined.len ? "; " : "", text);
	if (joined.len)
		work->facts->comment = arena_text(work->arena, joined.at, joined.len);
}

/* A length and that many bytes, NULL when cut. */
static const char *read_counted(struct cursor *cursor, struct arena *arena)
{
	uint64_t len = cursor_uleb(cursor);
	const char *text = (const char *)cursor->at;

	cursor_skip(cursor, len);
	return cursor->broken ? NULL : arena_text(arena, text, len);
}

/* Go 1.18 and later write version and settings inline behind a 32-byte header. */
static void read_go(struct binary_work *work)
{
	enum { HEAD = 32, FLAGS = 15, INLINE = 2 };
	struct image_bytes section = image_section(work->image, ".go.buildinfo");
	struct cursor cursor = cursor_over(section, HEAD);
	static const char magic[] = "\xff Go buildinf:";
	const char *version;

	if (image_find(work->image, ".gopclntab"))
		work->facts->language = LANGUAGE_GO;
	if (cursor.broken || memcmp(section.at, magic, sizeof(magic) - 1) != 0)
		return;
	work->facts->language = LANGUAGE_GO;
	if (!(section.at[FLAGS] & INLINE))
		return;
	version = read_counted(&cursor, work->arena);
	if (!version)
		return;
	if (str_starts(version, "go") && version[2])
		work->facts->compiler = arena_format(
			work->arena, "go %.*s", (int)strcspn(version + 2, " "), version + 2);
	work->go_settings = read_counted(&cursor, work->arena);
}

const char *binary_go_setting(const struct binary_work *work, const char *key)
{
	const char *line = work->go_settings;
	size_t key_len = strlen(key);

	for (; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		if (!str_starts(line, "build\t"))
			continue;
		if (strncmp(line + 6, key, key_len) != 0 || line[6 + key_len] != '=')
			continue;
		line += 7 + key_len;
		return arena_text(work->arena, line, strcspn(line, "\n"));
	}
	return NULL;
}

/* The macros of coz.h look their function up by name, so the name is a constant of the program. */
static void read_constants(struct binary_work *work)
{
	struct image_bytes section = image_section(work->image, ".rodata");
	static const char name[] = "_coz_get_counter";

	if (section.at && section.len <= RODATA_LIMIT &&
		memmem(section.at, section.len, name, sizeof(name)))
		work->signs |= SIGN_COZ;
}

void binary_read_tables(struct binary_work *work)
{
	work->facts->kind = kind_of(work);
	if (*work->image->build_id)
		work->facts->build_id = arena_copy(work->arena, work->image->build_id);
	work->facts->bind_now = work->dynamic.bind_now;
	read_loader(work);
	read_debug_sections(work);
	read_comment(work);
	read_go(work);
	read_constants(work);
}
