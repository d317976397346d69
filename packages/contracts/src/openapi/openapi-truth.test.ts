import { describe, expect, it } from 'vitest';
import { openStatuses } from '../invocations/invocations.ts';
import { openApiDocument } from './openapi.ts';
import { toTruth } from './openapi-truth.ts';

interface Shown extends Readonly<Record<string, unknown>> {}
interface HasContent {
  readonly content?: Readonly<Record<string, { readonly example?: unknown }>>;
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: HasContent;
  readonly responses?: Readonly<Record<string, HasContent>>;
}

const document = JSON.parse(JSON.stringify(openApiDocument())) as {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly webhooks: Record<string, { readonly post: Operation }>;
  readonly components: { readonly schemas: Record<string, { readonly examples?: readonly unknown[] }> };
};

/** The values of a stream's example. */
const eventsOf = (stream: unknown) =>
  [...String(stream).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as unknown);

function examplesOf({ operationId, requestBody, responses = {} }: Operation): [string, unknown][] {
  const shown = [requestBody, responses['200']].flatMap((part) => Object.entries(part?.content ?? {}));
  return shown.flatMap(([type, { example }]) =>
    (type === 'text/event-stream' ? eventsOf(example) : [example]).map(
      (each) => [operationId, each] as [string, unknown],
    ),
  );
}

const examples: [string, unknown][] = [
  ...Object.values(document.paths).flatMap((item) => Object.values(item).flatMap(examplesOf)),
  ...Object.values(document.webhooks).flatMap(({ post }) => examplesOf(post)),
  ...Object.entries(document.components.schemas).flatMap(([name, { examples: all = [] }]) =>
    all.map((each) => [name, each] as [string, unknown]),
  ),
];

function* objectsOf(value: unknown): Generator<Shown> {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value)) yield value as Shown;
  for (const each of Object.values(value)) yield* objectsOf(each);
}

const objects = examples.flatMap(([name, example]) => [...objectsOf(example)].map((shown) => ({ name, shown })));

/** The objects that have these fields. None would prove nothing. */
function having(...fields: string[]): { name: string; shown: Shown }[] {
  const found = objects.filter(({ shown }) => fields.every((field) => field in shown));
  expect(found.length, fields.join()).toBeGreaterThan(0);
  return found;
}

/** The calls whose objects do not satisfy the law. */
const against = (found: readonly { name: string; shown: Shown }[], law: (shown: Shown) => boolean) =>
  found.filter(({ shown }) => !law(shown)).map(({ name, shown }) => `${name}: ${JSON.stringify(shown).slice(0, 300)}`);

const money = (value: unknown) => Math.round(Number(value) * 1e6);
const time = (value: unknown) => (typeof value === 'number' ? value * 1000 : Date.parse(String(value)));
const isOpen = ({ status }: Shown) => openStatuses.some((each) => each === status);

