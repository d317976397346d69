import { parseUsdc } from '@agent-network/contracts/money';
import { encodeFunctionData } from 'viem/utils';
import type { OpenChannel } from './channel-payer.ts';
import { configType, type Hex, settlementContract } from './channel-signatures.ts';

const configInput = { name: 'config', type: 'tuple', components: configType } as const;

const abi = [
  {
    type: 'function',
    name: 'initiateWithdraw',
    inputs: [configInput, { name: 'amount', type: 'uint128' }],
    outputs: [],
    stateMutability: 'nonpayable',
  },
  { type: 'function', name: 'finalizeWithdraw', inputs: [configInput], outputs: [], stateMutability: 'nonpayable' },
] as const;

export interface Withdrawal {
  readonly to: Hex;
  /** Calldata of the first transaction. */
  readonly initiate: Hex;
  /** Calldata of the second, once `delayS` seconds have passed. */
  readonly finalize: Hex;
  readonly delayS: number;
}

/**
 * The two transactions with which the payer's own wallet takes money out of a channel whose receiver does not refund it. Until the
 * second the receiver can still claim what calls have cost.
 */
export function withdrawalOf(channel: Pick<OpenChannel, 'config' | 'balance' | 'charged'>): Withdrawal {
  const { config } = channel;
  const amountMicro = parseUsdc(channel.balance) - parseUsdc(channel.charged);
  return {
    to: settlementContract,
    initiate: encodeFunctionData({ abi, functionName: 'initiateWithdraw', args: [config, amountMicro] }),
    finalize: encodeFunctionData({ abi, functionName: 'finalizeWithdraw', args: [config] }),
    delayS: config.withdrawDelay,
  };
}
