import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../support/harness.ts';
import { seenBy, untilSo } from '../../support/network.ts';
import { newOwner, registerOnChain } from '../../support/registry-actions.ts';
import { agentFile, nodeFile, otherAgentId } from './support/files.ts';
import { type Answer, type HostileServer, json, startHostileServer } from './support/hostile-server.ts';
import { insertAgents } from './support/insert-agents.ts';

const wellKnown = '/.well-known/agent-network.json';
let node: Harness;
let server: HostileServer;

beforeAll(async () => {
  server = await startHostileServer();
  node = await startHarness({ followsRegistry: true, env: { NETWORK_POLL_MS: '500' } });
});
afterAll(async () => {
  await node?.stop();
  await server?.stop();
});

const page = (agents: readonly unknown[], cursor: string, hasMore = false): Answer =>
  json({ status: 'success', data: { agents, hasMore, cursor } });

/** A node that is listed, and tells what the test says. */
async function joinNode(path: string, feed: Answer) {
  const baseUrl = server.origin + path;
  const registrar = newOwner();
  const tokenId = await registerOnChain(node.rpcUrl, registrar, baseUrl + wellKnown);
  server.answers.set(path + wellKnown, json(nodeFile({ baseUrl, tokenId })));
  server.answers.set(`${path}/network/agents`, feed);
  await untilSo('the node is listed', async () => (await seenBy(node, baseUrl)) !== null);
  return {
    path,
    baseUrl,
    registrar,
    tokenId,
    tell: (next: Answer) => server.answers.set(`${path}/network/agents`, next),
  };
}

type Joined = Awaited<ReturnType<typeof joinNode>>;

async function joinAgent(home: Joined) {
  const id = otherAgentId();
  const path = `${home.path}/agents/${id}/registration.json`;
  const tokenId = await registerOnChain(node.rpcUrl, home.registrar, server.origin + path);
  const file = agentFile({ baseUrl: home.baseUrl, tokenId, id, owner: home.registrar });
  server.answers.set(path, json(file));
  await untilSo('the agent is listed', async () => (await shown(id)) !== undefined);
  return { id, file };
}

const shown = async (id: string) => (await node.request('GET', `/agents/${id}`)).body.data;
const statusOf = async (home: Joined) => (await seenBy(node, home.baseUrl))?.status;

