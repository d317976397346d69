import { askDatabase } from '../support/books.ts';
import type { BankBook, SignedPayment } from './bank-book.ts';
import type { BankWorld } from './bank-world.ts';
import { usedNonces } from './used-nonces.ts';

export interface RequestRow {
  readonly id: string;
  readonly mark: string;
  readonly status: string;
  readonly agentId: string;
  readonly payer: string | null;
  readonly costMicro: string;
  readonly errorCode: string | null;
}

const REQUESTS = `
  select id, metadata ->> 'mark' as mark, status, agent_id as "agentId", payer_ledger_id as payer,
         coalesce(cost_micro, 0)::text as "costMicro", error_code as "errorCode" from invocation`;

/** All that is known when nothing moves any more. */
export interface Facts {
  readonly world: BankWorld;
  readonly book: BankBook;
  readonly requests: readonly RequestRow[];
  readonly byMark: ReadonlyMap<string, readonly RequestRow[]>;
  timesUsed(payment: Pick<SignedPayment, 'from' | 'nonce'>): number;
}

export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n);

export async function gatherFacts(world: BankWorld, book: BankBook): Promise<Facts> {
  const requests = await askDatabase<RequestRow>(world.databaseUrl, REQUESTS);
  const used = await usedNonces(world.chain.rpcUrl, world.ctx.chain.token);
  return {
    world,
    book,
    requests,
    byMark: Map.groupBy(requests, ({ mark }) => mark),
    timesUsed: ({ from, nonce }) => used.get(`${from.toLowerCase()} ${nonce.toLowerCase()}`) ?? 0,
  };
}
