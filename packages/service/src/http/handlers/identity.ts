import { requireAccount } from '../../access/caller.ts';
import { claimToken } from '../../agents/claim-token.ts';
import { linkToken } from '../../agents/link-token.ts';
import { readIdentity } from '../../agents/read-identity.ts';
import { updateMetadata } from '../../agents/update-metadata.ts';
import { verifyIdentity } from '../../agents/verify-identity.ts';
import type { Handlers } from '../handler.ts';

export const identityHandlers = {
  getIdentity: (ctx, { params }) => readIdentity(ctx, params.id),
  verifyIdentity: (ctx, { caller, body, once }) => verifyIdentity(ctx, requireAccount(caller), body, once),
  claimToken: (ctx, { caller, params }) => claimToken(ctx, requireAccount(caller), params.id),
  linkToken: (ctx, { caller, params, body }) => linkToken(ctx, requireAccount(caller), params.id, body.tokenId),
  updateIdentityMetadata: (ctx, { caller, params, body }) =>
    updateMetadata(ctx, requireAccount(caller), params.id, body),
} satisfies Partial<Handlers>;
