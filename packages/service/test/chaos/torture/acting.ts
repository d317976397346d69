import type { Answer, RequestOptions } from '../../support/harness.ts';
import type { BankBook, Deal } from './bank-book.ts';
import type { BankClient, BankScene } from './bank-world.ts';
import { type Insisted, insist } from './insist.ts';
import type { Random } from './random.ts';

const PATIENCE_MS = 8_000;
const UNTIL_ANSWERED_MS = 120_000;

export interface Acting {
  readonly world: BankScene;
  readonly client: BankClient;
  readonly random: Random;
  readonly book: BankBook;
}

export type Act = (acting: Acting) => Promise<string>;

/** Until it is answered: the identical request, however often. */
export const ask = (
  { world }: Pick<Acting, 'world'>,
  method: string,
  path: string,
  options: RequestOptions,
): Promise<Insisted> =>
  insist(world.baseUrl, method, path, {
    ...options,
    patienceMs: PATIENCE_MS,
    timeoutMs: world.untilAnsweredMs ?? UNTIL_ANSWERED_MS,
  });

export const codeOf = ({ status, body }: Answer): string =>
  status === 200 ? 'done' : `${status} ${body?.error?.code}`;

/** Sometimes the same request goes out twice at once, as from a client that hedges. */
export async function askPerhapsTwice(acting: Acting, path: string, options: RequestOptions): Promise<Insisted[]> {
  const times = acting.random.chance(0.25) ? 2 : 1;
  return Promise.all(Array.from({ length: times }, () => ask(acting, 'POST', path, options)));
}

export function openDeal({ random, book }: Acting, kind: Deal['kind'], key: string, requests = 1): Deal {
  const deal: Deal = { mark: random.id(), kind, key, ids: new Set(), wasToldToPay: false, requests };
  book.deals.push(deal);
  return deal;
}

/** The body stays the same however often it is sent, so its deadline is a time and not a span. */
export const bodyOf = ({ random }: Acting, { mark }: Deal) => ({
  task: 'work',
  metadata: { mark },
  deadline: new Date(Date.now() + random.int(5000, 12_000)).toISOString(),
});

export function recordAnswers(deal: Deal, insisted: readonly Insisted[]): string {
  for (const { answer } of insisted)
    if (answer.status === 200) deal.ids.add(answer.body.data.requestId ?? answer.body.data.bulkId);
  const first = insisted[0] as Insisted;
  return codeOf(first.answer);
}
