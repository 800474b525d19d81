/* causal_foreign.c - the code of others in the bound process: its steps, and where it is mapped. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "causal_parts.h"

int causal_files(
	struct causal *causal, const char *const **ret_paths, uint32_t *ret_count, struct err *err)
{
	causal_code_vec code = {0};
	int r;

	arena_done(&causal->file_paths);
	causal->files.count = 0;
	r = causal_map_code(causal->pid, &causal->file_paths, &code, err);
	vec_foreach (const struct causal_code, at, &code) {
		uint32_t known = 0;

		while (known < causal->files.count && !str_equal(causal->files.at[known], at->path))
			known++;
		if (known == causal->files.count)
			vec_push(&causal->files, at->path);
	}
	vec_done(&code);
	*ret_paths = causal->files.at;
	*ret_count = causal->files.count;
	return r;
}

bool causal_is_runtime(const struct causal *causal, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && str_equal(slash + 1, causal->engine->library);
}

bool causal_foreign_add(struct causal *causal, const char *path,
	const struct wire_causal_step *steps, uint32_t count)
{
	if (!causal->steps || count > WIRE_CAUSAL_STEPS - causal->step_count)
		return false;
	memcpy(causal->steps + causal->step_count, steps, count * sizeof(*steps));
	vec_push(&causal->foreign, (struct causal_foreign){mem_copy_text(path, strlen(path)),
					   causal->step_count, count});
	causal->step_count += count;
	return true;
}

static const struct causal_foreign *foreign_find(const struct causal *causal, const char *path)
{
	vec_foreach (const struct causal_foreign, file, &causal->foreign)
		if (str_equal(file->path, path))
			return file;
	return NULL;
}

int causal_foreign_place(struct causal *causal, struct err *err)
{
	struct assay_causal_settings *settings = &causal->kernel->settings;
	arena_auto struct arena paths = {0};
	causal_code_vec code = {0};
	uint32_t placed = 0; /* of our own: the target may write to the settings */
	int r = 0;

	settings->foreign = 0;
	if (causal->foreign.count)
		r = causal_map_code(causal->pid, &paths, &code, err);
	vec_foreach (const struct causal_code, at, &code) { /* in order of address */
		const struct causal_foreign *file = foreign_find(causal, at->path);

		if (file && placed < WIRE_CAUSAL_FOREIGN)
			settings->foreign_code[placed++] = (struct wire_causal_foreign){
				at->start, at->end, at->offset, file->first, file->count};
	}
	settings->foreign = placed;
	vec_done(&code);
	return r;
}

void causal_foreign_forget(struct causal *causal)
{
	vec_foreach (struct causal_foreign, file, &causal->foreign)
		free(file->path);
	vec_done(&causal->foreign);
	vec_done(&causal->files);
	arena_done(&causal->file_paths);
}
