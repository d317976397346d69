import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { encodeFunctionData, type Hex } from 'viem';
import { authorizationDigest } from '../../src/chain/keys/authorization.ts';
import { payoutNonce } from '../../src/chain/keys/payment-nonces.ts';
import { newId } from '../../src/lib/id.ts';
import { insertChainPayments } from '../../src/payments/chain-outbox/chain-payment-store.ts';
import { upsertHold } from '../../src/payments/chain-outbox/held-payout-store.ts';
import { OUTGOING, postTransfers } from '../../src/payments/ledger/ledger-store.ts';
import { sendAs } from './chain-actions.ts';
import type { Harness } from './harness.ts';

interface Administered {
  readonly rpcUrl: string;
  readonly ctx: { readonly chain: { readonly token: string } };
}

type Act = 'pause' | 'unpause' | 'blacklist' | 'unBlacklist';
const ADMINISTRATOR = '0x00000000000000000000000000000000000000ad';

/** The administrator of the token pauses it, or refuses an address. */
export async function administer(h: Administered, act: Act, address?: string): Promise<void> {
  const data =
    act === 'pause' || act === 'unpause'
      ? encodeFunctionData({ abi: testUsdcAbi, functionName: act })
      : encodeFunctionData({ abi: testUsdcAbi, functionName: act, args: [address as Hex] });
  await sendAs(h.rpcUrl, ADMINISTRATOR, h.ctx.chain.token, data);
}

/** A withdrawal that the token has refused, without a chain that does so: it is tried again in an hour. Returns the id of its payment. */
export async function insertHeldWithdrawal(
  { ctx }: Pick<Harness, 'ctx'>,
  { accountId, treasuryId, to }: { accountId: string; treasuryId: string; to: string },
): Promise<string> {
  const { chainId, token } = ctx.chain;
  const [id, subjectId, now, amountMicro] = [newId('pay'), newId('wdr'), ctx.clock.now(), 10_000n];
  const authorization = {
    ...{ from: ctx.wallet.address, to: to.toLowerCase(), valueMicro: amountMicro, validAfterS: 0n },
    validBeforeS: BigInt(Math.floor(now.getTime() / 1000)) + 86_400n,
    nonce: payoutNonce(chainId, 'withdrawal', subjectId),
  };
  const signature = await ctx.wallet.signHash(authorizationDigest(ctx.chain.domainSeparator, authorization));
  const payment = {
    ...({ id, chainId, token, direction: 'out', purpose: 'withdrawal', subjectId, accountId, authorization } as const),
    ...{ ledgerAccountId: treasuryId, signature, fingerprint: null, x402Version: null },
  };
  await ctx.db.transaction(async (tx) => {
    await insertChainPayments(tx, [payment], now);
    await upsertHold(tx, id, { reason: 'Blacklistable: account is blacklisted', now, pauseS: 3600, maxS: 3600 });
    const transfer = { id: `withdrawal:${subjectId}`, debit: treasuryId, credit: OUTGOING, amountMicro };
    await postTransfers(tx, [{ ...transfer, kind: 'withdrawal', subjectId }], now);
  });
  return id;
}
