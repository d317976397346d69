import type { ServerResponse } from 'node:http';
import type { AgentRequest, Behaviour } from '../../../support/test-agent.ts';

/** An event of an agent's stream. */
export interface Said {
  readonly event?: string;
  readonly data: unknown;
}

export const encodeSaid = ({ event, data }: Said): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

export const beginStream = (response: ServerResponse, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'text/event-stream' });

/** Says all of it and ends the stream. */
export const says =
  (...list: readonly Said[]): Behaviour =>
  (_request, response) => {
    beginStream(response);
    response.end(list.map(encodeSaid).join(''));
  };

export interface Conversation {
  readonly request: AgentRequest;
  say(said: Said): void;
  end(): void;
  /** Breaks the connection off. */
  break(): void;
  /** Resolves when the other side has gone. */
  readonly closed: Promise<void>;
}

/** An agent with a stream that the test writes, one call after the other. */
export function spokenBy(): { behaviour: Behaviour; next(): Promise<Conversation> } {
  const waiting: ((conversation: Conversation) => void)[] = [];
  const ready: Conversation[] = [];
  return {
    behaviour(request, response) {
      beginStream(response);
      response.flushHeaders();
      const conversation: Conversation = {
        request,
        say: (said) => void response.write(encodeSaid(said)),
        end: () => void response.end(),
        break: () => void response.socket?.destroy(),
        closed: new Promise((resolve) => response.once('close', resolve)),
      };
      const waiter = waiting.shift();
      if (waiter) waiter(conversation);
      else ready.push(conversation);
    },
    next() {
      const first = ready.shift();
      return first ? Promise.resolve(first) : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

export const chunk = (data: unknown): Said => ({ event: 'chunk', data });
export const progress = (data: unknown): Said => ({ event: 'progress', data });
export const result = (value: unknown, more: object = {}): Said => ({
  event: 'result',
  data: { result: value, ...more },
});
