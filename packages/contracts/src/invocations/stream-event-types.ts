/** Events of a stream; exactly one of the last three ends it. */
export const streamEventTypes = [
  'invocation.created',
  'invocation.status',
  'invocation.chunk',
  'invocation.completed',
  'invocation.failed',
  'invocation.cancelled',
] as const;
export type StreamEventType = (typeof streamEventTypes)[number];

/** True if an event of this type ends a stream. */
export const isTerminal = (type: StreamEventType): boolean =>
  type === 'invocation.completed' || type === 'invocation.failed' || type === 'invocation.cancelled';
