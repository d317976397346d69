import type { StreamEvent } from '../../../invocations/stream/read-stream.ts';
import { textOf } from '../common/text-of.ts';
import type { ToolCallContext } from './call-context.ts';

/** Most bytes of progress in one call: a client that does not read them must not fill the memory. */
const MAX_BYTES = 256 * 1024;
const MAX_CHARS = 2000;
/** Size of a notification beside its message, in bytes. */
const FRAME_BYTES = 160;

/** Sends each event of a request as a progress notification, if the client asked for any. */
export function progressOf({
  mcpReq: { _meta, notify },
}: ToolCallContext): ((event: StreamEvent) => Promise<void>) | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined || !notify) return undefined;
  let progress = 0;
  let bytesLeft = MAX_BYTES;
  return async (event) => {
    const message = messageOf(event).slice(0, MAX_CHARS);
    bytesLeft -= Buffer.byteLength(message) + FRAME_BYTES;
    if (bytesLeft < 0) return;
    progress += 1;
    // A client that has gone does not end the work.
    await notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(
      () => undefined,
    );
  };
}

function messageOf({ type, data }: StreamEvent): string {
  const { requestId: _, ...fields } = data as Readonly<Record<string, unknown>>;
  if (type === 'invocation.chunk') return textOf(fields.chunk ?? fields.value ?? fields);
  return typeof fields.status === 'string' ? fields.status : textOf(fields);
}
