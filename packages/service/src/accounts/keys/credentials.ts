import type { Store } from '../../store/database.ts';
import { type ChangeTag, createLazyCopies, type LazyCopies } from '../../store/replica/lazy-copies.ts';
import type { Replica } from '../../store/replica/replica.ts';
import type { AccountCaller, AgentCaller } from '../caller.ts';
import { type ApiKeyRow, findAgentsByToken, findApiKeys } from '../limits/access-store.ts';
import { type SessionCaller, sessionCaller } from './session-caller.ts';
import { findSessions } from './session-store.ts';

/** Facts of a key in use, in this process. The secret itself is not kept. */
interface HeldKey {
  readonly secretHash: Buffer;
  readonly revokedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly caller: AccountCaller;
  /** Time of the last recorded use. */
  usedAtMs: number;
}

interface HeldSession {
  readonly secretHash: Buffer;
  readonly revokedAt: Date | null;
  caller: SessionCaller;
}

interface HeldToken {
  readonly caller: AgentCaller;
  /** The wallet address of the agent's account. */
  readonly address: string;
}

/** Keys by their public id, sessions by id, identityTokens by the hash of theirs. */
export interface Credentials {
  readonly keys: LazyCopies<HeldKey>;
  readonly sessions: LazyCopies<HeldSession>;
  readonly tokens: LazyCopies<HeldToken>;
}

const MAX_HELD = 50_000;
/** Other processes record the use of a session, and an operator's key ends by the clock: the log names neither. */
const SESSION_AGE_MS = 1000;

/** Copies of the credentials that are in use, with the rights of their accounts. */
export function createCredentials(ctx: Store & { readonly replica: Replica }): Credentials {
  const tagsOfKey = ({ caller }: { caller: AccountCaller }): ChangeTag[] => [
    `key ${caller.keyId}`,
    `account ${caller.accountId}`,
    `wallet ${caller.address}`,
  ];
  return {
    keys: createLazyCopies<HeldKey>(ctx, {
      max: MAX_HELD,
      maxAgeMs: 0,
      topics: ['key', 'account', 'wallet'],
      tagsOf: tagsOfKey,
      read: async (ids) => new Map((await findApiKeys(ctx.db, ids)).map((row) => [row.keyId, heldKey(row)])),
    }),
    sessions: createLazyCopies<HeldSession>(ctx, {
      max: MAX_HELD,
      maxAgeMs: SESSION_AGE_MS,
      topics: ['key', 'account', 'wallet'],
      tagsOf: tagsOfKey,
      read: async (ids) =>
        new Map(
          (await findSessions(ctx.db, ids, ctx.clock.now())).map((row) => [
            row.keyId,
            { secretHash: row.secretHash, revokedAt: row.revokedAt, caller: sessionCaller(row) },
          ]),
        ),
    }),
    tokens: createLazyCopies<HeldToken>(ctx, {
      max: MAX_HELD,
      maxAgeMs: 0,
      topics: ['agent', 'account', 'wallet'],
      tagsOf: ({ caller, address }) => [`agent ${caller.agentId}`, `account ${caller.accountId}`, `wallet ${address}`],
      read: async (hashes) =>
        new Map(
          (await findAgentsByToken(ctx.db, hashes)).map(({ tokenHash, address, ...row }) => [
            tokenHash,
            { caller: { kind: 'agent', ...row }, address },
          ]),
        ),
    }),
  };
}

function heldKey(row: ApiKeyRow): HeldKey {
  const { secretHash, revokedAt, expiresAt, lastUsedAt, perCallMicro, perDayMicro, allowedAgents, ...caller } = row;
  const limits = { perCallMicro, perDayMicro, allowedAgents };
  return {
    ...{ secretHash, revokedAt, expiresAt },
    caller: { kind: 'account', ...caller, limits, session: null },
    usedAtMs: lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY,
  };
}
