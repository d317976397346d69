/** Why work is broken off when this process stops. */
export const STOPPING = new Error('this process stops');

/** Whether work was broken off because this process stops, and not because nobody wants it: another process goes on with it. */
export const isStopping = (signal: AbortSignal): boolean => signal.reason === STOPPING;
