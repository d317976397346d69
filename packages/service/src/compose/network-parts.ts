import { createRequestPayouts } from '../calls/finish/request-payouts.ts';
import { deepestOf } from '../chain/blocks/confirmation-depth.ts';
import type { ChainAccess } from '../chain/chain-access.ts';
import type { ChainInfo } from '../chain/chain-info.ts';
import type { SigningKeys } from '../chain/gas-watch.ts';
import type { Network } from '../chain/networks.ts';
import { createWalletReads } from '../chain/outgoing-transfer-client.ts';
import { leastDelayS, longestCallS } from '../config/call-time.ts';
import type { ChannelSettings } from '../config/payments.ts';
import type { Log } from '../lib/telemetry/log.ts';
import { createSettlementHalt } from '../payments/chain-outbox/settlement-halt.ts';
import { createReorgWatch } from '../payments/reconcile/watch-reorgs.ts';
import type { ClaimContext } from '../payments/schemes/batch-settlement/claims/claim-context.ts';
import { createClaimSimulator } from '../payments/schemes/batch-settlement/claims/claim-simulator-client.ts';
import { createClaimer } from '../payments/schemes/batch-settlement/claims/claimer.ts';
import { recoverChannels } from '../payments/schemes/batch-settlement/claims/recover-channels.ts';
import { createWalletFunds } from '../payments/schemes/batch-settlement/claims/wallet-funds.ts';
import { createPaymentChecks } from '../payments/schemes/exact/payment-checks.ts';
import { x402Schemes } from '../payments/schemes/schemes.ts';
import { createSettler, type KeyTurns } from '../payments/settlement/settler.ts';
import { createReservesReader } from '../payments/statements/read-reserves.ts';

type PaymentNeeds = Parameters<typeof createPaymentChecks>[0] & Parameters<typeof createSettlementHalt>[0];

/** Channels are offered where they are on, their contracts are found, and a withdrawal takes long enough for the network's claims. */
export async function withChannels(
  access: ChainAccess,
  { isOn, ...terms }: ChannelSettings,
  log: Log,
): Promise<ChainAccess> {
  const deepest = Number(deepestOf(access.confirmations));
  const isTooShort = terms.withdrawDelayS < leastDelayS(deepest);
  const delayFault = isTooShort ? 'CHANNEL_WITHDRAW_DELAY_SECONDS is too short for its confirmations' : null;
  const fault = isOn ? (delayFault ?? (await access.settlementContract.whyUnusable())) : 'they are off';
  const { chain } = access;
  if (fault === null) {
    const channels = { ...terms, longestCallS: longestCallS(terms.withdrawDelayS, deepest) };
    return { ...access, chain: { ...chain, channels } };
  }
  if (isOn) log.warn({ fault, network: chain.caip2 }, 'payment channels unavailable; using one transfer per call');
  return { ...access, chain: { ...chain, channelFault: fault } };
}

/** Checks of payments, with the settlement halt. */
export const createPaymentParts = (needs: PaymentNeeds) => ({
  settlementHalt: createSettlementHalt(needs),
  ...createPaymentChecks(needs, x402Schemes),
});

/** The wallet's transfers and balances, and claims that are tried. */
export const createChainReaders = (rpcUrl: string, { token, wallet }: ChainInfo) => ({
  ...createWalletReads({ rpcUrl, token, wallet }),
  claimSimulator: createClaimSimulator({ rpcUrl, from: wallet }),
});

export function createChannelWork(base: ClaimContext) {
  const channelClaims = createClaimer(base);
  return {
    channelClaims,
    walletFunds: createWalletFunds(base, channelClaims),
    recoverChannels: (fromBlock: bigint) => recoverChannels(base, fromBlock),
  };
}

type MoneyNeeds = Parameters<typeof createReservesReader>[0] & Parameters<typeof createRequestPayouts>[0];

export const createMoneyWork = (base: MoneyNeeds & Parameters<typeof createSettler>[0], keyTurns: KeyTurns) => ({
  keyTurns,
  settler: createSettler(base, keyTurns),
  reorgWatch: createReorgWatch(base),
  reserves: createReservesReader(base),
  requestPayouts: createRequestPayouts(base),
});

type Made = ReturnType<typeof createPaymentParts> &
  ReturnType<typeof createChainReaders> &
  ReturnType<typeof createChannelWork> &
  ReturnType<typeof createMoneyWork>;

/** All of a context that is about one network: a context with those of another is on that one. */
export interface NodeNetwork extends Network, ChainAccess, Pick<SigningKeys, 'gas'>, Made {
  readonly transferDepthBlocks: number;
}

/** Names every part, so that a new one that is left out here does not compile. */
export const networkOf = (ctx: Omit<NodeNetwork, 'isOpen'>, isOpen = () => true): NodeNetwork => ({
  isOpen,
  chain: ctx.chain,
  usdc: ctx.usdc,
  settlementContract: ctx.settlementContract,
  fees: ctx.fees,
  confirmations: ctx.confirmations,
  gas: ctx.gas,
  transferDepthBlocks: ctx.transferDepthBlocks,
  settlementHalt: ctx.settlementHalt,
  x402Schemes: ctx.x402Schemes,
  paymentFinder: ctx.paymentFinder,
  signatureChecker: ctx.signatureChecker,
  payerStatus: ctx.payerStatus,
  contractPayers: ctx.contractPayers,
  simulator: ctx.simulator,
  incomingTransfers: ctx.incomingTransfers,
  outgoingTransfers: ctx.outgoingTransfers,
  walletBalances: ctx.walletBalances,
  claimSimulator: ctx.claimSimulator,
  channelClaims: ctx.channelClaims,
  walletFunds: ctx.walletFunds,
  recoverChannels: ctx.recoverChannels,
  keyTurns: ctx.keyTurns,
  settler: ctx.settler,
  reorgWatch: ctx.reorgWatch,
  reserves: ctx.reserves,
  requestPayouts: ctx.requestPayouts,
});
