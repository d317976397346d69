import type { Home } from '../../agents/agent.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { HasWallet } from '../../chain/keys/node-keys.ts';
import { signText } from '../../chain/keys/signer.ts';
import { signInText } from '../../identity/challenges/wallet-challenge.ts';
import type { HasClock } from '../../lib/clock.ts';
import { parseObject } from '../../lib/json/json-object.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';

export type SignInContext = HasGuardedFetch & NodeIdentity & HasWallet & HasClock;

/** An API key, or the status of the refusal. */
export type KeyAtHome = { readonly key: string } | { readonly refusal: number };

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const KEY_LIFETIME_S = 30 * 86_400;
/** Refusal for an answer that does not follow the protocol. */
const UNUSABLE = { refusal: 403 };

/**
 * Signs in at another node with this node's wallet, for a key with the right to invoke and no other. The signed text is this node's own,
 * naming that node. Throws GuardedFetchError when it can't be reached.
 */
export async function signInAtHome(ctx: SignInContext, home: Home): Promise<KeyAtHome> {
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
