import { SIGN_IN_WITH_X, SignInWithX } from '@agent-network/contracts/payments/sign-in-with-x';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { problemText } from '../../lib/json/problem-text.ts';
import type { Store } from '../../store/database.ts';
import { newNonce } from './challenge-id.ts';
import { useOnce } from './challenge-store.ts';
import type { WalletSignatures } from './wallet-signature-client.ts';

const HEADER = 'SIGN-IN-WITH-X';
const STATEMENT = 'Read the calls that this wallet has paid for. This moves no money.';

/** The extension of a 402 answer that asks a wallet to sign in for this address of the node. Nothing is stored. */
export function signInExtension(ctx: NodeIdentity & Pick<Store, 'clock'>, uri: string): Record<string, unknown> {
  const now = ctx.clock.now();
  return {
    info: {
      domain: new URL(ctx.baseUrl).host,
      uri,
      version: '1',
      nonce: newNonce(),
      issuedAt: now.toISOString(),
      expirationTime: new Date(now.getTime() + SIGNED_WITHIN_MS).toISOString(),
      statement: STATEMENT,
      resources: [uri],
    },
    supportedChains: [{ chainId: ctx.chain.caip2, type: 'eip191' }],
    schema: {
      type: 'object',
      required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
    },
  };
}

/**
 * Verifies and uses up a sign-in for one of these addresses of the node; returns its wallet, in lower case. Throws VALIDATION_ERROR for a
 * malformed header, UNAUTHORIZED for one that is for another purpose, too old, used, or not signed by the wallet, and UNAVAILABLE when only
 * the chain can verify it and does not answer.
 */
export async function useSignIn(
  ctx: Store & NodeIdentity & { readonly walletSignatures: WalletSignatures },
  header: string,
  uris: readonly string[],
): Promise<string> {
  const signed = read(header);
  const now = ctx.clock.now();
  const problem = signInProblem(signed, { baseUrl: ctx.baseUrl, caip2: ctx.chain.caip2, uris, now });
  if (problem) throw refuse(problem);
  const { address, signature } = signed;
  const message = signInWithXText(signed);
  const method = await ctx.walletSignatures.judge({ address, message, signature }).catch((cause) => {
    const text = 'The chain is unavailable, so the signature cannot be checked now.';
    throw new AppError('UNAVAILABLE', text, {}, { cause });
  });
  if (!method) throw refuse('is not signed by the wallet');
  const wallet = address.toLowerCase();
  const expiresAt = new Date(Date.parse(signed.issuedAt) + SIGNED_WITHIN_MS);
  const id = `${SIGN_IN_WITH_X} ${wallet} ${signed.nonce}`;
  if (!(await ctx.db.transaction((tx) => useOnce(tx, id, { expiresAt, now })))) throw refuse('was used');
  return wallet;
}

function read(header: string): SignInWithX {
  const parsed = SignInWithX.safeParse(parseJson(Buffer.from(header, 'base64').toString('utf8')), {
    error: problemText,
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid([HEADER, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is malformed');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(HEADER, 'does not hold JSON; it may be cut off');
  }
}

const refuse = (problem: string) => new AppError('UNAUTHORIZED', `${HEADER} ${problem}. Sign in again.`);

/** The text (EIP-4361) that a wallet signed, from its parts, as the clients of the x402 extension write it. */
function signInWithXText(parts: SignInWithX): string {
  const optional = (name: string, value: string | undefined) => (value === undefined ? [] : [`${name}: ${value}`]);
  return [
    `${parts.domain} wants you to sign in with your Ethereum account:`,
    parts.address,
    '',
    ...(parts.statement ? [parts.statement] : []),
    '',
    `URI: ${parts.uri}`,
    `Version: ${parts.version}`,
    `Chain ID: ${parts.chainId.slice('eip155:'.length)}`,
    `Nonce: ${parts.nonce}`,
    `Issued At: ${parts.issuedAt}`,
    ...optional('Expiration Time', parts.expirationTime),
    ...optional('Not Before', parts.notBefore),
    ...optional('Request ID', parts.requestId),
    ...(parts.resources ? ['Resources:', ...parts.resources.map((each) => `- ${each}`)] : []),
  ].join('\n');
}

/** A wallet signs in shortly before it is used. */
const SIGNED_WITHIN_MS = 300_000;
/** Difference of clocks. */
const AHEAD_MS = 30_000;

/** The problem of a sign-in for one of these addresses of the node, apart from its signature; null: none. */
function signInProblem(
  { domain, uri, chainId, issuedAt, expirationTime, notBefore }: SignInWithX,
  node: { readonly baseUrl: string; readonly caip2: string; readonly uris: readonly string[]; readonly now: Date },
): string | null {
  const nowMs = node.now.getTime();
  const ageMs = nowMs - Date.parse(issuedAt);
  if (domain !== new URL(node.baseUrl).host) return 'is for another domain';
  if (!node.uris.includes(uri)) return 'is for another address';
  if (chainId !== node.caip2) return 'is for another chain';
  if (ageMs < -AHEAD_MS) return 'was issued in the future';
  if (ageMs >= SIGNED_WITHIN_MS) return 'was issued more than five minutes ago';
  if (expirationTime !== undefined && Date.parse(expirationTime) <= nowMs) return 'has expired';
  if (notBefore !== undefined && Date.parse(notBefore) > nowMs + AHEAD_MS) return 'is not valid yet';
  return null;
}
