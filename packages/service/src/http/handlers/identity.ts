import { requireAccount } from '../../access/caller/caller.ts';
import { readIdentity } from '../../agents/manage/read-identity.ts';
import { updateMetadata } from '../../agents/manage/update-metadata.ts';
import { verifyIdentity } from '../../agents/manage/verify-identity.ts';
import { claimToken } from '../../agents/registry-entry/claim-token.ts';
import { linkToken } from '../../agents/registry-entry/link-token.ts';
import type { Handlers } from '../request/handler.ts';

export const identityHandlers = {
  getIdentity: (ctx, { params }) => readIdentity(ctx, params.id),
  verifyIdentity: (ctx, { caller, body, once }) => verifyIdentity(ctx, requireAccount(caller), body, once),
  claimToken: (ctx, { caller, params }) => claimToken(ctx, requireAccount(caller), params.id),
  linkToken: (ctx, { caller, params, body }) => linkToken(ctx, requireAccount(caller), params.id, body.tokenId),
  updateIdentityMetadata: (ctx, { caller, params, body }) =>
    updateMetadata(ctx, requireAccount(caller), params.id, body),
} satisfies Partial<Handlers>;
