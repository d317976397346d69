import type { EndpointName } from '@agent-network/contracts/api';
import type { Endpoint, Parsed } from '@agent-network/contracts/endpoint';
import { Id } from '@agent-network/contracts/scalars';
import { type AuditEnd, actorOf, endByError, endEntry, type NewAuditEntry, writeEntry } from '../../accounts/audit.ts';
import type { Caller } from '../../accounts/caller.ts';
import { PreparedJson } from '../../lib/json/prepared-json.ts';
import type { Client } from './client.ts';
import type { HttpContext } from './http-context.ts';

/** Calls that are not audited: they only read, are work or its payment, or request a challenge. */
const unaudited = new Set<EndpointName>([
  'searchAgents',
  'matchAgents',
  'testEndpoint',
  'quoteInvocation',
  'cancelInvocation',
  'answerInput',
  'depositToTreasury',
  'requestSignIn',
  'requestWithdrawal',
  'putFile',
  'createFile',
]);

/** True if the account's audit log records calls of this row: changes unless exempt above, and the showing of a secret. */
export function isAudited(name: EndpointName, row: Endpoint): boolean {
  if (name === 'getWebhookSecret') return true;
  return row.method !== 'GET' && row.limit !== 'invocations' && row.auth !== 'agent' && !unaudited.has(name);
}

const isSignIn = (row: Endpoint): boolean => row.auth === 'none' && row.limit === 'signIns';

/**
 * True for calls that may change data cached in processes: agents, accounts, keys. Their answers wait until every process has the change.
 */
export const isSettled = (name: EndpointName, row: Endpoint): boolean =>
  row.method !== 'GET' && (isAudited(name, row) || name === 'heartbeat');

export interface AuditedCall {
  readonly name: EndpointName;
  readonly row: Endpoint;
  readonly caller: Caller;
  readonly client: Client;
}

/**
 * Runs a call and records it in the account's audit log. Writes the entry before the work, as `unknown`, and completes it after: no change
 * by a caller of the account is without an entry, and a change never fails because its entry could not be completed. Sign-in has no account
 * before: its entry is written after, and lost if the process dies in between; the lists of sessions and keys show its effect.
 */
export async function auditCall<T>(
  ctx: HttpContext,
  { name, row, caller, client, parsed }: AuditedCall & { readonly parsed: Parsed<Endpoint> },
  run: () => Promise<T>,
): Promise<T> {
  if (!isAudited(name, row)) return run();
  // Whatever credential comes with a sign-in, it is a change of the account that signs in.
  if (caller.kind === 'anonymous' || isSignIn(row)) {
    const data = await run();
    const entry = signedIn(name, data, client);
    if (entry) await ended(ctx, entry, done, (end) => writeEntry(ctx, entry, end));
    return data;
  }
  if (caller.kind === 'agent') return run();
  const subject = { ...accountIn(parsed.params), ...idsIn(parsed.params), ...idsIn(parsed.body) };
  const entry = entryOf(name, { ...caller, ...actorOf(caller) }, client, subject);
  const id = await writeEntry(ctx, entry);
  try {
    const data = await run();
    const found = idsIn(data);
    await ended(ctx, { ...entry, subject: { ...subject, ...found } }, done, (end) =>
      endEntry(ctx, id, { subject: found, ...end }),
    );
    return data;
  } catch (error) {
    await ended(ctx, entry, endByError(error), (end) => endEntry(ctx, id, { subject: {}, ...end }));
    throw error;
  }
}

/**
 * Reads the answer of an earlier call for a repetition, and records that in the audit log, also when it is refused. Not recorded while the
 * first call runs, because callers poll then.
 */
