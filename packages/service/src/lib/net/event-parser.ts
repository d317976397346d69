import { createLineEnds } from '@agent-network/contracts/line-ends';

/** A server-sent event (WHATWG HTML, "Server-sent events"). */
export interface EventMessage {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
}

export interface EventParser {
  /** The events that end in this piece. */
  feed(piece: string): EventMessage[];
  /** True once an event has exceeded the maximum length; nothing after it is read. */
  isTooLarge(): boolean;
  /** Characters that are held of an event that has not ended. */
  heldChars(): number;
}

/**
 * Parses the events of strangers, in time and memory proportional to the characters, for any lines. eventsource-parser searches the rest of
 * a piece at each line when it contains a CR, creates an error for each meaningless line, and joins an event's lines one by one.
 */
export function createEventParser(maxChars: number): EventParser {
  const toLf = createLineEnds();
  let rest = '';
  let data: string[] = [];
  let dataChars = 0;
  let event: string | undefined;
  let id: string | undefined;
  let isTooLarge = false;

  function end(): EventMessage | null {
    const message = data.length > 0 ? { event, id, data: data.join('\n') } : null;
    event = undefined;
    id = undefined;
    data = [];
    dataChars = 0;
    return message;
  }

  function readLine(line: string): void {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'data') {
      data.push(value);
      dataChars += value.length + 1;
    } else if (field === 'event') event = value || undefined;
    else if (field === 'id' && !value.includes('\0')) id = value;
  }

  return {
    feed(piece) {
      if (isTooLarge) return [];
      const messages: EventMessage[] = [];
      const text = toLf(piece);
      let start = 0;
      for (let lineEnd = text.indexOf('\n'); lineEnd >= 0; lineEnd = text.indexOf('\n', start)) {
        const line = rest + text.slice(start, lineEnd);
        rest = '';
        start = lineEnd + 1;
        const message = line === '' ? end() : void readLine(line);
        if (message) messages.push(message);
      }
      rest += text.slice(start);
      if (rest.length + dataChars > maxChars) {
        isTooLarge = true;
        rest = '';
        end();
      }
      return messages;
    },
    isTooLarge: () => isTooLarge,
    heldChars: () => rest.length + dataChars,
  };
}
