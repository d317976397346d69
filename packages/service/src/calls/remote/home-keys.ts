import { signInText } from '../../accounts/proofs/wallet-challenge.ts';
import type { Home } from '../../agents/agent.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { signText } from '../../chain/keys/signer.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import { parseObject } from '../../lib/json/json-object.ts';
import type { Outbound } from '../../lib/net/guarded-fetch.ts';
import type { Store } from '../../store/database.ts';
import type { HomeKeys, KeyAtHome } from '../call-services.ts';
import { findHomeKey, writeHomeKey } from './home-store.ts';

/** Keys are stored sealed in the database, for all processes. Each process runs one sign-in for a node at a time. */
export function createHomeKeys(ctx: Store & Pick<NodeKeys, 'wallet' | 'secrets'> & Outbound & NodeIdentity): HomeKeys {
  const known = createBoundedCache<string>(10_000);

  async function find(home: Home, refused: string | null): Promise<KeyAtHome> {
    const sealed = await findHomeKey(ctx.db, home.nodeId);
    const stored = sealed && ctx.secrets.openOrNull(sealed);
    if (stored && stored !== refused) {
      known.set(home.nodeId, stored);
      return { key: stored };
    }
    const got = await signInAtHome(ctx, home);
    if ('key' in got) {
      await writeHomeKey(ctx.db, home.nodeId, ctx.secrets.seal(got.key));
      known.set(home.nodeId, got.key);
    }
    return got;
  }

  const findOnce = singleFlight(find, ({ nodeId }) => nodeId);

  async function get(home: Home, refused: string | null): Promise<KeyAtHome> {
    const key = known.get(home.nodeId);
    if (key !== undefined && key !== refused) return { key };
    return findOnce(home, refused);
  }

  return { keyFor: (home) => get(home, null), renew: get };
}

type SignInContext = Outbound & NodeIdentity & Pick<NodeKeys, 'wallet'> & Store;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const KEY_LIFETIME_S = 30 * 86_400;
/** Refusal for an answer that does not follow the protocol. */
const UNUSABLE = { refusal: 403 };

/**
 * Signs in at another node with this node's wallet, for a key with the right to invoke and no other. The signed text is this node's own,
 * naming that node. Throws GuardedFetchError when it can't be reached.
 */
async function signInAtHome(ctx: SignInContext, home: Home): Promise<KeyAtHome> {
  const { address } = ctx.wallet;
  const asked = await post(ctx, home, '/auth/challenge', { address });
  if ('refusal' in asked) return asked;
  const { challengeId, message } = asked.data;
  const { chainId } = ctx.chain;
  if (typeof challengeId !== 'string' || typeof message !== 'string') return UNUSABLE;
  const text = signInText(message, { baseUrl: home.baseUrl, chainId, address, now: ctx.clock.now() });
  if (text === null) return UNUSABLE;
  const signed = await post(ctx, home, '/auth/sign-in', {
    challengeId,
    signature: await signText(ctx.wallet, text),
    name: 'node',
    scopes: ['invoke'],
    expiresInS: KEY_LIFETIME_S,
  });
  if ('refusal' in signed) return signed;
  const { apiKey } = signed.data;
  return typeof apiKey === 'string' && /^[\x21-\x7e]{1,200}$/.test(apiKey) ? { key: apiKey } : UNUSABLE;
}

type Posted = { readonly data: Record<string, unknown> } | { readonly refusal: number };

async function post(ctx: SignInContext, home: Home, path: string, body: object): Promise<Posted> {
  const answer = await ctx.guardedFetch.request({
    url: home.baseUrl + path,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'x-agent-network-via': ctx.baseUrl },
    body: JSON.stringify(body),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  if (answer.status === 429 || answer.status >= 500) return { refusal: answer.status };
  const data = answer.status === 200 ? parseObject(answer.body.toString('utf8'))?.data : undefined;
  return typeof data === 'object' && data !== null ? { data: data as Record<string, unknown> } : UNUSABLE;
}
