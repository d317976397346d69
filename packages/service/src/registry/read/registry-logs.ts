/** Logs of the ERC-8004 identity registry about one token. Addresses and hashes are lower case. */
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
  /** metadata: the value under the key, in hex; `0x` for empty. */
  readonly bytes: string | null;
  /** The reason value or bytes are left out; null when they are not. */
  readonly fault: string | null;
};

/** The state of a token, derived from its logs in chain order. */
export interface RegistryToken {
  readonly tokenId: bigint;
  readonly owner: string;
  /** The first owner. */
  readonly registeredBy: string;
  readonly registeredBlock: bigint;
  /** Hash of the transaction that minted it. */
  readonly registeredHash: string;
  /** '' with a fault: the value on chain is not text, or is too long. */
  readonly uri: string;
  readonly uriFault: string | null;
  /** Block of the log that set the current URI. */
  readonly uriBlock: bigint;
  readonly uriIndex: number;
  /**
   * Key that last wrote the URI: the registrant, later the holder at that time. The URI is its statement, regardless of the present holder.
   */
  readonly uriBy: string;
  /** Payment address; null: none. A transfer clears it. */
  readonly wallet: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly changedBlock: bigint;
  readonly changedIndex: number;
}

/** Maximum number of metadata keys kept per token: anyone who pays the gas may write as many as they like. */
const MAX_KEYS = 64;

/** Applies a log to a token; returns null once it has no owner. Logs about an unowned token are ignored. */
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

/**
 * The URI after a log. The published registry logs a registration after the new token was received, and a receiving contract may have given
 * it away already: the first owner wrote the URI.
 */
function uriAfter(token: RegistryToken, { kind, value, fault, block, index }: RegistryLog): Partial<RegistryToken> {
  const uriBy = kind === 'registered' ? token.registeredBy : token.owner;
  const written = { uri: value, uriFault: fault, uriBy };
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
 * Applies logs, in chain order, to tokens. `before` has the existing ones among them; the result has every token of the logs, and null for
 * a burnt one. The result does not depend on how a sequence of logs is split.
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
