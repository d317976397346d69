import type { Scope } from '@agent-network/contracts/access/scopes';
import { canonicalJson } from '@agent-network/contracts/canonical-json';
import { formatUsdc } from '@agent-network/contracts/money';
import { getAddress } from 'viem';

/** A withdrawal with all defaults filled in. */
export interface WithdrawalTerms {
  readonly amountMicro: bigint;
  /** In lower case. */
  readonly to: string;
  readonly treasuryId: string;
  readonly from: 'treasury' | 'fees';
}

export interface ChallengeTerms {
  /** The node's own address, from its configuration and never from a request. */
  readonly baseUrl: string;
  readonly chainId: number;
  readonly challengeId: string;
  /** The agent to prove ownership of; null: the account's wallet. */
  readonly agentId: string | null;
  /** null: a sign-in. */
  readonly accountId: string | null;
  readonly address: string;
  /** The withdrawal that the signature allows; replaces every other statement. */
  readonly withdrawal?: WithdrawalTerms | undefined;
  /** The key that the signature allows to make. */
  readonly grant?: KeyGrant | undefined;
  readonly nonce: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** Rights of a key that a wallet signs for. */
export interface KeyGrant {
  readonly scopes: readonly Scope[];
  readonly lifetimeS: number;
}

export const CHALLENGE_TTL_MS = 300_000;

const SIGN_IN_STATEMENT = 'Sign in to the account of this wallet, with a session or an API key. This moves no money.';
const SIGN_IN_PATH = '/auth/sign-in';

/**
 * The text that an owner signs to prove the wallet (EIP-4361, "Message Format"). It names action, agent, node, chain and time, so that the
 * signature is useless elsewhere. It contains no text chosen by an owner: a name could imitate a line of it.
 */
export function challengeText(terms: ChallengeTerms): string {
  const { baseUrl, chainId, address, nonce, issuedAt, expiresAt } = terms;
  const about = subjectOf(terms);
  return [
    `${new URL(baseUrl).host} wants you to sign in with your Ethereum account:`,
    getAddress(address),
    '',
    about.statement,
    '',
    `URI: ${baseUrl}${about.path}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
    `Request ID: ${about.id}`,
    'Resources:',
    `- urn:${about.kind}:${about.id}`,
  ].join('\n');
}

/** Pattern of the parts of a sign-in text that the requesting node chooses. */
const SIGN_IN_TAIL =
  /\nNonce: ([0-9A-Za-z]{8,64})\nIssued At: (\S{24})\nExpiration Time: (\S{24})\nRequest ID: (chl_[\w-]{1,96})\n/;
const MAX_SKEW_MS = 600_000;

/**
 * Rebuilds the sign-in text of another node from checked parts and returns it if it equals the requested text; otherwise null. Every signed
 * character is thus of this node's wording, as a signature of other text might be valid elsewhere.
 */
export function signInText(
  asked: string,
  { now, ...node }: Pick<ChallengeTerms, 'baseUrl' | 'chainId' | 'address'> & { readonly now: Date },
): string | null {
  const [, nonce = '', issued = '', expires = '', challengeId = ''] = SIGN_IN_TAIL.exec(asked) ?? [];
  const [issuedAt, expiresAt] = [new Date(issued), new Date(expires)];
  const lifetimeMs = expiresAt.getTime() - issuedAt.getTime();
  const isTimely =
    Math.abs(now.getTime() - issuedAt.getTime()) <= MAX_SKEW_MS && lifetimeMs > 0 && lifetimeMs <= MAX_SKEW_MS;
  if (!isTimely) return null;
  const own = challengeText({ ...node, challengeId, agentId: null, accountId: null, nonce, issuedAt, expiresAt });
  return own === asked ? own : null;
}

/** Canonical text of a withdrawal's terms, used for comparison. */
export const termsText = ({ amountMicro, ...terms }: WithdrawalTerms): string =>
  canonicalJson({ ...terms, amountMicro: amountMicro.toString() });

/** Canonical text of a key's rights, used for comparison. */
export const grantText = ({ scopes, lifetimeS }: KeyGrant): string =>
  canonicalJson({ scopes: [...scopes].sort(), lifetimeS });

function grantStatement({ scopes, lifetimeS }: KeyGrant): string {
  const warning = scopes.includes('payments:withdraw')
    ? ' Whoever holds the key can withdraw all USDC of the account to any address.'
    : '';
  return `Create an API key of the account of this wallet that is valid for ${lifetimeS} seconds, with the scopes ${[...scopes].sort().join(', ')}.${warning}`;
}

function withdrawalStatement({ amountMicro, treasuryId, to, from }: WithdrawalTerms): string {
  const source =
    from === 'fees' ? `the fees of the node, through the treasury ${treasuryId}` : `the treasury ${treasuryId}`;
  return `Withdraw ${formatUsdc(amountMicro)} USDC from ${source}, to ${getAddress(to)}.`;
}

/** Names all uses of the signature: the request that sends it decides on one. */
const agentStatement = (agentId: string): string =>
  `Prove that this wallet owns the agent ${agentId}. Whoever asked for this text can renew the agent's identityToken with it, which spends the agent's money, and take the agent over if it was sold to this wallet.`;

function subjectOf({ agentId, accountId, challengeId, withdrawal, grant }: ChallengeTerms) {
  if (withdrawal)
    return {
      kind: 'withdrawal',
      id: challengeId,
      path: '/payments/withdraw',
      statement: withdrawalStatement(withdrawal),
    };
  if (grant) return { kind: 'key', id: challengeId, path: SIGN_IN_PATH, statement: grantStatement(grant) };
  if (agentId !== null)
    return {
      kind: 'agent',
      id: agentId,
      path: '/identity/verify',
      statement: agentStatement(agentId),
    };
  if (accountId === null) return { kind: 'sign-in', id: challengeId, path: SIGN_IN_PATH, statement: SIGN_IN_STATEMENT };
  return {
    kind: 'account',
    id: accountId,
    path: '/payments/claims',
    statement: `Prove that this wallet is of the account ${accountId}. USDC that it sent or sends to this node is credited there.`,
  };
}
