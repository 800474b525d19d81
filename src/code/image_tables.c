/* image_tables.c - the tables of an ELF file, read by hand.
 *
 * Only three tables are wanted, the files may be hostile, and a 100 MB library must cost
 * milliseconds; so the tables are copied out with one bounds check each and everything else stays
 * in the mapping, untouched. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "image_parts.h"

enum {
	SECTION_LIMIT = 1 << 18,
	NAME_LIMIT = 1 << 16, /* longest symbol that is looked at */
};

static bool lies_inside(uint64_t offset, uint64_t size, uint64_t len)
{
	return offset <= len && size <= len - offset;
}

static int image_check(struct image *image, struct err *err)
{
	const uint8_t *ident = image->bytes;

	if (image->len < EI_NIDENT + 4 || memcmp(ident, ELFMAG, SELFMAG) != 0) {
		err_set(err, ERR_UNAVAILABLE, ENOEXEC, "%s is not an ELF program", image->path);
		return err_hint(err, "name the program itself");
	}
	if (ident[EI_CLASS] != ELFCLASS64) {
		err_set(err, ERR_UNAVAILABLE, ENOEXEC,
			"%s is a 32-bit program; assay measures 64-bit programs", image->path);
		return err_hint(err, "build it for 64 bits");
	}
	if (ident[EI_DATA] != ELFDATA2LSB) {
		err_set(err, ERR_UNAVAILABLE, ENOEXEC,
			"%s is for big-endian machines; assay reads little-endian programs",
			image->path);
		return err_hint(err, "build it for this machine");
	}
	if (image->len < sizeof(image->head)) {
		err_set(err, ERR_UNAVAILABLE, ENOEXEC,
			"%s is truncated: its ELF header is incomplete", image->path);
		return err_hint(err, "build or copy it again");
	}
	return 0;
}

static void read_segments(struct image *image)
{
	uint64_t count = image->head.e_phnum, at = image->head.e_phoff;

	if (image->head.e_phentsize != sizeof(Elf64_Phdr) ||
		!lies_inside(at, count * sizeof(Elf64_Phdr), image->len))
		return;
	image->low = UINT64_MAX;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Phdr head;

		memcpy(&head, image->bytes + at + i * sizeof(head), sizeof(head));
		vec_push(&image->segments, head);
		if (head.p_type != PT_LOAD || head.p_vaddr + head.p_memsz < head.p_vaddr)
			continue;
		image->low = head.p_vaddr < image->low ? head.p_vaddr : image->low;
		if (head.p_vaddr + head.p_memsz > image->high)
			image->high = head.p_vaddr + head.p_memsz;
	}
}

static struct image_bytes raw_bytes(const struct image_section *section)
{
	return (struct image_bytes){section->data, section->head.sh_size, 0};
}

static void read_sections(struct image *image)
{
	uint64_t at = image->head.e_shoff, count = image->head.e_shnum;
	uint32_t names = image->head.e_shstrndx;
	Elf64_Shdr first;

	if (!at || image->head.e_shentsize != sizeof(first) ||
		!lies_inside(at, sizeof(first), image->len))
		return;
	/* More than 65279 sections: the true numbers stand in the first header. */
	memcpy(&first, image->bytes + at, sizeof(first));
	count = count ? count : first.sh_size;
	names = names == SHN_XINDEX ? first.sh_link : names;
	if (count > SECTION_LIMIT || !lies_inside(at, count * sizeof(first), image->len))
		return;
	for (uint64_t i = 0; i < count; i++) {
		struct image_section section = {.name = ""};

		memcpy(&section.head, image->bytes + at + i * sizeof(first), sizeof(first));
		if (section.head.sh_type != SHT_NOBITS && section.head.sh_type != SHT_NULL &&
			lies_inside(section.head.sh_offset, section.head.sh_size, image->len))
			section.data = image->bytes + section.head.sh_offset;
		vec_push(&image->sections, section);
	}
	vec_foreach (struct image_section, section, &image->sections) {
		const char *name = names < image->sections.count
					   ? image_text_at(raw_bytes(&image->sections.at[names]),
						     section->head.sh_name)
					   : NULL;

		section->name = name ? name : "";
	}
}

static void read_build_id(struct image *image)
{
	vec_foreach (const Elf64_Phdr, head, &image->segments)
		if (head->p_type == PT_NOTE &&
			image_notes_build_id(image_segment_bytes(image, head), image->build_id))
			return;
	/* A separate debug file keeps the note in its section; its segments point nowhere. */
	vec_foreach (const struct image_section, section, &image->sections)
		if (section->head.sh_type == SHT_NOTE &&
			image_notes_build_id(raw_bytes(section), image->build_id))
			return;
}

