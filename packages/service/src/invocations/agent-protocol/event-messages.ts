import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { MAX_RESULT_BYTES } from './agent-answer.ts';

/** What one piece of a stream brought. */
export interface MessagePart {
  readonly messages: readonly EventSourceMessage[];
  /** It holds an event that is longer than any may be. */
  readonly isTooLarge: boolean;
}

/** Reads server-sent events as they come (WHATWG HTML, "Server-sent events"). `roomBytes`: for what stands around a result. */
export async function* messagesOf(bytes: AsyncIterable<Buffer>, roomBytes: number): AsyncGenerator<MessagePart> {
  const messages: EventSourceMessage[] = [];
  let isTooLarge = false;
  const parser = createParser({
    onEvent: (message) => void messages.push(message),
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
    maxBufferSize: MAX_RESULT_BYTES + roomBytes,
  });
  const decoder = new TextDecoder();
  for await (const part of bytes) {
    parser.feed(decoder.decode(part, { stream: true }));
    yield { messages: messages.splice(0), isTooLarge };
  }
}
