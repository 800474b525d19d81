/* binary_tables.c - what segments and section names tell: kind, debug sections, .comment, Go. */
#include <string.h>

#include "binary_parts.h"

enum { COMMENT_LIMIT = 1 << 16, RODATA_LIMIT = 16 << 20 };

static enum binary_kind kind_of(const struct binary_work *work)
{
	const struct binary_image *image = work->image;
	bool loader = binary_image_segment(image, PT_INTERP) != NULL;

	if (image->head.e_type == ET_EXEC)
		return loader ? BINARY_EXEC : BINARY_STATIC;
	if (loader)
		return BINARY_PIE;
	return work->dynamic.pie && !work->dynamic.has_soname ? BINARY_STATIC_PIE : BINARY_LIBRARY;
}

static void read_loader(struct binary_work *work)
{
	const Elf64_Phdr *head = binary_image_segment(work->image, PT_INTERP);
	const uint8_t *data = binary_image_segment_data(work->image, head);
	const char *text = data ? binary_text_at(data, head->p_filesz, 0) : NULL;

	if (text)
		work->facts->loader = arena_text(work->arena, text, strlen(text));
}

/* Does the section hold something, here in this file? */
static bool has_section(const struct binary_image *image, const char *name)
{
	const struct binary_section *section = binary_image_section(image, name);

	return section && section->data && section->head.sh_size;
}

static void read_debug_sections(struct binary_work *work)
{
	const struct binary_image *image = work->image;
	struct binary_facts *facts = work->facts;
	const struct binary_section *alternate = binary_image_section(image, ".gnu_debugaltlink");
	const struct binary_section *link = binary_image_section(image, ".gnu_debuglink");
	const char *name;

	facts->has_sections = image->sections.count > 1;
	facts->has_symbols = has_section(image, ".symtab");
	facts->has_mini_symbols = has_section(image, ".gnu_debugdata");
	facts->has_eh_frame_header = binary_image_segment(image, PT_GNU_EH_FRAME) != NULL;
	facts->has_eh_frame = has_section(image, ".eh_frame") ||
			      (!facts->has_sections && facts->has_eh_frame_header);
	facts->has_debug_info =
		has_section(image, ".debug_info") || has_section(image, ".zdebug_info");
	facts->has_debug_lines =
		has_section(image, ".debug_line") || has_section(image, ".zdebug_line");
	vec_foreach (const struct binary_section, section, &image->sections)
		if ((str_starts(section->name, ".debug_") &&
			    section->head.sh_flags & SHF_COMPRESSED) ||
			str_starts(section->name, ".zdebug_"))
			facts->debug_compressed = true;
	name = link ? binary_text_at(link->data, link->head.sh_size, 0) : NULL;
	if (name && *name)
		facts->debug_link = arena_text(work->arena, name, strlen(name));
	name = alternate ? binary_text_at(alternate->data, alternate->head.sh_size, 0) : NULL;
	if (name && *name)
		facts->debug_alternate = arena_text(work->arena, name, strlen(name));
}

/* .comment holds one text per compiler that left a mark, the linker's start files included. */
static void read_comment(struct binary_work *work)
{
	const struct binary_section *section = binary_image_section(work->image, ".comment");
	str_auto struct str joined = {0};
	const char *text;

	if (!section || !section->data || section->head.sh_size > COMMENT_LIMIT)
		return;
	for (uint64_t at = 0; at < section->head.sh_size; at += strlen(text) + 1) {
		text = binary_text_at(section->data, section->head.sh_size, at);
		if (!text)
			break;
		if (!*text || (joined.len && strstr(joined.at, text)))
			continue;
		if (joined.len)
			str_add(&joined, "; ");
		str_add(&joined, text);
	}
	if (joined.len)
		work->facts->comment = arena_text(work->arena, joined.at, joined.len);
}

/* An unsigned LEB128 length and that many bytes; returns them and moves on, NULL when cut. */
static const char *read_counted(
	const uint8_t *data, size_t len, size_t *at, struct arena *arena, size_t *ret_len)
{
	uint64_t count = 0;
	const char *text;

	for (unsigned shift = 0;; shift += 7) {
		if (*at >= len || shift > 28)
			return NULL;
		count |= (uint64_t)(data[*at] & 127) << shift;
		if (!(data[(*at)++] & 128))
			break;
	}
	if (count > len - *at)
		return NULL;
	text = arena_text(arena, (const char *)data + *at, count);
	*at += count;
	*ret_len = count;
	return text;
}

/* Go 1.18 and later write version and settings inline behind a 32-byte header. */
static void read_go(struct binary_work *work)
{
	const struct binary_section *section = binary_image_section(work->image, ".go.buildinfo");
	static const char magic[] = "\xff Go buildinf:";
	const char *version;
	size_t at = 32, len;

	if (binary_image_section(work->image, ".gopclntab"))
		work->facts->language = LANGUAGE_GO;
	if (!section || !section->data || section->head.sh_size < at ||
		memcmp(section->data, magic, sizeof(magic) - 1) != 0)
		return;
	work->facts->language = LANGUAGE_GO;
	if (!(section->data[15] & 2))
		return;
	version = read_counted(section->data, section->head.sh_size, &at, work->arena, &len);
	if (!version)
		return;
	if (str_starts(version, "go") && len > 2)
		work->facts->compiler = arena_format(
			work->arena, "go %.*s", (int)strcspn(version + 2, " "), version + 2);
	work->go_settings =
		read_counted(section->data, section->head.sh_size, &at, work->arena, &len);
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
	const struct binary_section *section = binary_image_section(work->image, ".rodata");
	static const char name[] = "_coz_get_counter";

	if (!section || !section->data || section->head.sh_size > RODATA_LIMIT)
		return;
	if (memmem(section->data, section->head.sh_size, name, sizeof(name)))
		work->signs |= SIGN_COZ;
}

void binary_read_tables(struct binary_work *work)
{
	work->facts->kind = kind_of(work);
	work->facts->build_id = binary_image_build_id(work->image, work->arena);
	work->facts->bind_now = work->dynamic.bind_now;
	read_loader(work);
	read_debug_sections(work);
	read_comment(work);
	read_go(work);
	read_constants(work);
}
