/**
 * Effect of a JSON-RPC method on the local chain:
 * - `read`: changes nothing that outlives anvil;
 * - `send`: puts a transaction into the pool; `sendSync`: also waits for its receipt;
 * - `set`: changes state or pool at once, and deterministically when repeated in the same order;
 * - `time`: moves the clock of the next blocks;
 * - `mine`: mines blocks; `automine`: switches automatic mining;
 * - `rewrite`: reverts blocks or replaces the state, which cannot be replayed;
 * - `refused`: cannot be replayed, or is unknown.
 */
export type MethodKind = 'read' | 'send' | 'sendSync' | 'set' | 'time' | 'mine' | 'automine' | 'rewrite' | 'refused';

const sends: Readonly<Record<string, MethodKind>> = {
  eth_sendRawTransaction: 'send',
  eth_sendTransaction: 'send',
  eth_sendUnsignedTransaction: 'send',
  eth_sendRawTransactionSync: 'sendSync',
  eth_sendTransactionSync: 'sendSync',
};

/** anvil's own methods, without their prefix: `anvil_`, `hardhat_`, `tenderly_` and `evm_` are equivalent. */
const own: Readonly<Record<string, MethodKind>> = {
  ...kinds('read', 'snapshot nodeInfo metadata dumpState getIntervalMining getGenesisTime setLoggingEnabled'),
  ...kinds('set', 'setBalance addBalance dealERC20 setERC20Allowance setCode setNonce setAccountNonce setStorageAt'),
  ...kinds('set', 'impersonateAccount stopImpersonatingAccount autoImpersonateAccount impersonateSignature'),
  ...kinds('set', 'setCoinbase setNextBlockBaseFeePerGas setMinGasPrice setBlockGasLimit'),
  ...kinds('set', 'dropTransaction dropAllTransactions removePoolTransactions'),
  ...kinds('time', 'increaseTime setTime setNextBlockTimestamp'),
  ...kinds('mine', 'mine'),
  ...kinds('automine', 'setAutomine getAutomine'),
  ...kinds('rewrite', 'reorg rollback revert loadState'),
};

const OWN = /^(?:anvil|hardhat|tenderly|evm)_(.*)$/;
const READS = /^(?:eth|net|web3|txpool|debug|trace|ots|erigon)_/;

export function kindOf(method: string): MethodKind {
  const send = sends[method];
  if (send) return send;
  const name = OWN.exec(method)?.[1];
  if (name !== undefined) return Object.hasOwn(own, name) ? (own[name] ?? 'refused') : 'refused';
  return READS.test(method) && !/^eth_(send|resend)/.test(method) ? 'read' : 'refused';
}

/** The method's name without anvil's prefixes. */
export const ownName = (method: string): string => OWN.exec(method)?.[1] ?? method;

function kinds(kind: MethodKind, names: string): Record<string, MethodKind> {
  return Object.fromEntries(names.split(' ').map((name) => [name, kind]));
}
