import { requireAccount } from '../../access/caller/caller.ts';
import { claimWallet } from '../../identity/claim-wallet.ts';
import { requestWithdrawal, withdrawProven } from '../../identity/prove-withdrawal.ts';
import { deposit } from '../../payments/deposits/deposit.ts';
import { createTreasury, readBalance, readTreasury } from '../../payments/ledger/treasury.ts';
import { creditHeldPayout, listHeldPayouts } from '../../payments/payouts/credit-held.ts';
import { readWithdrawal } from '../../payments/payouts/withdraw.ts';
import { listPayments } from '../../payments/statements/list-payments.ts';
import { readStatement } from '../../payments/statements/read-statement.ts';
import {
  listChannelCharges,
  listChannelHistory,
  listChannels,
  readChannel,
} from '../../payments/x402/channels/read/read-channels.ts';
import { shownPayment } from '../../payments/x402/shown-payment.ts';
import { setPaymentResponse } from '../answer/payment-response.ts';
import type { Handlers } from '../request/handler.ts';

export const paymentHandlers = {
  createTreasury: (ctx, { caller, body }) => createTreasury(ctx, caller, body),
  async depositToTreasury(ctx, call) {
    const shown = shownPayment(ctx, call.headers);
    const { data, payer, version, delivery } = await deposit(ctx, call.caller, call.body, shown, {
      once: call.once,
      client: call.client.address,
      syncWaitMs: ctx.syncWaitMs,
    });
    await setPaymentResponse(ctx, call, { payer, version, transactionHash: data.transactionHash, delivery });
    return data;
  },
  withdraw: (ctx, { caller, body, once }) => withdrawProven(ctx, requireAccount(caller), body, once),
  requestWithdrawal: (ctx, { caller, body, once }) => requestWithdrawal(ctx, requireAccount(caller), body, once),
  getWithdrawal: (ctx, { caller, params }) => readWithdrawal(ctx, caller, params.withdrawalId),
  listHeldPayouts: async (ctx, { caller }) => ({ payouts: await listHeldPayouts(ctx, requireAccount(caller)) }),
  creditHeldPayout: (ctx, { caller, params }) => creditHeldPayout(ctx, requireAccount(caller), params.paymentId),
  claimWallet: (ctx, { caller, body, once }) => claimWallet(ctx, requireAccount(caller), body, once),
  getTreasury: (ctx, { caller, params }) => readTreasury(ctx, caller, params.treasuryId),
  getStatement: (ctx, { caller, params, query }) => readStatement(ctx, caller, params.treasuryId, query),
  getReserves: (ctx) => ctx.reserves.read(),
  getBalance: (ctx, { caller }) => readBalance(ctx, caller),
  listPayments: (ctx, { caller, query }) => listPayments(ctx, caller, query),
  listChannels: (ctx, { caller, query }) => listChannels(ctx, caller, query),
  getChannel: (ctx, { caller, params }) => readChannel(ctx, caller, params.channelId),
  listChannelHistory: (ctx, { caller, params, query }) => listChannelHistory(ctx, caller, params.channelId, query),
  listChannelCharges: (ctx, { caller, params, query }) => listChannelCharges(ctx, caller, params.channelId, query),
} satisfies Partial<Handlers>;
