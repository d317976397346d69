import type { SigningKeys } from '../../chain/gas-watch.ts';
import { GAS_OF_ONE, gasToTake } from '../../chain/settlement-call.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { PaymentConditions } from '../chain-outbox/chain-context.ts';

/**
 * State of settlement.
 * - `no_gas`: no sending key can pay for a payment and its follow-up.
 * - `gas_cap`: the operator's cap of gas for a day is reached.
 * - `halted`: the token refuses this node.
 */
export type SettlementState = 'ok' | 'no_gas' | 'gas_cap' | 'halted';

export async function readSettlementState({
  gas,
  settlementHalt,
}: Pick<SigningKeys, 'gas'> & PaymentConditions): Promise<SettlementState> {
  if (settlementHalt.reason() !== null) return 'halted';
  const maxGas = await gas.maxGas().catch(() => null);
  if (maxGas !== null && maxGas < gasToTake(GAS_OF_ONE)) return 'no_gas';
  return (await gas.isCapReached().catch(() => false)) ? 'gas_cap' : 'ok';
}

/** Logs at start that no payment can settle. */
export async function warnOfSettlement(ctx: Pick<SigningKeys, 'gas'> & PaymentConditions & Telemetry): Promise<void> {
  await ctx.settlementHalt.refresh().catch(() => undefined);
  if ((await readSettlementState(ctx)) === 'no_gas')
    ctx.log.error(
      { signers: (await ctx.gas.levels()).map(({ address }) => address), remedy: 'docs/alerts.md#gaslow' },
      'no sending key has gas for a settlement: send ETH to one; payments, refunds and withdrawals wait until then',
    );
}
