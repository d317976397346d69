import type { Context } from 'hono';
import { accepts } from 'hono/accepts';

const PAGE = 'text/html';

/**
 * True if a page is preferred to JSON: `text/html` stands in `Accept`, and JSON with no greater weight before it. A wildcard is no wish for a page, and who
 * sends an API key is a program.
 */
export const wantsPage = (c: Context): boolean =>
  c.req.header('authorization') === undefined &&
  accepts(c, { header: 'Accept', supports: ['application/json', PAGE], default: 'application/json' }) === PAGE;
