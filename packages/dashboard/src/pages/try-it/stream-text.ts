import type { StreamEvent } from '@agent-network/sdk';

const MAX_STEPS = 200;
const DETAIL_CHARS = 200;

const asText = (value: unknown): string => (typeof value === 'string' ? value : `${JSON.stringify(value)}\n`);

/** The pieces of the answer, put together. Pieces that are no text stand as JSON, one in a line. */
export const said = (events: readonly StreamEvent[]): string =>
  events
    .filter((event) => event.type === 'invocation.chunk')
    .map(({ data: { requestId: _, chunk, ...rest } }) => asText(chunk === undefined ? rest : chunk))
    .join('');

/** The last events in a line each. */
export const stepsOf = (events: readonly StreamEvent[]) =>
  events.slice(-MAX_STEPS).map(({ id, type, data: { requestId: _, ...rest } }) => ({
    id,
    type: type.replace('invocation.', ''),
    detail: JSON.stringify(rest).slice(0, DETAIL_CHARS),
  }));
