/** What the logs of the ERC-8004 identity registry say of one token. Addresses and hashes are lower case. */
interface LogPlace {
  readonly tokenId: bigint;
  readonly block: bigint;
  readonly index: number;
  readonly transactionHash: string;
}

export type RegistryLog = LogPlace & {
  readonly kind: 'registered' | 'uri' | 'owner' | 'wallet' | 'metadata';
  /** registered, uri: the URI; owner, wallet: an address, '' for none; metadata: the key. */
  readonly value: string;
  /** metadata: what stands under the key, in hex; `0x` for nothing. */
  readonly bytes: string | null;
  /** Why value or bytes are left out; null when they are not. */
  readonly fault: string | null;
};

/** A token as its logs tell, in the order of the chain. */
export interface RegistryToken {
  readonly tokenId: bigint;
  readonly owner: string;
  /** Its first owner. */
  readonly registeredBy: string;
  readonly registeredBlock: bigint;
  /** The transaction that made it. */
  readonly registeredHash: string;
  /** '' with a fault: what stands on chain is no text, or too long. */
  readonly uri: string;
  readonly uriFault: string | null;
  /** Since which log its URI is this one. */
  readonly uriBlock: bigint;
  readonly uriIndex: number;
  /** Who held the token when the URI was written last: it is the word of that key, whoever holds the token now. */
  readonly uriBy: string;
  /** Where it wants to be paid; null: nowhere. A transfer clears it. */
  readonly wallet: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly changedBlock: bigint;
  readonly changedIndex: number;
}

/** Whoever pays the gas may write as many keys as they like; more than these are not kept. */
const MAX_KEYS = 64;

/** A token after one more log; null for one that nobody owns. What is said of such a token is passed over. */
function afterLog(token: RegistryToken | null, log: RegistryLog): RegistryToken | null {
  if (log.kind === 'owner' && log.value === '') return null;
  if (token === null) return log.kind === 'owner' ? newToken(log) : null;
  return { ...token, ...changeOf(token, log), changedBlock: log.block, changedIndex: log.index };
}

function changeOf(token: RegistryToken, log: RegistryLog): Partial<RegistryToken> {
  const { kind, value, bytes } = log;
  switch (kind) {
    case 'owner':
      return { owner: value };
    case 'registered':
    case 'uri':
      return uriAfter(token, log);
    case 'wallet':
      return { wallet: value === '' ? null : value };
    case 'metadata':
      return { metadata: withEntry(token.metadata, value, bytes ?? '0x') };
  }
}

function uriAfter(token: RegistryToken, { value, fault, block, index }: RegistryLog): Partial<RegistryToken> {
  const written = { uri: value, uriFault: fault, uriBy: token.owner };
  return value === token.uri ? written : { ...written, uriBlock: block, uriIndex: index };
}

const newToken = ({ tokenId, value, block, index, transactionHash }: RegistryLog): RegistryToken => ({
  tokenId,
  owner: value,
  registeredBy: value,
  registeredBlock: block,
  registeredHash: transactionHash,
  uri: '',
  uriFault: null,
  uriBlock: block,
  uriIndex: index,
  uriBy: value,
  wallet: null,
  metadata: {},
  changedBlock: block,
  changedIndex: index,
});

function withEntry(metadata: RegistryToken['metadata'], key: string, bytes: string): RegistryToken['metadata'] {
  const { [key]: _before, ...others } = metadata;
  const hasRoom = Object.keys(others).length < MAX_KEYS;
  return bytes === '0x' || !hasRoom ? others : { ...others, [key]: bytes };
}

/**
 * Tokens after further logs, which stand in the order of the chain. `before` has those tokens of them that there are; the answer
 * has every token of the logs, and null for one that is gone. It makes no difference how a row of logs is cut in pieces.
 */
export function tokensAfter(
  before: ReadonlyMap<bigint, RegistryToken>,
  logs: readonly RegistryLog[],
): Map<bigint, RegistryToken | null> {
  const tokens = new Map<bigint, RegistryToken | null>();
  for (const log of logs) {
    const token = tokens.has(log.tokenId) ? tokens.get(log.tokenId) : before.get(log.tokenId);
    tokens.set(log.tokenId, afterLog(token ?? null, log));
  }
  return tokens;
}
