/**
 * What a JSON-RPC method does to the local chain:
 * - `read`: changes nothing that outlives anvil;
 * - `send`: puts a transaction into the pool; `sendSync`: the same, answered with the receipt;
 * - `set`: changes state or pool at once, the same way each time it is repeated in the same order;
 * - `time`: moves the clock that the next blocks take their time from;
 * - `mine`, `automine`: makes blocks, or says who does;
 * - `rewrite`: takes blocks back or replaces the state, which cannot be repeated;
 * - `refused`: cannot be repeated, or is unknown.
 */
export type MethodKind = 'read' | 'send' | 'sendSync' | 'set' | 'time' | 'mine' | 'automine' | 'rewrite' | 'refused';

const sends: Readonly<Record<string, MethodKind>> = {
  eth_sendRawTransaction: 'send',
  eth_sendTransaction: 'send',
  eth_sendUnsignedTransaction: 'send',
  eth_sendRawTransactionSync: 'sendSync',
  eth_sendTransactionSync: 'sendSync',
};

/** Methods of anvil's own, without their prefix: `anvil_`, `hardhat_`, `tenderly_` and `evm_` name the same. */
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
