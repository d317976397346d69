import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CheckRoom, takeDueAgents } from '../../../../src/agents/agent-store.ts';
import { createAgentChecks } from '../../../../src/agents/health/agent-checks.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent } from '../../../support/test-agent.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

async function register(owner: TestAccount, endpoint: string): Promise<string> {
  const body = { name: 'Checked', capabilities: ['x'], rates: { perRequest: '0' }, endpoint };
  return (await h.request('POST', '/agents', { key: owner.key, body })).body.data.id;
}

const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));

/** A server that answers nothing. */
async function startSilentServer() {
  const seen = { held: 0, mostHeld: 0 };
  const server = createServer((request) => {
    seen.held += 1;
    seen.mostHeld = Math.max(seen.mostHeld, seen.held);
    request.once('close', () => {
      seen.held -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    seen,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

it('an account with endpoints that never answer has ten checks at a time, and others do not wait for them', async () => {
  const { seen, endpoint, close } = await startSilentServer();
  const owner = await h.newAccount();
  await times(20, () => register(owner, endpoint));
  const agent = await startTestAgent(h);
  expect((await h.request('GET', `/agents/${agent.id}`)).body.data.status).toBe('online');
  expect(seen.mostHeld).toBeGreaterThan(0);
  expect(seen.mostHeld).toBeLessThanOrEqual(10);
  await agent.die();
  close();
});

it('a node that stops waits for no endpoint, and records nothing of what it broke off', async () => {
  const { seen, endpoint, close } = await startSilentServer();
  const id = await register(await h.newAccount(), endpoint);
  await expect.poll(() => seen.held).toBe(1);
  // Due for these checks, and not for those of the node.
  const later = { now: () => new Date(h.ctx.clock.now().getTime() + 3_600_000) };
  const checks = createAgentChecks({ ...h.ctx, clock: later });
  const run = checks.run();
  await expect.poll(() => seen.held).toBe(2);
  checks.stop();
  await run;
  expect(seen.held).toBe(2);
  await checks.run();
  close();
  const readRow = () =>
    h.ctx.db.query<{ checksDone: number }>('read-row', 'select checks_done as "checksDone" from agent where id = $1', [
      id,
    ]);
  // Of the two, the check of the node itself is recorded.
  await expect.poll(async () => (await readRow())[0]?.checksDone).toBe(1);
});

it('of the checks that are due, the longest due begin, as far as their account and the slow ones have room', async () => {
  const owners = await times(3, () => h.newAccount());
  const [busy, slow, quick] = owners.map(({ accountId }) => accountId) as [string, string, string];
  const ids = await Promise.all(
    owners.map((owner) => times(4, () => register(owner, 'http://127.0.0.1:9/nothing-listens'))),
  );
  const most = { checks: 6, slowChecks: 2, slowMs: 1000, checksOfAccount: 3, considered: 100 };
  const room: CheckRoom = { ...most, running: new Map([[busy, 1]]) };
  const take = (given: Partial<CheckRoom>, slowBy: string) =>
    h.ctx.db
      .transaction(async (tx) => {
        // The node's own round sees none of it: nothing is committed.
        await tx.query('none-due', 'update agent set next_check_at = null');
        for (const [account, own] of ids.entries())
          for (const [nth, id] of own.entries())
            await tx.query(
              'make-due',
              'update agent set next_check_at = $2, checks_done = 0, failed_in_a_row = 0 where id = $1',
              [id, new Date(1000 * (nth + 1) + account)],
            );
        await tx.query(slowBy, `update agent set ${slowBy} where account_id = $1`, [slow]);
        const taken = await takeDueAgents(tx, new Date(60_000), new Date(90_000), { ...room, ...given });
        throw new Taken(taken.map(({ accountId, isSlow }) => ({ accountId, isSlow })));
      })
      .catch((error) => {
        if (error instanceof Taken) return error.agents;
        throw error;
      });
  const counted = (agents: Taken['agents']) =>
    [busy, slow, quick].map((account) => agents.filter(({ accountId }) => accountId === account).length);

  for (const slowBy of ['failed_in_a_row = 1', 'response_ms = 1001', 'checks_done = 1']) {
    const agents = await take({}, slowBy);
    expect(counted(agents)).toEqual([2, 2, 2]);
    expect(agents.filter(({ isSlow }) => isSlow).map(({ accountId }) => accountId)).toEqual([slow, slow]);
  }
  expect(counted(await take({ slowChecks: 0 }, 'failed_in_a_row = 1'))).toEqual([2, 0, 3]);
  expect(counted(await take({ checks: 2 }, 'failed_in_a_row = 1'))).toEqual([1, 1, 0]);
  expect(counted(await take({ checks: 100 }, 'response_ms = 999'))).toEqual([2, 3, 3]);
  // Of two that are considered, neither is one that has no room: for slow ones, or in its account.
  const hidden = 'next_check_at = to_timestamp(0), failed_in_a_row = 1';
  expect(counted(await take({ slowChecks: 0, considered: 2 }, hidden))).toEqual([1, 0, 1]);
  const isFull = { running: new Map([[slow, 3]]), considered: 2 };
  expect(counted(await take(isFull, hidden))).toEqual([1, 0, 1]);
  expect(counted(await take(isFull, 'next_check_at = to_timestamp(0)'))).toEqual([1, 0, 1]);
  expect(counted(await take({ slowChecks: 1, considered: 2 }, hidden))).toEqual([1, 1, 1]);
  // Those that are known to answer at once hold no place.
  expect(counted(await take({ checks: 100 }, "status = 'online'"))).toEqual([2, 4, 3]);
});

/** Ends a transaction that is only looked into. */
class Taken extends Error {
  readonly agents: readonly { readonly accountId: string; readonly isSlow: boolean }[];

  constructor(agents: Taken['agents']) {
    super('rolled back');
    this.agents = agents;
  }
}