int image_read_tables(struct image *image, struct err *err)
{
	int r = image_check(image, err);

	if (r < 0)
		return r;
	memcpy(&image->head, image->bytes, sizeof(image->head));
	read_segments(image);
	read_sections(image);
	read_build_id(image);
	return 0;
}

const struct image_section *image_find(const struct image *image, const char *name)
{
	vec_foreach (const struct image_section, section, &image->sections)
		if (str_equal(section->name, name))
			return section;
	return NULL;
}

const Elf64_Phdr *image_segment(const struct image *image, uint32_t type)
{
	vec_foreach (const Elf64_Phdr, head, &image->segments)
		if (head->p_type == type)
			return head;
	return NULL;
}

struct image_bytes image_segment_bytes(const struct image *image, const Elf64_Phdr *head)
{
	if (!head || !lies_inside(head->p_offset, head->p_filesz, image->len))
		return (struct image_bytes){0};
	return (struct image_bytes){image->bytes + head->p_offset, head->p_filesz, head->p_vaddr};
}

const char *image_text_at(struct image_bytes table, uint64_t offset)
{
	size_t left;

	if (!table.at || offset >= table.len)
		return NULL;
	left = table.len - offset;
	if (!memchr(table.at + offset, '\0', left < NAME_LIMIT ? left : NAME_LIMIT))
		return NULL;
	return (const char *)table.at + offset;
}

const struct image_section *image_symbol_table(const struct image *image, uint32_t type)
{
	vec_foreach (const struct image_section, section, &image->sections)
		if (section->head.sh_type == type && section->data)
			return section;
	return NULL;
}

bool image_symbol(const struct image *image, const struct image_section *table, uint64_t index,
	Elf64_Sym *ret_symbol, const char **ret_name)
{
	if (!table || !table->data || index >= table->head.sh_size / sizeof(*ret_symbol))
		return false;
	memcpy(ret_symbol, table->data + index * sizeof(*ret_symbol), sizeof(*ret_symbol));
	*ret_name = table->head.sh_link < image->sections.count
			    ? image_text_at(raw_bytes(&image->sections.at[table->head.sh_link]),
				      ret_symbol->st_name)
			    : NULL;
	return true;
}

/* Its parts are padded to four bytes; the last one need not be. */
bool image_note_next(struct image_bytes *notes, struct image_note *ret_note)
{
	struct cursor cursor = cursor_over(*notes, 0);
	uint32_t name = cursor_u32(&cursor), body = cursor_u32(&cursor);

	ret_note->type = cursor_u32(&cursor);
	ret_note->owner = (struct image_bytes){cursor.at, name, 0};
	cursor_skip(&cursor, ((uint64_t)name + 3) / 4 * 4);
	ret_note->body = (struct image_bytes){cursor.at, body, 0};
	if (cursor.broken || !cursor_has(&cursor, body))
		return false;
	cursor_skip(&cursor, ((uint64_t)body + 3) / 4 * 4);
	*notes = (struct image_bytes){cursor.at, cursor_left(&cursor), 0};
	return true;
}

void image_hex(struct image_bytes bytes, char ret_text[IMAGE_BUILD_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	size_t most = (IMAGE_BUILD_ID_TEXT - 1) / 2, len = bytes.len < most ? bytes.len : most;

	for (size_t i = 0; i < len; i++) {
		ret_text[2 * i] = digits[bytes.at[i] >> 4];
		ret_text[2 * i + 1] = digits[bytes.at[i] & 15];
	}
	ret_text[2 * len] = '\0';
}

bool image_notes_build_id(struct image_bytes notes, char ret_build_id[IMAGE_BUILD_ID_TEXT])
{
	struct image_note note;

	while (image_note_next(&notes, &note))
		if (note.type == NT_GNU_BUILD_ID && note.owner.len == 4 && note.body.len &&
			memcmp(note.owner.at, "GNU", 4) == 0) {
			image_hex(note.body, ret_build_id);
			return true;
		}
	return false;
}

const char *image_link(struct image *image, uint32_t *ret_crc)
{
	struct image_bytes section = image_section(image, ".gnu_debuglink");
	const char *name = image_text_at(section, 0);
	struct cursor crc = cursor_over(section, section.len - sizeof(*ret_crc));

	if (!name || !*name || strchr(name, '/') || section.len < 8)
		return NULL;
	*ret_crc = cursor_u32(&crc);
	return name;
}

const char *image_alternate(struct image *image, char ret_build_id[IMAGE_BUILD_ID_TEXT])
{
	struct cursor cursor = cursor_over(image_section(image, ".gnu_debugaltlink"), 0);
	const char *name = cursor_text(&cursor);

	if (!name || !*name)
		return NULL;
	image_hex((struct image_bytes){cursor.at, cursor_left(&cursor), 0}, ret_build_id);
	return name;
}
