/** Abort reason of work when this process stops. */
export const STOPPING = new Error('this process stops');

/** True when work was aborted because this process stops, not because of a cancellation: another process continues it. */
export const isStopping = (signal: AbortSignal): boolean => signal.reason === STOPPING;
