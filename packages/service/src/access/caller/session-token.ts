import { randomText, SECRET_CHARS } from './api-key.ts';

const pattern = /^(ses_[0-9a-z]{26})\.([0-9A-Za-z]{43})$/;

/** What the cookie of a session holds: its id, which is no secret, and 256 random bits, of which only a hash is stored. */
export const newSessionToken = (sessionId: string): string => `${sessionId}.${randomText(SECRET_CHARS)}`;

/** The id of the session of a well-formed token; null for anything else, API keys included, without asking the database. */
export const sessionIdOf = (token: string): string | null => pattern.exec(token)?.[1] ?? null;
