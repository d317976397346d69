/** Events of a stream; exactly one of the last three is the end of the request. */
export const streamEventTypes = [
  'invocation.created',
  'invocation.status',
  'invocation.chunk',
  'invocation.input_required',
  'invocation.completed',
  'invocation.failed',
  'invocation.cancelled',
] as const;
export type StreamEventType = (typeof streamEventTypes)[number];

/** True if an event of this type is the end of a request. */
export const isTerminal = (type: StreamEventType): boolean =>
  type === 'invocation.completed' || type === 'invocation.failed' || type === 'invocation.cancelled';
