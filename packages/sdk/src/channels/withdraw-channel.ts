import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { encodeFunctionData } from 'viem/utils';
import type { OpenChannel } from './channel-payer.ts';
import { larger } from './channel-record.ts';
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
  /** USDC that the first asks for; `0.00`: there is nothing, and the contract would refuse it. */
  readonly amount: string;
  readonly to: Hex;
  /** Calldata of the first transaction. */
  readonly initiate: Hex;
  /** Calldata of the second, once `delayS` seconds have passed. */
  readonly finalize: Hex;
  readonly delayS: number;
}

/**
 * The two transactions by which the payer's own wallet takes its money out of a channel when the receiver does not refund it. Until the
 * second the receiver can still claim the cost of calls. The contract refuses the first if a claim has exceeded the amount left in.
 */
export function withdrawalOf(
  channel: Pick<OpenChannel, 'config' | 'balance' | 'charged'> & Partial<Pick<OpenChannel, 'claimable'>>,
): Withdrawal {
  const { config, balance, charged, claimable = '0' } = channel;
  const leftMicro = parseUsdc(balance) - larger(parseUsdc(charged), parseUsdc(claimable));
  const amountMicro = larger(leftMicro, 0n);
  return {
    amount: formatUsdc(amountMicro),
    to: settlementContract,
    initiate: encodeFunctionData({ abi, functionName: 'initiateWithdraw', args: [config, amountMicro] }),
    finalize: encodeFunctionData({ abi, functionName: 'finalizeWithdraw', args: [config] }),
    delayS: config.withdrawDelay,
  };
}
