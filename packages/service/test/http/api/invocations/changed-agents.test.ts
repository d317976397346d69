import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAX_AGE_MS } from '../../../../src/store/replica/replica.ts';
import { contradictions } from '../../../support/books.ts';
import { type Answer, type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, newClient } from '../../../support/treasury.ts';
import { payV1, payV2 } from '../../../support/x402-payer.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let owner: TestAccount;
let client: TestAccount;
const agents: TestAgent[] = [];
beforeAll(async () => {
  // As in production: agents come from memory.
  h = await startHarness({ maxAgeMs: MAX_AGE_MS });
  owner = await h.newAccount();
  client = await newClient(h, '100');
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  await h.stop();
});

async function newAgent(options: { capabilities?: string[]; perRequest?: string } = {}): Promise<TestAgent> {
  const agent = await startTestAgent(h, { owner, perRequest: '0.05', ...options });
  agents.push(agent);
  return agent;
}

const sync = { 'x-sync': 'true' };
const invoke = ({ id }: TestAgent, { body = {}, query = '', headers = {}, key = client.key } = {}): Promise<Answer> =>
  h.request('POST', `/invoke/${id}${query}`, { key, body: { task: 'x', ...body }, headers: { ...sync, ...headers } });
const price = async ({ id }: TestAgent, perRequest: string) => {
  expect((await h.request('PUT', `/agents/${id}`, { key: owner.key, body: { rates: { perRequest } } })).status).toBe(
    200,
  );
};
const remove = async ({ id }: TestAgent) => {
  expect((await h.request('DELETE', `/agents/${id}`, { key: owner.key })).status).toBe(200);
};

/** Has something happen between the decision on a call and the transaction that stores it. */
async function whileAccepted(call: () => Promise<Answer>, meanwhile: () => Promise<void>): Promise<Answer> {
  const { acceptor } = h.ctx;
  const accept = acceptor.accept.bind(acceptor);
  let isFirst = true;
  acceptor.accept = async (item) => {
    if (isFirst) {
      isFirst = false;
      await meanwhile();
    }
    return accept(item);
  };
  const answer = await call().finally(() => {
    acceptor.accept = accept;
  });
  expect(isFirst).toBe(false);
  return answer;
}

const available = async () => (await balanceOf(h, client.key)).available;
const costOf = (answer: Answer) => answer.body.data?.cost;