export async function auditReplay<Found>(
  ctx: HttpContext,
  { name, row, caller, client, parsed }: AuditedCall & { readonly parsed: Parsed<Endpoint> },
  find: () => Promise<Found>,
  read: (found: Found) => Promise<unknown>,
): Promise<unknown> {
  if (!isAudited(name, row) || caller.kind !== 'account') return read(await find());
  const subject = { ...idsIn(parsed.params), ...idsIn(parsed.body) };
  const entry = { ...entryOf(name, { ...caller, ...actorOf(caller) }, client, subject), replayed: true };
  const found = await find().catch(async (error) => {
    const end = endByError(error);
    if (end.outcome === 'refused' && end.code !== 'CONFLICT')
      await ended(ctx, entry, end, () => writeEntry(ctx, entry, end));
    throw error;
  });
  const id = await writeEntry(ctx, entry);
  const data = await read(found);
  await ended(ctx, entry, done, (end) => endEntry(ctx, id, { subject: idsIn(data), ...end }));
  return data;
}

/** Records a call that was refused for lack of permission. */
export async function auditRefusal(
  ctx: HttpContext,
  { name, row, caller, client }: AuditedCall,
  params: Readonly<Record<string, string>>,
  error: unknown,
): Promise<void> {
  if (!isAudited(name, row) || caller.kind !== 'account') return;
  const entry = entryOf(name, { ...caller, ...actorOf(caller) }, client, idsIn(params));
  await ended(ctx, entry, endByError(error), (end) => writeEntry(ctx, entry, end));
}

type Actor = Pick<NewAuditEntry, 'accountId' | 'actorKind' | 'actorId' | 'actorName'>;

const entryOf = (
  action: EndpointName,
  { accountId, actorKind, actorId, actorName }: Actor,
  { address, userAgent }: Client,
  subject: Record<string, string>,
): NewAuditEntry => ({
  accountId,
  actorKind,
  actorId,
  actorName,
  action,
  address,
  userAgent,
  subject,
  replayed: false,
});

/** Entry of a call that had no account and got one by its answer: the actor is the session or key that it created. */
function signedIn(name: EndpointName, data: unknown, client: Client): NewAuditEntry | null {
  const { accountId, sessionId, keyId, name: keyName } = data as Readonly<Record<string, string | undefined>>;
  const actorId = sessionId ?? keyId;
  if (accountId === undefined || actorId === undefined) return null;
  const actor = sessionId ? { actorKind: 'session', actorName: 'session' } : { actorKind: 'key', actorName: keyName };
  return entryOf(name, { accountId, actorId, ...actor } as Actor, client, idsIn(data));
}

/** The account that an operator's call is about. */
const accountIn = (params: unknown): Record<string, string> => {
  const { accountId } = (params ?? {}) as { accountId?: string };
  return accountId === undefined ? {} : { accountId };
};

const idNames = [
  'agentId',
  'keyId',
  'sessionId',
  'treasuryId',
  'tokenId',
  'webhookId',
  'deliveryId',
  'withdrawalId',
  'fileId',
];

/** Collects the ids among the fields of a value; agents are `id` in paths. */
function idsIn(value: unknown): Record<string, string> {
  const fields = { ...((value instanceof PreparedJson ? value.value : value) as Record<string, unknown>) };
  if (!('agentId' in fields)) fields.agentId = fields.id;
  return Object.fromEntries(
    idNames.flatMap((name) => {
      const id = Id.safeParse(fields[name]);
      return id.success ? [[name, id.data]] : [];
    }),
  );
}

const done: AuditEnd = { outcome: 'done', code: null };

/**
 * Stores the end of an entry and writes it to the audit stream of the log, which works without the database. Logs a failed write: the
 * change is valid with or without its entry.
 */
async function ended(
  ctx: HttpContext,
  { userAgent: _userAgent, ...entry }: NewAuditEntry,
  end: AuditEnd,
  store: (end: AuditEnd) => Promise<unknown>,
): Promise<void> {
  ctx.log.info({ stream: 'audit', ...entry, ...end }, 'audited');
  await store(end).catch((error) => ctx.log.error({ err: error }, 'cannot complete an audit log entry'));
}
