import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { errorCodes } from '../errors.ts';
import { queryInteger } from '../page.ts';
import { Id, Timestamp } from '../scalars.ts';

/** Outcome of an audited change. `unknown`: the change began, and the node failed or died before it recorded the end. */
export const auditOutcomes = ['done', 'refused', 'unknown'] as const;

const AuditEntry = z.object({
  entryId: Id,
  at: Timestamp,
  action: z.string().describe('The call, by its operationId in the OpenAPI document.'),
  actor: z.object({
    kind: z.enum(['key', 'session']),
    id: Id,
    name: z.string(),
  }),
  subject: z.record(z.string(), z.string()).describe('Ids of the affected objects, by kind.'),
  address: z.string().describe('Network address of the caller.'),
  userAgent: z.string().nullable(),
  outcome: z.enum(auditOutcomes),
  replayed: z
    .boolean()
    .describe(
      'true: a repetition under an Idempotency-Key, which got the answer of the first call and changed nothing.',
    ),
  code: z.enum(errorCodes).nullable().describe('Error code of the answer.'),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const auditEndpoints = {
  listAudit: endpoint({
    method: 'GET',
    path: '/account/audit',
    summary: 'Read the audit log: changes of the last 400 days with caller and network address, newest first',
    tag: 'Account',
    auth: 'key',
    scope: 'keys:manage',
    limit: 'api',
    query: z.object({
      limit: queryInteger(1, 100).optional().describe('Default: 50.'),
      cursor: Id.optional().describe('`nextCursor` of the previous page.'),
    }),
    data: z.object({ entries: z.array(AuditEntry), nextCursor: z.string().nullable() }),
    errors: [],
  }),
};
