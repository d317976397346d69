import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CrashSite, startCrashSite } from '../../chaos/torture/crash-site.ts';
import { createRandom } from '../../chaos/torture/random.ts';
import { contradictions } from '../../support/books.ts';
import { isLong } from '../../support/long.ts';
import { answerWith, type Behaviour } from '../../support/test-agent.ts';
import { balanceOf, newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';

/** A hundred deaths in the long run. */
const ROUNDS = isLong ? 10 : 1;
const TIMES = isLong ? 10 : 2;

let chain: LocalChain;
let site: CrashSite;
beforeAll(async () => {
  chain = await startLocalChain();
  site = await startCrashSite(chain);
});
afterAll(async () => {
  await site?.stop();
  await chain?.stop();
});

const asks: Behaviour = (request, response) =>
  (request.body.answers
    ? answerWith(200, { result: request.body.answers[0].input })
    : answerWith(200, { status: 'input_required', input: { message: 'Which day?' } }))(request, response);

const rounds = Array.from({ length: ROUNDS }, (_, index) => index + 1);

it.each(rounds)(
  `a process killed between a question and its answer, ${TIMES} times: one purchase, one answer, one result each (%i)`,
  async (round) => {
    const [agent] = site.agents;
    agent.behave(asks);
    const random = createRandom('killed between question and answer', String(round));
    const deathsBefore = site.node.deaths();
    for (let nth = 0; nth < TIMES; nth++) {
      const { key } = await newClient(site, '0.12');
      const call = {
        key,
        body: {
          task: `killed ${round} ${nth}`,
          interactive: true,
          deadline: new Date(Date.now() + 120_000).toISOString(),
        },
        headers: { 'idempotency-key': `killed-${round}-${nth}`, 'x-sync': 'true' },
      };
      const recordIf = (isIt: (record: RequestRecord) => boolean) =>
        until(async () => {
          const read = await site.insist('GET', `/invoke/${asked.requestId}`, { key });
          return isIt(read.answer.body.data) ? (read.answer.body.data as RequestRecord) : null;
        });
      const asked: RequestRecord = (await site.insist('POST', `/invoke/${agent.id}`, call)).answer.body.data;
      const waiting = await recordIf(({ status }) => status === 'input_required');
      const body = { inputId: waiting?.inputRequest?.inputId, action: 'accept', input: { nth } };
      // It dies before the answer comes, in its midst, or after it.
      const killed = sleep(random.int(0, 40)).then(() => site.node.kill());
      await sleep(random.int(0, 40));
      const [first, again] = await Promise.all([
        site.insist('POST', `/invoke/${asked.requestId}/input`, { key, body }),
        site.insist('POST', `/invoke/${agent.id}`, call),
        killed,
      ]);
      expect([first.answer.status, again.answer.body.data.requestId]).toEqual([200, asked.requestId]);
      expect(await recordIf(({ status }) => status !== 'input_required' && status !== 'processing')).toMatchObject({
        ...{ status: 'completed', result: { nth }, cost: '0.05', turn: 2 },
      });
      const calls = agent.calls.filter(({ body: { task } }) => task === call.body.task);
      const told = new Set(
        calls.map(({ headers, body }) => JSON.stringify([headers['idempotency-key'], body.answers])),
      );
      expect(told.size).toBe(2);
      expect(await balanceOf(site, key)).toEqual({ available: '0.07', held: '0.00' });
    }
    expect(site.node.deaths() - deathsBefore).toBeGreaterThanOrEqual(TIMES);
    expect(await contradictions(site.databaseUrl)).toEqual([]);
  },
);
