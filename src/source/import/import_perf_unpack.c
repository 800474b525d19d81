/* import_perf_unpack.c - `perf record -z`: one zstd stream cut into records.
 *
 * perf flushes the stream behind each piece, so every COMPRESSED record unpacks by itself as long
 * as the ones before it were seen.  A kernel record may begin in one piece and end in the next.
 *
 * What a piece may unpack to is bounded by the ring perf said it packs at once, and the whole by a
 * ratio: perf's data packs 3 to 30 times smaller, zeros pack 10,000 times smaller. */
#include <stdlib.h>
#include <zstd.h>

#include "import_perf_data.h"

enum {
	UNPACK_STEP = 128 << 10,
	UNPACK_PIECE = 64 << 20, /* when perf did not say: its largest default ring, twice over */
	UNPACK_LARGEST = 256 << 20,
	UNPACK_FREE = 256 << 20, /* bytes before the ratio counts */
	UNPACK_RATIO = 200,
	UNPACK_BYTES_STEP = 16,
};

struct recording_unpack {
	ZSTD_DStream *stream;
	uint64_t packed, unpacked; /* bytes so far */
	size_t rest_len;	   /* a record that the next piece ends */
	char rest[RECORD_LARGEST];
};

static struct recording_chunk *chunk_resize(struct recording_chunk *chunk, size_t capacity)
{
	return mem_resize(chunk, 1, sizeof(*chunk) + capacity);
}

static struct recording_unpack *unpack_open(void)
{
	struct recording_unpack *unpack = mem_new(1, sizeof(*unpack));

	unpack->stream = ZSTD_createDStream();
	if (!unpack->stream) {
		free(unpack);
		return NULL;
	}
	return unpack;
}

static bool unpack_is_bomb(const struct recording *rec, size_t piece)
{
	const struct recording_unpack *unpack = rec->unpack;
	size_t limit = rec->unpack_limit ? rec->unpack_limit : UNPACK_PIECE;

	if (limit > UNPACK_LARGEST)
		limit = UNPACK_LARGEST;
	return piece > limit ||
	       (unpack->unpacked > UNPACK_FREE && unpack->unpacked / UNPACK_RATIO > unpack->packed);
}

static void unpack_fail(struct recording *rec, struct import_text packed, const char *reason)
{
	import_damage(rec->report, "compressed data at byte %zu: %s",
		(size_t)(packed.at - rec->file.at), reason);
	rec->stop = true;
}

/* Unpack everything behind chunk->len; the chunk may move.  After a damage it holds what came
 * before. */
static struct recording_chunk *chunk_fill(
	struct recording *rec, struct recording_chunk *chunk, struct import_text packed)
{
	ZSTD_inBuffer in = {packed.at, packed.len, 0};
	size_t capacity = chunk->len, piece = 0;
	ZSTD_outBuffer out;

	do {
		size_t r;

		if (chunk->len == capacity) {
			capacity += capacity < UNPACK_STEP ? UNPACK_STEP : capacity;
			chunk = chunk_resize(chunk, capacity);
		}
		out = (ZSTD_outBuffer){chunk->bytes + chunk->len, capacity - chunk->len, 0};
		r = ZSTD_decompressStream(rec->unpack->stream, &out, &in);
		chunk->len += out.pos;
		piece += out.pos;
		rec->unpack->unpacked += out.pos;
		if (!quota_take(rec->report->quota, out.pos) ||
			!quota_step(rec->report->quota, out.pos / UNPACK_BYTES_STEP))
			rec->stop = true;
		if (ZSTD_isError(r))
			unpack_fail(rec, packed, ZSTD_getErrorName(r));
		else if (unpack_is_bomb(rec, piece))
			unpack_fail(rec, packed, "it unpacks to more than perf ever packs");
	} while (!rec->stop && (in.pos < in.size || out.pos == out.size));
	return chunk_resize(chunk, chunk->len);
}

struct recording_chunk *unpack_take(struct recording *rec, struct import_text packed)
{
	struct recording_chunk *chunk;

	if (!rec->unpack)
		rec->unpack = unpack_open();
	if (!rec->unpack) {
		import_damage(rec->report, "not enough memory to unpack it");
		rec->stop = true;
		return NULL;
	}
	rec->unpack->packed += packed.len;
	chunk = chunk_resize(NULL, rec->unpack->rest_len);
	*chunk = (struct recording_chunk){.len = rec->unpack->rest_len};
	memcpy(chunk->bytes, rec->unpack->rest, rec->unpack->rest_len);
	rec->unpack->rest_len = 0;
	return chunk_fill(rec, chunk, packed);
}

void unpack_keep_rest(struct recording *rec, const struct recording_chunk *chunk)
{
	size_t len = chunk->len - chunk->used;

	if (rec->stop || len > sizeof(rec->unpack->rest))
		return;
	memcpy(rec->unpack->rest, chunk->bytes + chunk->used, len);
	rec->unpack->rest_len = len;
}

void unpack_done(struct recording *rec)
{
	if (!rec->unpack)
		return;
	ZSTD_freeDStream(rec->unpack->stream);
	free(rec->unpack);
	rec->unpack = NULL;
}
