/** The longest wait of an answer for the end of its call: longer than the default deadline of any. */
export const MAX_WAIT_MS = 15 * 60_000;