describe('every example of the document is true', () => {
  it('a fee is less than the amount that it is taken from', () => {
    const amounts = having('fee', 'amount');
    expect(against(amounts, ({ fee, amount, type }) => type === 'earning' && money(fee) < money(amount))).toEqual([]);
  });

  it('only a request that did not complete is refunded, and says why', () => {
    const requests = having('requestId', 'status', 'refund', 'completedAt').filter(
      ({ shown }) => !('issuedAt' in shown) && !isOpen(shown),
    );
    const isTrue = ({ status, refund, cost, error = null, errorCode = null, refundExpected = null }: Shown) =>
      status === 'completed'
        ? [refund, error, errorCode, refundExpected].every((each) => each === null) && cost !== null
        : refund !== null && cost === null;
    expect(against(requests, isTrue)).toEqual([]);
    expect(requests.filter(({ shown }) => shown.status === 'failed' && shown.error !== null)).not.toEqual([]);
  });

  it('what was paid from a treasury has no transaction of its own', () => {
    expect(
      against(
        having('paymentMethod', 'paymentHash'),
        (shown) => shown.paymentMethod === 'x402' || shown.paymentHash === null,
      ),
    ).toEqual([]);
  });

  it('times are in order', () => {
    const orders = [
      ['createdAt', 'startedAt', 'completedAt', 'deadline'],
      ['createdAt', 'endedAt'],
      ['createdAt', 'completedAt', 'issuedAt'],
      ['createdAt', 'updatedAt'],
      ['createdAt', 'changedAt'],
      ['createdAt', 'lastSeenAt', 'idleExpiresAt'],
      ['createdAt', 'expiresAt'],
      ['startedAt', 'seenAt'],
      ['lastCheckAt', 'nextCheckAt'],
      ['withdrawRequestedAt', 'withdrawAvailableAt'],
    ];
    for (const order of orders) {
      const found = objects.filter(
        ({ shown }) =>
          order.filter((each) => typeof shown[each] === 'string' || typeof shown[each] === 'number').length > 1,
      );
      expect(found.length, order.join()).toBeGreaterThan(0);
      const isInOrder = (shown: Shown) => {
        const times = order.flatMap((each) =>
          shown[each] === undefined || shown[each] === null ? [] : [time(shown[each])],
        );
        return times.every((each, index) => index === 0 || each >= Number(times[index - 1]));
      };
      expect(against(found, isInOrder), order.join()).toEqual([]);
    }
    const periods = objects.filter(({ shown }) => /^\d{4}-/.test(String(shown.from)) && shown.to !== undefined);
    expect(periods.length).toBeGreaterThan(0);
    expect(against(periods, ({ from, to }) => time(from) < time(to))).toEqual([]);
    expect(
      against(
        having('createdAt', 'expiresAt'),
        ({ createdAt, expiresAt }) => expiresAt === null || time(createdAt) < time(expiresAt),
      ),
    ).toEqual([]);
  });

  it('a request has ended when its status says so, after as long as its duration', () => {
    expect(
      against(having('status', 'completedAt', 'createdAt'), (shown) => isOpen(shown) === (shown.completedAt === null)),
    ).toEqual([]);
    const took = ({ createdAt, completedAt, duration }: Shown) =>
      `${(time(completedAt) - time(createdAt)) / 1000}s` === duration;
    const ended = having('createdAt', 'completedAt', 'duration').filter(({ shown }) => shown.completedAt !== null);
    expect(against(ended, took)).toEqual([]);
  });

  it('sums add up', () => {
    const cost = ({ base_fee, units, total }: Shown) =>
      money(total) >= money(base_fee) &&
      (units === undefined || money(total) === Math.max(money(base_fee), money((units as Shown).amount)));
    expect(against(having('base_fee', 'total'), cost)).toEqual([]);
    expect(
      against(
        having('used', 'remaining', 'limit'),
        ({ used, remaining, limit }) => Number(used) + Number(remaining) === limit,
      ),
    ).toEqual([]);
    const reserves = having('onChain', 'liabilities');
    const isBalanced = ({ onChain, channels, liabilities, bookedAfterBlock, difference, loss }: Shown) => {
      const { total, ...parts } = liabilities as Shown;
      const { vouchers, claimed } = channels as Shown;
      const assets =
        money(onChain) + money(vouchers) + money(claimed) + money(bookedAfterBlock) - money(difference) + money(loss);
      return (
        assets === money(total) &&
        Object.values(parts).reduce<number>((sum, part) => sum + money(part), 0) === money(total)
      );
    };
    expect(against(reserves, isBalanced)).toEqual([]);
    const statement = ({ openingBalance, closingBalance, entries }: Shown) =>
      (entries as Shown[]).reduce(
        (sum, { direction, amount }) => sum + (direction === 'credit' ? 1 : -1) * money(amount),
        money(openingBalance),
      ) === money(closingBalance);
    expect(against(having('openingBalance', 'closingBalance', 'entries'), statement)).toEqual([]);
    expect(
      against(
        having('balance', 'charged', 'inFlight', 'remaining'),
        (shown) => money(shown.balance) - money(shown.charged) - money(shown.inFlight) === money(shown.remaining),
      ),
    ).toEqual([]);
    expect(
      against(
        having('available', 'held', 'treasuries'),
        (shown) =>
          (shown.treasuries as Shown[]).reduce((sum, each) => sum + money(each.available), 0) ===
          money(shown.available),
      ),
    ).toEqual([]);
  });

  it('shares are those of their counts', () => {
    const isShare = (part: unknown, whole: unknown, share: unknown) =>
      Math.abs(Number(part) / Number(whole) - Number(share)) < 0.001;
    expect(
      against(having('checks', 'failed', 'uptime'), ({ checks, failed, uptime }) =>
        isShare(Number(checks) - Number(failed), checks, uptime),
      ),
    ).toEqual([]);
    expect(
      against(
        having('calls', 'succeeded', 'successRate'),
        ({ calls, succeeded, failed, successRate }) =>
          Number(succeeded) + Number(failed) === calls && isShare(succeeded, calls, successRate),
      ),
    ).toEqual([]);
  });

  it('a list without a further page has no cursor', () => {
    expect(
      against(having('hasMore', 'nextCursor'), ({ hasMore, nextCursor }) => hasMore === (nextCursor !== null)),
    ).toEqual([]);
  });

  it('an id has the prefix of what it names', () => {
    const prefixes: Readonly<Record<string, RegExp>> = {
      ...{
        requestId: /^req_/,
        agentId: /^(agt_|\d+$)/,
        quoteId: /^qte_/,
        treasuryId: /^trs_/,
        withdrawalId: /^wdr_/,
        paymentId: /^pay_/,
      },
      ...{
        webhookId: /^whk_/,
        deliveryId: /^dlv_/,
        eventId: /^evt_/,
        keyId: /^key_/,
        accountId: /^acc_/,
        sessionId: /^ses_/,
      },
      ...{ bulkId: /^blk_/, nodeId: /^node_/, callerAgentId: /^agt_/, challengeId: /^chg_/ },
    };
    for (const [field, prefix] of Object.entries(prefixes))
      expect(
        against(having(field), (shown) => shown[field] === null || prefix.test(String(shown[field]))),
        field,
      ).toEqual([]);
    expect(
      against(
        having('kind', 'id', 'name').filter(({ shown }) => shown.kind === 'key'),
        ({ id }) => String(id).startsWith('key_'),
      ),
    ).toEqual([]);
  });

  it('an address to accept a quote names that quote', () => {
    expect(
      against(having('quoteId', 'acceptUrl'), ({ quoteId, acceptUrl }) =>
        String(acceptUrl).endsWith(`?quote=${quoteId}`),
      ),
    ).toEqual([]);
  });

  it('a choice of the node is shown only by the call that has the node choose', () => {
    const showing = new Set(objects.filter(({ shown }) => 'chosen' in shown).map(({ name }) => name));
    expect([...showing]).toEqual(['invokeAuto']);
  });
});

it('false facts are made true, also within lists', () => {
  const request = {
    requestId: 'req_1',
    status: 'completed',
    refund: '0.05',
    refundExpected: '0.05',
    completedAt: 'now',
  };
  expect(toTruth([{ request }])).toEqual([{ request: { ...request, refund: null, refundExpected: null } }]);
});
