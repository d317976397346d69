import { requireAccount } from '../../access/caller.ts';
import { claimWallet } from '../../identity/claim-wallet.ts';
import { requestWithdrawal, withdrawProven } from '../../identity/prove-withdrawal.ts';
import { deposit } from '../../payments/deposit.ts';
import { listPayments } from '../../payments/list-payments.ts';
import { readStatement } from '../../payments/read-statement.ts';
import { createTreasury, readBalance, readTreasury } from '../../payments/treasury.ts';
import { readWithdrawal } from '../../payments/withdraw.ts';
import { readPaymentHeader } from '../../payments/x402/payment-header.ts';
import type { Handlers } from '../handler.ts';
import { setPaymentResponse } from '../payment-response.ts';

export const paymentHandlers = {
  createTreasury: (ctx, { caller, body }) => createTreasury(ctx, caller, body),
  async depositToTreasury(ctx, call) {
    const shown = readPaymentHeader(call.headers);
    const { data, payer, version } = await deposit(ctx, call.caller, call.body, shown, {
      once: call.once,
      client: call.client.address,
    });
    setPaymentResponse(ctx, call, { payer, version, transactionHash: data.transactionHash });
    return data;
  },
  withdraw: (ctx, { caller, body, once }) => withdrawProven(ctx, requireAccount(caller), body, once),
  requestWithdrawal: (ctx, { caller, body, once }) => requestWithdrawal(ctx, requireAccount(caller), body, once),
  getWithdrawal: (ctx, { caller, params }) => readWithdrawal(ctx, caller, params.withdrawalId),
  claimWallet: (ctx, { caller, body, once }) => claimWallet(ctx, requireAccount(caller), body, once),
  getTreasury: (ctx, { caller, params }) => readTreasury(ctx, caller, params.treasuryId),
  getStatement: (ctx, { caller, params, query }) => readStatement(ctx, caller, params.treasuryId, query),
  getReserves: (ctx) => ctx.reserves.read(),
  getBalance: (ctx, { caller }) => readBalance(ctx, caller),
  listPayments: (ctx, { caller, query }) => listPayments(ctx, caller, query),
} satisfies Partial<Handlers>;
