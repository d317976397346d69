import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { encodeFunctionData, type Hex } from 'viem';
import { depositCall, SETTLEMENT_CONTRACT, sweepCall } from '../../src/chain/channels/channel-calls.ts';
import { type ChannelConfig, channelDigestsOf } from '../../src/chain/channels/channel-digests.ts';
import { newId } from '../../src/lib/id.ts';
import { openLedgerAccount, postTransfers, VOUCHERS } from '../../src/payments/ledger/ledger-store.ts';
import { askDatabase } from './books.ts';
import { channelOf, signDeposit, signVoucher } from './channels.ts';
import type { Engine, Payer } from './engine.ts';

/** A channel with a deposit, charged without HTTP: its rows and its ledger are as calls leave them. */
export interface BookedTestChannel {
  readonly id: string;
  readonly config: ChannelConfig;
  readonly payer: Payer;
}

/** Stands for the agent that a channel's calls pay. */
const earnedBy = (channelId: string) => `earned:${channelId}`;

const onChain = ({ withdrawDelayS, ...config }: ChannelConfig) =>
  ({ ...config, withdrawDelay: withdrawDelayS }) as never;

/** Sends a transaction from an address without its key. */
export async function sendAs(engine: Engine, from: string, data: Hex): Promise<void> {
  const { rpcUrl } = engine.chain;
  await callChain(rpcUrl, 'anvil_impersonateAccount', from);
  const call = { from, to: SETTLEMENT_CONTRACT, data, gasPrice: '0x0', gas: '0xf4240' };
  const hash = await callChain(rpcUrl, 'eth_sendTransaction', call);
  const receipt = async () => (await callChain(rpcUrl, 'eth_getTransactionReceipt', hash)) as { status: string } | null;
  let mined = await receipt();
  while (!mined) {
    await new Promise((resolve) => setImmediate(resolve));
    mined = await receipt();
  }
  if (mined.status !== '0x1') throw new Error('the transaction reverted');
}

const write = (engine: Engine, text: string, params: readonly unknown[]) =>
  askDatabase(engine.databaseUrl, text, params);

export async function openChannel(
  engine: Engine,
  depositMicro: bigint,
  changes: Partial<ChannelConfig> = {},
  by?: Payer,
): Promise<BookedTestChannel> {
  const { ctx } = engine;
  const payer = by ?? (await engine.newPayer(depositMicro));
  const config = channelOf(ctx.chain, payer, changes);
  const id = channelDigestsOf(ctx.chain.chainId).channelIdOf(config);
  const { salt, ...deposit } = signDeposit(ctx.chain, payer, config, { valueMicro: depositMicro });
  await sendAs(engine, payer.address, depositCall(config, salt, deposit));
  await write(
    engine,
    `insert into channel (id, chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s, salt,
       balance_micro, created_at, changed_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now(), now())`,
    [
      id,
      ctx.chain.chainId,
      config.payer,
      config.payerAuthorizer,
      config.receiver,
      config.receiverAuthorizer,
      config.token,
      config.withdrawDelayS,
      config.salt,
      String(depositMicro),
    ],
  );
  const now = ctx.clock.now();
  await openLedgerAccount(ctx.db, { id: `channel:${id}`, kind: 'channel', address: payer.address, now });
  await openLedgerAccount(ctx.db, { id: earnedBy(id), kind: 'payer', address: id, now });
  return { id, config, payer };
}

/** A call that is paid by a voucher and ends with a cost; the rest of its price is released. Null: it stays in flight. */
export async function charge(
  engine: Engine,
  { id, config, payer }: BookedTestChannel,
  priceMicro: bigint,
  { costMicro = priceMicro, endedAt = new Date() }: { costMicro?: bigint | null; endedAt?: Date } = {},
): Promise<bigint> {
  const [row] = await askDatabase<{ max: string }>(
    engine.databaseUrl,
    'select (charged_micro + reserved_micro)::text as max from channel where id = $1',
    [id],
  );
  const maxMicro = BigInt(row?.max ?? 0) + priceMicro;
  const signature = signVoucher(engine.ctx.chain, payer, config, maxMicro);
  const requestId = newId('req');
  await write(
    engine,
    `with charge as (
       insert into channel_charge (request_id, channel_id, amount_micro, max_micro, signature, charged_micro, created_at, ended_at, fingerprint)
       values ($1, $2, $3, $4, $5, $6, now(), $7, ''))
     update channel set reserved_micro = reserved_micro + case when $6::bigint is null then $3::bigint else 0 end,
            charged_micro = charged_micro + coalesce($6::bigint, 0),
            signature = case when signed_micro < $4::bigint then $5 else signature end, signed_micro = greatest(signed_micro, $4::bigint)
      where id = $2`,
    [
      requestId,
      id,
      String(priceMicro),
      String(maxMicro),
      signature,
      costMicro === null ? null : String(costMicro),
      costMicro === null ? null : endedAt,
    ],
  );
  const subjectId = requestId;
  const account = `channel:${id}`;
  const moves = [
    { id: `voucher:${requestId}`, debit: VOUCHERS, credit: account, amountMicro: priceMicro, kind: 'voucher' as const },
    {
      id: `charge:${requestId}`,
      debit: account,
      credit: earnedBy(id),
      amountMicro: costMicro ?? 0n,
      kind: 'return' as const,
    },
    {
      id: `unused:${requestId}`,
      debit: account,
      credit: VOUCHERS,
      amountMicro: costMicro === null ? 0n : priceMicro - costMicro,
      kind: 'voucher_release' as const,
    },
  ];
  const due = moves.filter(({ amountMicro }) => amountMicro > 0n).map((move) => ({ ...move, subjectId }));
  await postTransfers(engine.ctx.db, due, engine.ctx.clock.now());
  return maxMicro;
}

