/** Time within which a client may repeat a call that it did not name. */
export const TWIN_WINDOW_MS = 600_000;
