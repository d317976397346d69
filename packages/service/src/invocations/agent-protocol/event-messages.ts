import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { MAX_RESULT_BYTES } from './agent-answer.ts';

/** Events of one piece of a stream. */
export interface MessagePart {
  readonly messages: readonly EventSourceMessage[];
  /** An event of this piece exceeds the maximum length. */
  readonly isTooLarge: boolean;
}

/** Parses server-sent events as they arrive (WHATWG HTML, "Server-sent events"). `roomBytes`: allowance for the envelope of a result. */
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
