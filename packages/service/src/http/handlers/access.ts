import { listAudit } from '../../access/audit/audit.ts';
import { requireAccount } from '../../access/caller/caller.ts';
import { listApiKeys } from '../../access/keys/list-keys.ts';
import { createApiKey, readAccount, revokeApiKey } from '../../access/keys/manage-keys.ts';
import { rollApiKey } from '../../access/keys/roll-key.ts';
import { requestSignIn, signIn } from '../../identity/sign-in.ts';
import { listOwnAgents } from '../../invocations/read/list-own-agents.ts';
import { readOverview } from '../../invocations/stats/read-overview.ts';
import { readUsage } from '../../invocations/stats/read-usage.ts';
import type { Handlers } from '../request/handler.ts';

export const accessHandlers = {
  requestSignIn: (ctx, { body }) => requestSignIn(ctx, body),
  signIn: (ctx, { body, headers }) => signIn(ctx, body, headers['x-agent-network-via']),
  getAccount: (ctx, { caller }) => readAccount(ctx, caller),
  listApiKeys: (ctx, { caller }) => listApiKeys(ctx, requireAccount(caller)),
  createApiKey: (ctx, { caller, body, once }) => createApiKey(ctx, requireAccount(caller), body, once),
  revokeApiKey: (ctx, { caller, params }) => revokeApiKey(ctx, requireAccount(caller), params.keyId),
  rollApiKey: (ctx, { caller, params, body, once }) =>
    rollApiKey(ctx, requireAccount(caller), params.keyId, body, once),
  listAudit: (ctx, { caller, query }) => listAudit(ctx, requireAccount(caller), query),
  listOwnAgents: (ctx, { caller, query }) => listOwnAgents(ctx, requireAccount(caller), query),
  getOverview: (ctx, { caller, query }) => readOverview(ctx, requireAccount(caller), query),
  getUsage: (ctx, { caller, query }) => readUsage(ctx, requireAccount(caller), query),
} satisfies Partial<Handlers>;
