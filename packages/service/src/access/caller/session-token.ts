import { randomText, SECRET_CHARS } from './api-key.ts';

const pattern = /^(ses_[0-9a-z]{26})\.([0-9A-Za-z]{43})$/;

/** The value of a session cookie: the public session id and 256 random bits, stored as a hash only. */
export const newSessionToken = (sessionId: string): string => `${sessionId}.${randomText(SECRET_CHARS)}`;

/** The session id of a well-formed token; null for anything else, API keys included, without a query. */
export const sessionIdOf = (token: string): string | null => pattern.exec(token)?.[1] ?? null;
