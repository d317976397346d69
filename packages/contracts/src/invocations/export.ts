import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { cursorQuery, queryInteger } from '../page.ts';
import { JsonObject, Timestamp } from '../scalars.ts';
import { RequestRecord } from './invocations.ts';

const ExportedRequest = RequestRecord.extend({
  input: JsonObject,
  context: z.string().nullable(),
  keptUntil: Timestamp.describe('From this time on `result`, `input` and `context` may be removed.'),
});

export const exportEndpoints = {
  exportRequests: endpoint({
    method: 'GET',
    path: '/account/export',
    summary: 'Your ended requests whole, with input and result, oldest first, before retention removes them',
    tag: 'Account',
    auth: 'key',
    scope: 'invoke',
    limit: 'api',
    query: z.object({
      limit: queryInteger(1, 100).optional().describe('Default 20; a page of large results has fewer.'),
      ...cursorQuery,
    }),
    data: z.object({
      requests: z.array(ExportedRequest),
      keptDays: z
        .object({ results: z.int(), streams: z.int(), events: z.int() })
        .describe('Days after which this node removes results and inputs, streams, and events.'),
      hasMore: z.boolean(),
      nextCursor: z.string().nullable().describe('Cursor of the next page; null: nothing more has ended.'),
    }),
    errors: [],
  }),
};
