import { askDatabase } from '../../support/books.ts';
import type { BankBook, SignedPayment } from './bank-book.ts';
import type { BankClient, BankScene } from './bank-world.ts';
import { usedNonces } from './used-nonces.ts';

export interface RequestRow {
  readonly id: string;
  readonly mark: string;
  readonly status: string;
  readonly agentId: string;
  readonly payer: string | null;
  readonly costMicro: string;
  readonly errorCode: string | null;
  /** Amount that its agent billed directly; null: none. */
  readonly billMicro: string | null;
}

const REQUESTS = `
  select id, metadata ->> 'mark' as mark, status, agent_id as "agentId", payer_ledger_id as payer,
         coalesce(cost_micro, 0)::text as "costMicro", error_code as "errorCode", billed_micro::text as "billMicro" from invocation`;

const CREDITS = `
  select substr(debit, 9) as channel, sum(amount_micro)::text as micro from transfer where kind = 'claim' and debit like 'channel:%' group by 1`;

/** All that is known when nothing moves any more. */
export interface Facts {
  readonly world: BankScene;
  readonly book: BankBook;
  readonly requests: readonly RequestRow[];
  readonly byMark: ReadonlyMap<string, readonly RequestRow[]>;
  /** Amount of a client's plain transfers on chain. */
  sentPlainly(client: BankClient): bigint;
  timesUsed(payment: Pick<SignedPayment, 'from' | 'nonce'>): number;
  /** Amounts claimed for calls that then failed, by channel; the payer was credited as much. */
  readonly creditedMicro: ReadonlyMap<string, bigint>;
}

export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n);

export async function gatherFacts(world: BankScene, book: BankBook): Promise<Facts> {
  const requests = await askDatabase<RequestRow>(world.databaseUrl, REQUESTS);
  const credits = await askDatabase<{ channel: string; micro: string }>(world.databaseUrl, CREDITS);
  const used = await usedNonces(world.chain.rpcUrl, world.ctx.chain.token);
  const moved = await Promise.all(book.plain.map(({ transfer }) => world.bankChain.hasMoved(transfer)));
  const plain = book.plain.filter((_, index) => moved[index]);
  return {
    world,
    book,
    requests,
    byMark: Map.groupBy(requests, ({ mark }) => mark),
    sentPlainly: (client) => sum(plain.filter((each) => each.client === client).map(({ transfer }) => transfer.micro)),
    creditedMicro: new Map(credits.map(({ channel, micro }) => [channel, BigInt(micro)])),
    timesUsed: ({ from, nonce }) => used.get(`${from.toLowerCase()} ${nonce.toLowerCase()}`) ?? 0,
  };
}
