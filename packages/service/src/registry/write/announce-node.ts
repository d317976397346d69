import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { DAY_MS } from '../../lib/duration.ts';
import type { Store } from '../../store/database.ts';
import type { RegistryIndex } from '../read/registry-tokens.ts';
import { hasFailedAfter, latestWrite, queueWrite } from './queue-write.ts';
import { registerCall, uriCall } from './registry-calls.ts';
import { NODE_SUBJECT } from './registry-write.ts';

type AnnounceContext = Store & NodeIdentity & RegistryIndex & Pick<NodeKeys, 'registrar'>;

/** URL of a node's own registration file. */
export const nodeFileUrl = ({ baseUrl }: Pick<NodeIdentity, 'baseUrl'>): string =>
  `${baseUrl}/.well-known/agent-network.json`;

/** Token of this node's own entry in the shared registry; null when it has none. */
export async function nodeTokenOf(ctx: Store & RegistryIndex): Promise<string | null> {
  return (await latestWrite(ctx, ['register'], NODE_SUBJECT))?.tokenId ?? null;
}

export interface HomeKeyContext extends Store, RegistryIndex, Pick<NodeKeys, 'registrar'>, NodeIdentity {}

/**
 * The key that speaks for this node in the registry: the one that made its token point to it, which stays the same when the node gets
 * another registrar; otherwise the registrar. null: the node does not write to the registry.
 */
export async function homeKeyOf(ctx: HomeKeyContext): Promise<string | null> {
  if (!ctx.registrar) return null;
  const tokenId = await nodeTokenOf(ctx);
  const own = tokenId === null ? null : await ctx.registryTokens.at(BigInt(tokenId));
  return own?.token.uri === nodeFileUrl(ctx) ? own.token.uriBy : ctx.registrar.address.toLowerCase();
}

/** Pause before a write that the registry reverted is tried again: each try costs the registrar gas. */
const AGAIN_AFTER_MS = DAY_MS;

/** Registers the node in the shared registry under its present address, if it can write there. */
export async function announceNode(ctx: AnnounceContext): Promise<void> {
  if (!ctx.registrar) return;
  const uri = nodeFileUrl(ctx);
  const entry = await latestWrite(ctx, ['register'], NODE_SUBJECT);
  const written = await latestWrite(ctx, ['register', 'uri'], NODE_SUBJECT);
  if (entry?.state === 'due' || entry?.state === 'sent' || (entry?.state === 'done' && written?.uri === uri)) return;
  const call = entry?.state === 'done' ? uriCall(ctx, entry.tokenId ?? '', uri) : registerCall(ctx, uri);
  const kind = entry?.state === 'done' ? 'uri' : 'register';
  const write = { kind, subjectId: NODE_SUBJECT, ...call } as const;
  const now = ctx.clock.now();
  if (await hasFailedAfter(ctx, write, new Date(now.getTime() - AGAIN_AFTER_MS))) return;
  await ctx.db.transaction((tx) => queueWrite(ctx, tx, write, now));
}
