export interface SseMessage {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

const MAX_CHARS = 4 * 1024 * 1024;

/** One block of lines of a stream, which an empty line ended; null for a comment or what has no data. */
export function readBlock(block: string): SseMessage | null {
  const fields: Record<string, string> = {};
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined)
      fields[name] = name === 'data' && fields.data !== undefined ? `${fields.data}\n${value}` : value;
  }
  if (fields.data === undefined) return null;
  return { id: fields.id ?? '', type: fields.event ?? 'message', data: fields.data };
}

/**
 * The events of a body of server-sent events (WHATWG HTML, "Server-sent events"); `onBytes` is told of whatever comes, comments too.
 * Throws when an event does not end.
 */
export async function* readSse(body: ReadableStream<Uint8Array>, onBytes?: () => void): AsyncGenerator<SseMessage> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes?.();
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      if (rest.length > MAX_CHARS) throw new Error('an event does not end');
      for (const block of blocks) {
        const message = readBlock(block);
        if (message) yield message;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