describe('a call with an agent that changes right before it is stored', () => {
  it('is charged the new price, never the old one', async () => {
    const agent = await newAgent();
    expect(costOf(await invoke(agent))).toBe('0.05');
    // It agrees to either price.
    expect(
      costOf(
        await whileAccepted(
          () => invoke(agent, { body: { maxCost: '0.20' } }),
          () => price(agent, '0.20'),
        ),
      ),
    ).toBe('0.20');
    expect(
      costOf(
        await whileAccepted(
          () => invoke(agent),
          () => price(agent, '0.01'),
        ),
      ),
    ).toBe('0.01');
  });

  it('is refused, and nothing is held, when the new price is above its maximum', async () => {
    const agent = await newAgent();
    const before = await available();
    const body = { maxCost: '0.10' };
    expectError(
      await whileAccepted(
        () => invoke(agent, { body }),
        () => price(agent, '0.20'),
      ),
      'VALIDATION_ERROR',
      'maxCost',
    );
    expect([await available(), agent.calls.length]).toEqual([before, 0]);
  });

  it('is refused, and nothing is held, when the agent was removed', async () => {
    const agent = await newAgent();
    const before = await available();
    expectError(
      await whileAccepted(
        () => invoke(agent),
        () => remove(agent),
      ),
      'NOT_FOUND',
    );
    expect([await available(), agent.calls.length]).toEqual([before, 0]);
  });

  it('costs what its quote says, and stays unused by a removed agent', async () => {
    const agent = await newAgent();
    const quote = async () =>
      (await h.request('POST', `/invoke/${agent.id}/quote`, { key: client.key, body: { task: 'x', input: {} } })).body
        .data.quoteId;
    const query = `?quote=${await quote()}`;
    expect(
      costOf(
        await whileAccepted(
          () => invoke(agent, { query }),
          () => price(agent, '0.20'),
        ),
      ),
    ).toBe('0.05');
    const second = await quote();
    expectError(
      await whileAccepted(
        () => invoke(agent, { query: `?quote=${second}` }),
        () => remove(agent),
      ),
      'NOT_FOUND',
    );
    const [row] = await h.ctx.db.query<{ usedBy: string | null }>(
      '',
      'select used_by as "usedBy" from quote where id = $1',
      [second],
    );
    expect(row?.usedBy).toBeNull();
  });

  it('paid by x402 costs what its signed offer says; without an offer (version 1) the present price is asked for', async () => {
    const agent = await newAgent();
    const wallet = await h.newWallet();
    const { key } = await h.newAccount();
    const unpaid = () => invoke(agent, { key });
    const offered = await payV2(h, wallet, await unpaid());
    const paid = await whileAccepted(
      () => invoke(agent, { key, headers: offered }),
      () => price(agent, '0.20'),
    );
    expect([paid.status, costOf(paid)]).toEqual([200, '0.05']);
    const first = await payV1(h, wallet, await unpaid());
    const before = await h.usdcOf(wallet.address);
    const refused = await whileAccepted(
      () => invoke(agent, { key, headers: first }),
      () => price(agent, '0.30'),
    );
    expect([refused.status, refused.body.accepts?.[0]?.maxAmountRequired]).toEqual([402, '300000']);
    expect(await h.usdcOf(wallet.address)).toBe(before);
  });

  it('and was chosen for a task, is chosen anew: another one that fits is called', async () => {
    const capabilities = ['changing-choice'];
    const [cheap, steady] = [await newAgent({ capabilities }), await newAgent({ capabilities, perRequest: '0.06' })];
    const auto = (): Promise<Answer> =>
      h.request('POST', '/invoke/auto', {
        key: client.key,
        body: { task: 'x', input: {}, maxCost: '0.10', capabilities },
        headers: sync,
      });
    const first = await auto();
    const [chosen, other] = first.body.data.agentId === cheap.id ? [cheap, steady] : [steady, cheap];
    const answer = await whileAccepted(auto, () => price(chosen, '0.20'));
    expect([answer.status, answer.body.data?.agentId]).toEqual([200, other.id]);
    const before = await available();
    expectError(await whileAccepted(auto, () => remove(other)), 'NO_AGENT_FITS');
    expect([await available(), chosen.calls.length, other.calls.length]).toEqual([before, 1, 1]);
  });

  it('in a bulk request, has the whole of it decided anew', async () => {
    const [steady, changing] = [await newAgent(), await newAgent()];
    const { db } = h.ctx;
    const transaction = db.transaction.bind(db);
    let isFirst = true;
    const before = await available();
    const bulk = (body: object) =>
      h.request('POST', '/invoke/bulk', {
        key: client.key,
        body: { task: 'x', agents: [steady.id, changing.id], ...body },
      });
    db.transaction = async (fn, options) => {
      if (isFirst && fn.toString().includes('spendOrThrow')) {
        isFirst = false;
        await price(changing, '0.20');
      }
      return transaction(fn, options);
    };
    const answer = await bulk({ maxCostPerAgent: '0.10' }).finally(() => {
      db.transaction = transaction;
    });
    expect(isFirst).toBe(false);
    expectError(answer, 'VALIDATION_ERROR', 'maxCostPerAgent');
    expect([await available(), steady.calls.length]).toEqual([before, 0]);
  });
});

it('once a new price is answered, no call that begins later has the old one, however busy the agent is', async () => {
  const agent = await newAgent();
  let isOver = false;
  const busy = [1, 2, 3].map(async () => {
    while (!isOver) expect((await invoke(agent, { body: { maxCost: '1' } })).status).toBe(200);
  });
  const wrong: string[] = [];
  for (let round = 1; round <= 15; round++) {
    const perRequest = `0.${String(10 + round)}`;
    await price(agent, perRequest);
    const quoted = h.request('POST', `/invoke/${agent.id}/quote`, { key: client.key, body: { task: 'x', input: {} } });
    const shown = [(await quoted).body.data.estimatedCost, costOf(await invoke(agent, { body: { maxCost: '1' } }))];
    for (const cost of shown) if (cost !== perRequest) wrong.push(`${cost} instead of ${perRequest}`);
  }
  isOver = true;
  await Promise.all(busy);
  expect(wrong).toEqual([]);
});
