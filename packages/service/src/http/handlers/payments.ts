import { requireAccount } from '../../access/caller.ts';
import { deposit } from '../../payments/deposit.ts';
import { createTreasury, listPayments, readBalance } from '../../payments/treasury.ts';
import { readWithdrawal, withdraw } from '../../payments/withdraw.ts';
import { readPaymentHeader } from '../../payments/x402/payment-header.ts';
import type { Handlers } from '../handler.ts';
import { setPaymentResponse } from '../payment-response.ts';

export const paymentHandlers = {
  createTreasury: (ctx, { caller, body }) => createTreasury(ctx, caller, body),
  async depositToTreasury(ctx, call) {
    const { data, payer, version } = await deposit(ctx, call.caller, call.body, readPaymentHeader(call.headers));
    setPaymentResponse(ctx, call, { payer, version, transactionHash: data.transactionHash });
    return data;
  },
  withdraw: (ctx, { caller, body, idFor }) => withdraw(ctx, requireAccount(caller), body, idFor('wdr')),
  getWithdrawal: (ctx, { caller, params }) => readWithdrawal(ctx, caller, params.withdrawalId),
  getBalance: (ctx, { caller }) => readBalance(ctx, caller),
  listPayments: (ctx, { caller, query }) => listPayments(ctx, caller, query),
} satisfies Partial<Handlers>;
