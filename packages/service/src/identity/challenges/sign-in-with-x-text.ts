import type { SignInWithX } from '@agent-network/contracts/payments/sign-in-with-x';

/** The text (EIP-4361) that a wallet signed, from its parts, as the clients of the x402 extension write it. */
export function signInWithXText(parts: SignInWithX): string {
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
export const SIGNED_WITHIN_MS = 300_000;
/** Difference of clocks. */
const AHEAD_MS = 30_000;

/** The problem of a sign-in for one of these addresses of the node, apart from its signature; null: none. */
export function signInProblem(
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
