import { requireAccount } from '../../access/caller.ts';
import { createApiKey, listApiKeys, readAccount, revokeApiKey } from '../../access/manage-keys.ts';
import type { Handlers } from '../handler.ts';

export const accessHandlers = {
  getAccount: (ctx, { caller }) => readAccount(ctx, caller),
  listApiKeys: (ctx, { caller }) => listApiKeys(ctx, requireAccount(caller)),
  createApiKey: (ctx, { caller, body }) => createApiKey(ctx, requireAccount(caller), body),
  revokeApiKey: (ctx, { caller, params }) => revokeApiKey(ctx, requireAccount(caller), params.keyId),
} satisfies Partial<Handlers>;