/** The payer asks the contract for its money back. */
export async function requestWithdraw(engine: Engine, { config, payer }: BookedTestChannel, amountMicro: bigint) {
  const args = [onChain(config), amountMicro] as never;
  await sendAs(
    engine,
    payer.address,
    encodeFunctionData({ abi: batchSettlementAbi, functionName: 'initiateWithdraw', args }),
  );
}

/** The payer takes its money after the delay. */
export async function finalizeWithdraw(engine: Engine, { config, payer }: BookedTestChannel) {
  await callChain(engine.chain.rpcUrl, 'evm_increaseTime', config.withdrawDelayS + 1);
  const args = [onChain(config)] as never;
  await sendAs(
    engine,
    payer.address,
    encodeFunctionData({ abi: batchSettlementAbi, functionName: 'finalizeWithdraw', args }),
  );
}

/** Books of a channel, and of the channels' debts: each account as the asset that it is. */
export async function booksOf(engine: Engine, { id }: Pick<BookedTestChannel, 'id'>) {
  const [channel] = await askDatabase<Record<'claimed' | 'lost' | 'published' | 'charged', string>>(
    engine.databaseUrl,
    `select claimed_micro::text as claimed, lost_micro::text as lost, published_micro::text as published, charged_micro::text as charged
       from channel where id = $1`,
    [id],
  );
  const assets = await assetsOf(engine);
  return { ...channel, ...assets };
}

export async function assetsOf(
  engine: Engine,
): Promise<Record<'wallet' | 'vouchersDue' | 'claimedDue' | 'loss', bigint>> {
  const sums = await askDatabase<{ kind: string; micro: string }>(
    engine.databaseUrl,
    'select kind, (-sum(change_micro))::text as micro from ledger_total group by kind',
  );
  const of = (kind: string) => BigInt(sums.find((each) => each.kind === kind)?.micro ?? 0);
  return { wallet: of('wallet'), vouchersDue: of('vouchers'), claimedDue: of('claimed'), loss: of('loss') };
}

/** Claims a voucher of a channel as its receiver authorizer, without the node. */
export async function claimAs(engine: Engine, { config, payer }: BookedTestChannel, maxMicro: bigint) {
  const signature = signVoucher(engine.ctx.chain, payer, config, maxMicro);
  const row = {
    voucher: { channel: onChain(config), maxClaimableAmount: maxMicro },
    signature,
    totalClaimed: maxMicro,
  };
  const args = [[row]] as never;
  await sendAs(
    engine,
    config.receiverAuthorizer,
    encodeFunctionData({ abi: batchSettlementAbi, functionName: 'claim', args }),
  );
}

/** Anybody sweeps what is claimed for the wallet. */
export const sweep = (engine: Engine): Promise<void> =>
  sendAs(engine, `0x${'cd'.repeat(20)}`, sweepCall(engine.ctx.chain.wallet, engine.ctx.chain.token));

/** Ends the calls of a channel that are in flight, each with this cost. */
export async function endCharges(engine: Engine, { id }: BookedTestChannel, costMicro: bigint): Promise<void> {
  const ended = await askDatabase<{ id: string; price: string }>(
    engine.databaseUrl,
    `with ended as (
       update channel_charge set charged_micro = $2, ended_at = now() where channel_id = $1 and ended_at is null returning *
     ), moved as (
       update channel set charged_micro = charged_micro + $2 * (select count(*) from ended),
              reserved_micro = reserved_micro - (select sum(amount_micro) from ended) where id = $1
     )
     select request_id as id, amount_micro::text as price from ended`,
    [id, String(costMicro)],
  );
  const account = `channel:${id}`;
  const moves = ended.flatMap(({ id: requestId, price }) => [
    {
      id: `charge:${requestId}`,
      debit: account,
      credit: earnedBy(id),
      amountMicro: costMicro,
      kind: 'return' as const,
      subjectId: requestId,
    },
    {
      id: `unused:${requestId}`,
      debit: account,
      credit: VOUCHERS,
      amountMicro: BigInt(price) - costMicro,
      kind: 'voucher_release' as const,
      subjectId: requestId,
    },
  ]);
  const due = moves.filter(({ amountMicro }) => amountMicro > 0n);
  await postTransfers(engine.ctx.db, due, engine.ctx.clock.now());
}
