import { createHash } from 'node:crypto';
import type { KnownCaller } from '../../../accounts/caller.ts';
import { suspended } from '../../../accounts/suspension.ts';
import { AppError, invalid } from '../../../lib/app-error.ts';
import { newId } from '../../../lib/id.ts';
import type { HttpContext } from '../../request/http-context.ts';
import type { A2aCall } from './a2a-call.ts';
import { invalidParam, taskNotFound } from './errors.ts';
import { findPushes, hasPushRoom, type PushRow, removePush, writePush } from './push-store.ts';
import { findTask } from './task-operations.ts';
import type { PushConfig, SendMessage } from './wire.ts';

const MAX = { ofTask: 5, ofAccount: 200 };

/** Credentials sent with a push, in headers. */
export interface PushSecrets {
  readonly token?: string | undefined;
  readonly credentials?: string | undefined;
}

/**
 * The caller that owns configurations. Throws UNAUTHORIZED without a key: payers by wallet follow or read the task instead. A resultToken
 * reads its request, but not the push settings of the account.
 */
function keyedCaller({ opened: { caller } }: A2aCall): KnownCaller {
  if (caller.kind === 'anonymous') throw new AppError('UNAUTHORIZED', 'Push notifications need an API key.');
  return caller;
}

/** The account that has a configuration made. Throws FORBIDDEN for a suspended one, which starts nothing new. */
function accountOf(call: A2aCall): string {
  const caller = keyedCaller(call);
  if (caller.isSuspended) throw suspended();
  return caller.accountId;
}

const isHeader = (text: string) => /^[\x20-\x7e]*$/.test(text);

/** Checks a configuration before any purchase: the node can call its address, and its secrets fit into headers. */
function requirePushable(ctx: HttpContext, call: A2aCall, { url, token, authentication }: PushConfig): void {
  accountOf(call);
  const check = ctx.guardedFetch.checkUrl(url);
  if (!check.ok) throw invalidParam('url', check.reason);
  const { scheme = 'Bearer', credentials = '' } = authentication ?? {};
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(scheme))
    throw invalidParam('authentication.scheme', 'is not an HTTP authentication scheme');
  if (!isHeader(credentials) || !isHeader(token ?? ''))
    throw invalidParam('token', 'and credentials must be visible ASCII characters');
}

const noRoom = () =>
  invalid('taskId', `has ${MAX.ofTask} configurations, or the account has ${MAX.ofAccount} of running tasks`);

/** The configuration of a message, checked before anything is bought. The same message again has the same one. */
export async function pushOfMessage(
  ctx: HttpContext,
  call: A2aCall,
  { message, config }: { readonly message: SendMessage['message']; readonly config: PushConfig },
): Promise<PushConfig & { readonly id: string }> {
  requirePushable(ctx, call, config);
  const { messageId, taskId = null } = message;
  const named = createHash('sha256')
    .update(JSON.stringify([call.agentId, messageId, config.url]))
    .digest('hex');
  const id = config.id ?? `whk_${named.slice(0, 26)}`;
  const wanted = { taskId, id, accountId: accountOf(call), isOfMessage: config.id === undefined };
  if (!(await hasPushRoom(ctx.db, wanted, MAX))) throw noRoom();
  return { ...config, id };
}

/** Adds a configuration to a bought task. If others have reached the limit first, it is left out, and the purchase stays valid. */
export async function addToBought(ctx: HttpContext, call: A2aCall, taskId: string, config: PushConfig): Promise<void> {
  await addPush(ctx, call, taskId, config).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'VALIDATION_ERROR')) throw error;
    ctx.log.debug({ err: error, requestId: taskId }, 'no room for the push configuration of a message');
  });
}

/** Adds a configuration to a task of the caller. */
async function addPush(ctx: HttpContext, call: A2aCall, taskId: string, config: PushConfig) {
  requirePushable(ctx, call, config);
  const { url, token, authentication } = config;
  const secrets: PushSecrets = { token, credentials: authentication?.credentials };
  const push = {
    ...{ taskId, url, id: config.id ?? newId('whk'), accountId: accountOf(call), version: call.version },
    scheme: authentication?.scheme ?? null,
    sealed: ctx.secrets.seal(JSON.stringify(secrets)),
  };
  if (!(await ctx.db.transaction((tx) => writePush(tx, push, MAX, ctx.clock.now())))) throw noRoom();
  return shown(push);
}

/** Credentials are not shown again. */
const shown = ({ id, taskId, url, scheme }: Pick<PushRow, 'id' | 'taskId' | 'url' | 'scheme'>) => ({
  ...{ id, taskId, url },
  ...(scheme === null ? {} : { authentication: { scheme } }),
});

export async function createPush(
  ctx: HttpContext,
  call: A2aCall,
  { taskId, ...config }: PushConfig & { taskId: string },
) {
  accountOf(call);
  await findTask(ctx, call, taskId, {});
  return addPush(ctx, call, taskId, { ...config, taskId });
}

export async function listPushes(ctx: HttpContext, call: A2aCall, taskId: string) {
  keyedCaller(call);
  await findTask(ctx, call, taskId, {});
  return { configs: (await findPushes(ctx.db, taskId)).map(shown), nextPageToken: '' };
}

/** A configuration of a task; without an id, which only 0.3 leaves out, the first. */
export async function readPush(ctx: HttpContext, call: A2aCall, taskId: string, id: string | undefined) {
  if (id === undefined && call.version !== '0.3') throw invalidParam('id', 'is missing');
  const { configs } = await listPushes(ctx, call, taskId);
  const found = id === undefined ? configs[0] : configs.find((config) => config.id === id);
  if (!found) throw taskNotFound();
  return found;
}

/** Removes a configuration; again is the same. */
export async function deletePush(ctx: HttpContext, call: A2aCall, taskId: string, id: string): Promise<null> {
  const { configs } = await listPushes(ctx, call, taskId);
  // Another id may be text that PostgreSQL does not take.
  if (configs.some((config) => config.id === id)) await removePush(ctx.db, taskId, id);
  return null;
}
