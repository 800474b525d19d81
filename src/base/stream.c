/* stream.c - see stream.h. */
#include "base/stream.h"

static void stream_give(struct stream *stream)
{
	if (!stream->error && stream->text.len)
		stream->error = stream->write(stream->context, stream->text.at, stream->text.len);
	if (!stream->error)
		stream->given_bytes += stream->text.len;
	str_clear(&stream->text);
}

void stream_pace(struct stream *stream)
{
	if (stream->text.len >= STREAM_PIECE)
		stream_give(stream);
}

int stream_end(struct stream *stream)
{
	stream_give(stream);
	str_done(&stream->text);
	return stream->error;
}