describe("the feed of a node's agents", () => {
  it('comes in the order of their last change, with a cursor that goes on, removed ones included', async () => {
    await insertAgents(node, 5, { areOurs: true });
    const ask = async (query: string) => (await node.request('GET', `/network/agents?${query}`)).body.data;
    const first = await ask('limit=2');
    const second = await ask(`limit=2&cursor=${first.cursor}`);
    const third = await ask(`limit=2&cursor=${second.cursor}`);
    expect([first, second, third].map(({ agents, hasMore }) => [agents.length, hasMore])).toEqual([
      [2, true],
      [2, true],
      [1, false],
    ]);
    const ids = [first, second, third].flatMap(({ agents }) =>
      agents.map((each: { agentNetwork: { id: string } }) => each.agentNetwork.id),
    );
    expect(new Set(ids).size).toBe(5);
    await node.ctx.db.query('', `update agent set status = 'removed', changed_at = clock_timestamp() where id = $1`, [
      ids[0],
    ]);
    const next = await ask(`limit=200&cursor=${third.cursor}`);
    const told = next.agents.find((each: { agentNetwork: { id: string } }) => each.agentNetwork.id === ids[0]);
    expect(told).toMatchObject({
      active: false,
      registrations: [{ agentRegistry: expect.stringContaining('eip155:84532:') }],
    });
    expect((await node.request('GET', '/network/agents?cursor=nonsense')).body.error.code).toBe('VALIDATION_ERROR');
  });

  it.each(['2026-02-30T00:00:00', '2026-13-01T00:00:00', '0000-01-01T00:00:00', '2026-11-21T25:00:00'])(
    'refuses a cursor with an invalid time: %s',
    async (time) => {
      const cursor = Buffer.from(`${time}.000000Z|`).toString('base64url');
      const { status, body } = await node.request('GET', `/network/agents?cursor=${cursor}`);
      expect([status, body.error?.code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );

  it('misses no change whose transaction ended after that of a later one', async () => {
    const [late, sooner] = await insertAgents(node, 2, { areOurs: true });
    const touch = 'update agent set changed_at = clock_timestamp() where id = $1';
    const client = await node.ctx.db.pool.connect();
    await client.query('begin');
    await client.query(touch, [late]);
    await node.ctx.db.query('', touch, [sooner]);
    const before = (await node.request('GET', '/network/agents?limit=500')).body.data;
    expect(before.agents.at(-1).agentNetwork.id).toBe(sooner);
    await client.query('commit');
    client.release();
    const after = (await node.request('GET', `/network/agents?limit=500&cursor=${before.cursor}`)).body.data;
    expect(after.agents.map((each: { agentNetwork: { id: string } }) => each.agentNetwork.id)).toContain(late);
  });
});

it('has fewer agents on a page when they are large: another node reads at most 8 MiB', async () => {
  const ask = async (query: string) => (await node.request('GET', `/network/agents?limit=500${query}`)).body.data;
  const { cursor } = await ask('');
  const ids = await insertAgents(node, 6, { areOurs: true });
  const describeAll = (text: string) =>
    node.ctx.db.query('', 'update agent set description = $2, changed_at = clock_timestamp() where id = any($1)', [
      ids,
      text,
    ]);
  await describeAll('x'.repeat(1_600_000));
  const told = new Set<string>();
  for (let page = await ask(`&cursor=${cursor}`), more = true; more; page = await ask(`&cursor=${page.cursor}`)) {
    expect(JSON.stringify(page).length).toBeLessThan(8 * 2 ** 20);
    for (const each of page.agents) told.add(each.agentNetwork.id);
    more = page.hasMore;
  }
  for (const id of ids) expect(told).toContain(id);
  await describeAll('small again');
});

describe('a node that joins', () => {
  it('is announced only to operators and to subscribers of that event', async () => {
    const [operator, subscriber, stranger] = [
      await node.newAccount(),
      await node.newAccount({ scopes: ['webhooks:manage'] }),
      await node.newAccount({ scopes: ['webhooks:manage'] }),
    ];
    const url = `${server.origin}/hook`;
    const subscribe = (key: string, body: object) =>
      node.request('POST', '/account/webhooks', { key, body: { url, ...body } });
    expect((await subscribe(subscriber.key, { eventTypes: ['network.node_joined'] })).status).toBe(200);
    expect((await subscribe(stranger.key, {})).status).toBe(200);
    const { baseUrl } = await joinNode('/new', page([], 'a'));
    const heard = async (key: string) =>
      (await node.request('GET', '/events?type=network.node_joined', { key })).body.data.events;
    for (const { key } of [operator, subscriber]) {
      await untilSo('it is told', async () => (await heard(key)).length > 0);
      expect(await heard(key)).toMatchObject([{ data: { label: 'hostile', baseUrl } }]);
    }
    expect(await heard(stranger.key)).toEqual([]);
  });
});

/** Beside each other: a node that never ends a page is offline after three time-outs. */
describe.concurrent('the feed of another node', () => {
  it('is taken over for agents whose entry was checked, and of no others', async ({ expect }) => {
    const home = await joinNode('/plain', page([], 'a'));
    const { id, file } = await joinAgent(home);
    const unknown = otherAgentId();
    const changed = { ...file, name: 'Cockatoo' };
    home.tell(
      page(
        [
          null,
          7,
          { agentNetwork: 'x' },
          { agentNetwork: { id: 'a\u0000' } },
          { ...file, agentNetwork: { ...file.agentNetwork, id: unknown } },
          changed,
        ],
        'b',
      ),
    );
    await untilSo('the change is shown', async () => (await shown(id)).name === 'Cockatoo');
    expect((await node.request('GET', `/agents/${unknown}`)).status).toBe(404);
  });

  it('is not believed when it contradicts the chain or is out of bounds; the agent stays as it was', async ({
    expect,
  }) => {
    const home = await joinNode('/liar', page([], 'a'));
    const { id, file } = await joinAgent(home);
    const other = await joinAgent(home);
    const wrong = { ...file, name: 'x'.repeat(500), registrations: [{ agentRegistry: { toString: 1 } }] };
    home.tell(page([wrong, { ...other.file, name: 'Fine' }], 'b'));
    await untilSo('the good one is shown', async () => (await shown(other.id)).name === 'Fine');
    expect((await shown(id)).name).toBe('Parrot');
  });

  it('has schemas in files of agents only, which are held to the limits of our own: an agent is listed without any that break them', async ({
    expect,
  }) => {
    const home = await joinNode('/typed', page([], 'a'));
    const { id, file } = await joinAgent(home);
    let version = 0;
    const tellTypes = async (types: string | undefined, name: string) => {
      version += 1;
      const told = { ...file, name, agentNetwork: { ...file.agentNetwork, typesVersion: `typ_${version}` } };
      const whole = { ...told, agentNetwork: { ...told.agentNetwork, ...(types === undefined ? {} : { types }) } };
      server.answers.set(`${home.path}/agents/${id}/registration.json`, json(whole));
      home.tell(page([told], `c${version}`));
      await untilSo('it is told', async () => (await shown(id)).name === name);
    };
    const good = { inputSchema: { type: 'object', properties: { a: { type: 'string' } } } };
    await tellTypes(JSON.stringify(good), 'Good');
    await untilSo('its types are shown', async () => (await shown(id)).types !== undefined);
    expect((await shown(id)).types).toEqual(good);
    const asked = () => server.asked.get(`${home.path}/agents/${id}/registration.json`) ?? 0;
    const nested = `${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`;
    const bad = {
      'no JSON': '{',
      'a back-reference': JSON.stringify({ inputSchema: { type: 'object', patternProperties: { '(a)\\1': {} } } }),
      'endless depth': `{"inputSchema":${nested}}`,
      'a reference elsewhere': JSON.stringify({ inputSchema: { type: 'object', $ref: 'http://127.0.0.1/x' } }),
      'a strange capability': JSON.stringify({ capabilities: { flying: good } }),
      'too much': JSON.stringify({ inputSchema: { type: 'object', description: 'x'.repeat(70_000) } }),
      nothing: undefined,
    };
    for (const [name, types] of Object.entries(bad)) {
      const before = asked();
      await tellTypes(types, name);
      await untilSo('its file is read', async () => asked() > before);
      expect([name, await shown(id)]).toMatchObject([name, { status: 'online' }]);
      expect((await shown(id)).types).toBeUndefined();
    }
  });

  it('says when the clock of a node is wrong: nothing of it is later than now', async ({ expect }) => {
    const home = await joinNode('/future', page([], 'a'));
    const { id, file } = await joinAgent(home);
    home.tell(
      page(
        [{ ...file, name: 'Future', agentNetwork: { ...file.agentNetwork, updatedAt: '9999-01-01T00:00:00Z' } }],
        'b',
      ),
    );
    await untilSo('the change is shown', async () => (await shown(id)).name === 'Future');
    expect(Date.parse((await shown(id)).updatedAt)).toBeLessThanOrEqual(Date.now() + 1000);
  });
});

/** Beside each other: each waits for pauses. */
describe.concurrent('a node that asks to be left alone', () => {
  const busy =
    (status: number, seconds: number): Answer =>
    (_message, response) =>
      response.writeHead(status, { 'retry-after': String(seconds) }).end();
  const askedOf = ({ path }: Joined) => server.asked.get(`${path}/network/agents`) ?? 0;

  it('stays online, and is asked for the next page', async ({ expect }) => {
    const home = await joinNode('/busy', page([], 'a'));
    await untilSo('its feed is read', async () => askedOf(home) > 1);
    const asked: { cursor: string | null; atMs: number }[] = [];
    home.tell((message, response) => {
      asked.push({
        cursor: new URL(message.url ?? '', 'http://x').searchParams.get('cursor'),
        atMs: performance.now(),
      });
      const answer = asked.length <= 4 ? busy(asked.length % 2 === 0 ? 503 : 429, 1) : page([], 'a');
      answer(message, response);
    });
    await untilSo('it is asked again', async () => asked.length > 5);
    expect(asked.map(({ cursor }) => cursor)).toEqual(asked.map(() => 'a'));
    expect((asked[4]?.atMs ?? 0) - (asked[0]?.atMs ?? 0)).toBeGreaterThan(3900);
    expect(await statusOf(home)).toBe('online');
  });

  it('is so for an hour at most, ten minutes if it is away, and is offline once it has told nothing for hours', async ({
    expect,
  }) => {
    const home = await joinNode('/silent', page([], 'a'));
    await untilSo('its feed is read', async () => askedOf(home) > 1);
    home.tell(busy(429, 9_999_999));
    const pausedFor = async (minutes: number) => {
      const sql = `select 1 from network_node where base_url = $1 and next_check_at > now() + $2 * interval '1 minute'`;
      return (await node.ctx.db.query('', sql, [home.baseUrl, minutes])).length > 0;
    };
    await untilSo('it is left alone', () => pausedFor(59));
    expect([await pausedFor(73), await statusOf(home)]).toEqual([false, 'online']);
    home.tell(busy(503, 3600));
    const seen = 'update network_node set last_seen_at = now(), next_check_at = now() where base_url = $1';
    await node.ctx.db.query('', seen, [home.baseUrl]);
    await untilSo('it is left alone for a restart', () => pausedFor(9));
    expect(await pausedFor(13)).toBe(false);
    const later = `update network_node set last_seen_at = now() - interval '121 minutes', next_check_at = now() where base_url = $1`;
    await node.ctx.db.query('', later, [home.baseUrl]);
    await untilSo('it is offline', async () => (await statusOf(home)) === 'offline');
    home.tell(page([], 'a'));
    await untilSo('it is online when it mends', async () => (await statusOf(home)) === 'online');
  });
});

const endless: Answer = (message, response) => {
  const cursor = new URL(message.url ?? '', 'http://x').searchParams.get('cursor') ?? '0';
  page(
    Array.from({ length: 200 }, () => ({ agentNetwork: { id: otherAgentId() } })),
    String(Number(cursor) + 1),
    true,
  )(message, response);
};
const misbehaviours: [string, Answer][] = [
  ['tells garbage', (_m, response) => response.end('}{')],
  [
    'tells more than it was asked for',
    page(
      Array.from({ length: 201 }, () => null),
      'x',
    ),
  ],
  ['tells without end', endless],
  ['never ends a page', (_m, response) => void response.writeHead(200).write('{"data":')],
  [
    'sends without end',
    (_m, response) => {
      const more = () => {
        if (!response.destroyed) response.write('x'.repeat(65_536), more);
      };
      more();
    },
  ],
  ['hands out cursors without end', page([], 'x'.repeat(201), true)],
  ['hands out a cursor that no table takes', page([], 'a\u0000')],
];

describe.concurrent('a node that misbehaves', () => {
  it('keeps no other waiting, and is offline until it mends', async ({ expect }) => {
    const misbehaving = misbehaviours.map(([name, feed]) => joinNode(`/${name.replace(/\W+/g, '-')}`, feed));
    const fine = await joinNode('/fine', page([], 'a'));
    const { id, file } = await joinAgent(fine);
    const bad = await Promise.all(misbehaving);
    for (let nth = 0; nth < 5; nth++) {
      fine.tell(page([{ ...file, name: `Change ${nth}` }], `c${nth}`));
      const tookMs = await untilSo('the change is shown', async () => (await shown(id)).name === `Change ${nth}`);
      expect(tookMs).toBeLessThan(5000);
    }
    const mends = async (home: Joined, nth: number) => {
      const name = `a node that ${misbehaviours[nth]?.[0]}`;
      await untilSo(`${name} is offline`, async () => (await statusOf(home)) === 'offline');
      home.tell(page([], 'a'));
      await untilSo(`${name} is online when it mends`, async () => (await statusOf(home)) === 'online');
    };
    await Promise.all(bad.map(mends));
    expect(await statusOf(fine)).toBe('online');
  });
});
