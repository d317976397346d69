import { spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ask, type HandleCall, serveAgent } from '../../sdk/src/agent/serve-agent.ts';
import { BUNDLES } from '../../service/test/support/bundled.ts';
import { startLocal } from '../../service/test/support/local-node.ts';
import { createProgram } from '../src/program.ts';
import { bundledMain, inItsProcess, type RunLine, startCommandLines } from './support/command-lines.ts';

const envOf = () => ({
  ...{ PATH: process.env.PATH, HOME: folder, AGENTNET_CONFIG_DIR: join(folder, 'config') },
  // Loading the program anew would be most of each command's time.
  NODE_COMPILE_CACHE: BUNDLES,
});

/** As a person runs it. What the program's own process makes of arguments, streams and exit codes is tried with some commands. */
const spawned = inItsProcess(envOf, bundledMain);
/** By the file that npm puts into the path. */
const installed = inItsProcess(envOf);

let node: Awaited<ReturnType<typeof startLocal>>;
let folder: string;
let echo: string;
let lines: Awaited<ReturnType<typeof startCommandLines>>;
const agentnet: RunLine = (args, more) => lines.run(args, more);
beforeAll(async () => {
  node = await startLocal();
  folder = await mkdtemp(join(tmpdir(), 'agentnet-'));
  lines = await startCommandLines(envOf());
  const { stdout } = await installed(['login', '--local', '--data-dir', node.dataDir, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ profile: 'default', url: node.local.baseUrl });
  echo = node.local.agents[0]?.id ?? '';
});
afterAll(async () => {
  await lines?.stop();
  await node?.stop();
  await rm(folder, { recursive: true, force: true });
});

const json = async (...args: string[]) => {
  const ended = await agentnet([...args, '--json']);
  expect(ended.stderr).toBe('');
  return JSON.parse(ended.stdout);
};

describe('an agent', () => {
  it('is given by its id or by its name, in any case', async () => {
    expect(await json('agents', 'show', 'eCHO')).toMatchObject({ id: echo });
    expect(await json('agents', 'status', 'Echo')).toMatchObject({ id: echo });
    expect(await json('quote', 'echo', 'hello')).toMatchObject({ estimatedCost: '0.01' });
    expect(await agentnet(['agents', 'show', 'Nobody'])).toMatchObject({ code: 1, stdout: '' });
  });

  it('with a name that several agents share must be given by its id', async () => {
    const fields = ['--capability', 'twins', '--price', '0.01', '--endpoint', 'http://127.0.0.1:9/twin'];
    const twins = [
      await json('agents', 'register', '--name', 'Twin', ...fields),
      await json('agents', 'register', '--name', 'TWIN', ...fields),
    ];
    const ended = await agentnet(['agents', 'update', 'twin', '--price', '0.02']);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    for (const { id } of twins) expect(ended.stderr).toContain(id);
    for (const { id } of twins) await json('agents', 'remove', id, '--yes');
  });
});

describe('signing in', () => {
  it('keeps the key where only the user can read it, and out of every output', async () => {
    const file = join(folder, 'config', 'credentials.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { apiKey } = node.local;
    expect(await readFile(file, 'utf8')).toContain(apiKey);
    const who = await spawned(['whoami', '--json']);
    expect(JSON.parse(who.stdout)).toMatchObject({ profile: 'default', url: node.local.baseUrl });
    expect(who.stdout + who.stderr).not.toContain(apiKey);
  });

  it('signs no text of another node, which a hostile one passes on', async () => {
    const signatures: string[] = [];
    const hostile = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      if (body.includes('signature')) signatures.push(body);
      // Everything else is asked of the victim's node, and its text is what the wallet is to sign.
      const answer = await fetch(`${node.local.baseUrl}${request.url}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    await once(hostile.listen(0, '127.0.0.1'), 'listening');
    const { port } = hostile.address() as AddressInfo;
    const signed = await agentnet(['login', '--wallet', '--profile', 'fooled', '--url', `http://127.0.0.1:${port}`], {
      env: { AGENTNET_WALLET_KEY: node.local.wallets[1]?.privateKey ?? '' },
    });
    hostile.close();
    expect([signed.code, signatures]).toEqual([1, []]);
    expect(signed.stderr).toContain(new URL(node.local.baseUrl).host);
  });

  it('by a key on stdin, and by a wallet that signs', async () => {
    const key = await spawned(['login', '--with-key', '--profile', 'piped', '--url', node.local.baseUrl], {
      input: node.local.apiKey,
    });
    expect([key.code, key.stderr]).toEqual([0, '']);
    const wallet = node.local.wallets[1]?.privateKey ?? '';
    const signed = await agentnet(['login', '--wallet', '--profile', 'signed', '--url', node.local.baseUrl], {
      env: { AGENTNET_WALLET_KEY: wallet },
    });
    expect([signed.code, signed.stderr]).toEqual([0, '']);
    const { account } = JSON.parse((await agentnet(['whoami', '--profile', 'signed', '--json'])).stdout);
    expect(account.address.toLowerCase()).toBe(node.local.wallets[1]?.address.toLowerCase());
    // Also when the key of the profile has ended: signing in is how to get another.
    const renewed = await agentnet(['login', '--wallet', '--profile', 'signed', '--url', node.local.baseUrl], {
      env: { AGENTNET_WALLET_KEY: wallet, AGENTNET_API_KEY: `${node.local.apiKey.slice(0, -4)}gone` },
    });
    expect([renewed.code, renewed.stderr]).toEqual([0, '']);
    expect((await agentnet(['profiles', 'use', 'default'])).code).toBe(0);
    expect((await json('profiles', 'list')).map(({ name }: { name: string }) => name)).toEqual([
      'default',
      'piped',
      'signed',
    ]);
  });

  it("does not send a profile's key to another node", async () => {
    const heard: (string | undefined)[] = [];
    const stranger = createServer((request, response) => {
      heard.push(request.headers.authorization);
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    }).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    expect((await agentnet(['balance', '--url', url])).code).toBe(4);
    await agentnet(['agents', 'show', 'agent_x', '--url', url]);
    expect(heard).toEqual([undefined]);
    stranger.close();
  });
});

describe('calling an agent', () => {
  it('pays from the treasury or a wallet, and prints the result alone', async () => {
    for (const pay of ['treasury', 'x402'] as const) {
      if (pay === 'treasury') await agentnet(['deposit', '1.00', '--yes']);
      const called = await agentnet(['call', echo, 'hello there', '--max-cost', '0.05', '--pay', pay]);
      expect(called.code, called.stderr).toBe(0);
      expect(called.stdout).toContain('hello there');
    }
    const [last] = (await json('calls', 'list', '--limit', '1')).requests;
    expect(last).toMatchObject({ status: 'completed', paymentMethod: 'x402' });
    expect(await json('calls', 'show', last.requestId)).toMatchObject({ requestId: last.requestId });
    const exported = (await agentnet(['calls', 'export'])).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(exported.at(-1)).toMatchObject({ requestId: last.requestId, task: 'hello there', input: {} });
  });

  it('answers the questions of an agent from --answers, or later by "calls answer"', async () => {
    const { baseUrl, apiKey } = node.local;
    const schema = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
    const handle: HandleCall = ({ answer }) =>
      answer('day')?.input ?? ask({ id: 'day', message: 'Which day?', schema });
    const about = { name: 'Booker', capabilities: ['booking'], rates: { perRequest: '0.01' } };
    const tokenFile = join(folder, 'booker.json');
    const agent = await serveAgent({ handle, registerWith: { baseUrl, apiKey, tokenFile, ...about } });
    onTestFinished(() => agent.close());
    const id = agent.agentId ?? '';
    await expect.poll(async () => (await json('agents', 'show', id)).status).toBe('online');
    const line = ['call', id, 'Book', '--max-cost', '0.05', '--pay', 'treasury', '--answers'];
    const streamed = await agentnet([...line, '[{"day":"Friday"}]', '--stream']);
    expect(streamed).toMatchObject({ code: 0, stdout: expect.stringContaining('Friday') });
    expect(await json(...line, '[{"day":"Monday"}]')).toMatchObject({ status: 'completed', result: { day: 'Monday' } });
    const unanswered = await agentnet([...line, '[]']);
    expect([unanswered.code, unanswered.stderr]).toEqual([1, expect.stringContaining('The agent asks: "Which day?"')]);
    const waiting = (await json('calls', 'list', '--status', 'input_required')).requests[0].requestId;
    const told = await agentnet(['calls', 'wait', waiting]);
    expect(told.stderr).toContain(`agentnet calls answer ${waiting}`);
    const answered = await json('calls', 'answer', waiting, '{"day":"Sunday"}');
    expect(answered).toMatchObject({ status: 'completed', result: { day: 'Sunday' } });
    const again = await agentnet(['calls', 'answer', waiting, '--decline']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('it is completed')]);
  });

  it('streams as NDJSON with --json, and as text without', async () => {
    const events = (await agentnet(['call', echo, 'hello', '--max-cost', '0.05', '--stream', '--json'])).stdout
      .trim()
      .split('\n');
    expect(events.map((line) => JSON.parse(line).type).at(-1)).toBe('invocation.completed');
  });

  it('spends nothing without a maximum cost, or with one that is too low', async () => {
    const before = await json('balance');
    const unasked = await agentnet(['call', echo, 'x']);
    expect([unasked.code, unasked.stdout]).toEqual([2, '']);
    const tooDear = await agentnet(['call', echo, 'x', '--max-cost', '0.000001', '--json']);
    expect([tooDear.code, tooDear.stdout, JSON.parse(tooDear.stderr).error.code]).toEqual([5, '', 'OVER_MAX_COST']);
    expect(await json('balance')).toEqual(before);
  });

  it.each(['treasury', 'x402'])('the same key is the same purchase, paid by %s once', async (pay) => {
    if (pay === 'treasury') await agentnet(['deposit', '1.00', '--yes']);
    const args = ['call', echo, 'once', '--max-cost', '0.05', '--pay', pay, '--async', '--json'];
    const keyed = [...args, '--idempotency-key', `cli-once-${randomUUID()}`];
    const first = await agentnet(keyed);
    const { requestId } = JSON.parse(first.stdout);
    expect((await json('calls', 'wait', requestId)).status).toBe('completed');
    const again = await agentnet(keyed);
    expect([again.code, again.stderr]).toEqual([first.code, first.stderr]);
    expect(JSON.parse(again.stdout).requestId).toBe(requestId);
    const other = JSON.parse((await agentnet(args)).stdout);
    expect((await json('calls', 'wait', other.requestId)).requestId).not.toBe(requestId);
  });
});

/** Every command, with arguments of this node. What a line prints: one document; what the others print is tested by name elsewhere in these files. */
const documents = [
  ['login --local --data-dir DATA'],
  ['whoami'],
  ['profiles list'],
  ['profiles use default'],
  ['search echo --long'],
  ['find echo'],
  ['agents list'],
  ['agents show AGENT'],
  ['agents status AGENT'],
  ['agents calls AGENT'],
  ['agents calls AGENT --errors'],
  ['agents earnings AGENT --days 7'],
  ['quote AGENT hello'],
  ['calls list'],
  ['balance'],
  ['history'],
  ['keys list'],
  ['webhooks list'],
  ['status'],
  ['doctor'],
  ['completion bash'],
  ['man'],
] as const;

it.each(documents)('%s --json prints one document, and nothing beside it', async (line) => {
  const data = await json(...line.replace('AGENT', echo).replace('DATA', node.dataDir).split(' '));
  expect(data).toBeTypeOf('object');
});

/** Lines of JSON, servers, and what changes something: each has a test of its own. */
const elsewhere = [
  ...['logout', 'profiles remove', 'agents register', 'agents update', 'agents verify', 'agents remove'],
  ...['call', 'calls show', 'calls wait', 'calls answer', 'calls cancel', 'calls export', 'calls logs'],
  ...['types', 'deposit', 'collect', 'withdraw', 'keys create', 'keys revoke', 'listen', 'serve', 'mcp', 'up'],
  ...['bulk start', 'bulk show', 'bulk wait', 'receipt', 'curl'],
  ...['files list', 'files put', 'files get', 'files rm'],
  ...['create', 'update', 'delete', 'test', 'deliveries', 'replay', 'secret'].map((name) => `webhooks ${name}`),
];

it('no command is left out of these tests', () => {
  const leaves = (command: Command, path: readonly string[] = []): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
  const all = leaves(createProgram());
  const named = new Set([
    ...elsewhere,
    ...documents.map(([line]) => all.filter((path) => `${line} `.startsWith(`${path} `)).at(-1)),
  ]);
  expect([...named].sort()).toEqual([...all].sort());
});

it.each(['calls', 'agents', 'keys', 'profiles', 'webhooks'])('%s alone prints the list', async (group) => {
  expect(await json(group)).toEqual(await json(group, 'list'));
  expect(await agentnet([group, 'nonsense'])).toMatchObject({ code: 2, stderr: expect.stringContaining('It has: ') });
});

it('a task finds its agent, which is called without being named; the receipt of the call is genuine', async () => {
  const { matches } = await json('find', 'echo');
  expect(matches[0].agent).toMatchObject({ id: echo, description: expect.stringMatching(/\w/) });
  expect((await agentnet(['call', '--auto', 'echo'])).code).toBe(2);
  await agentnet(['deposit', '1.00', '--yes']);
  const called = await agentnet(['call', '--auto', 'echo', '--max-cost', '0.05']);
  expect([called.code, called.stderr]).toEqual([0, expect.stringContaining(`The node chose ${echo}`)]);
  const { requestId } = (await json('calls', '--limit', '1')).requests[0];
  expect(await json('receipt', requestId)).toMatchObject({ isGenuine: true, message: { requestId, agentId: echo } });
  const wallet = `0x${'ab'.repeat(20)}`;
  expect(await agentnet(['receipt', requestId, '--wallet', wallet])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not signed by this wallet'),
  });
});

it('a task is sent to several agents, named by slug and id', async () => {
  const other = node.local.agents[1]?.id ?? '';
  const bulk = ['bulk', 'hello there', '--agents', `echo,${other}`];
  expect((await agentnet(bulk)).code).toBe(2);
  const record = await json(...bulk, '--max-cost', '0.05');
  expect(record).toMatchObject({ status: 'completed', requests: [{ agentId: echo }, { agentId: other }] });
  expect(await json('bulk', 'show', record.bulkId)).toEqual(record);
  const first = await agentnet([...bulk, '--strategy', 'first_success', '--yes']);
  expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/\w/)]);
});

it('webhooks are created, tested, read and deleted', async () => {
  const receiver = createServer((_request, response) => response.end('got it')).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const { webhookId, secret } = await json('webhooks', 'create', url, '--events', 'invocation.completed');
  expect((await agentnet(['webhooks', 'secret', webhookId])).stdout.trim()).toBe(secret);
  expect(await json('webhooks', 'test', webhookId)).toMatchObject({ status: 'delivered' });
  expect((await json('webhooks', 'deliveries', webhookId)).deliveries.length).toBe(1);
  receiver.close();
  receiver.closeAllConnections();
  expect(await agentnet(['webhooks', 'test', webhookId])).toMatchObject({ code: 1 });
  expect((await json('webhooks', 'replay', webhookId)).replayed).toBeTypeOf('number');
  expect(await json('webhooks', 'update', webhookId, '--status', 'disabled')).toMatchObject({ status: 'disabled' });
  expect((await agentnet(['webhooks', 'delete', webhookId])).code).toBe(2);
  expect(await json('webhooks', 'delete', webhookId, '--yes')).toMatchObject({ deleted: true });
});

describe("an agent of one's own", () => {
  it('is registered, explained while offline, changed and removed; each command prints one document', async () => {
    const endpoint = `http://127.0.0.1:9/`;
    const file = join(folder, 'deaf.json');
    const types = { inputSchema: { type: 'object', properties: { song: { type: 'string' } } } };
    await writeFile(
      file,
      JSON.stringify({ capabilities: ['waiting'], rates: { perRequest: '0.02' }, endpoint, types }),
    );
    const { id } = await json('agents', 'register', '--name', 'Deaf', '-f', file);
    expect((await json('types', id)).typescript).toContain('"song"?: string');
    const verified = await agentnet(['agents', 'verify', id]);
    expect([verified.code, verified.stderr, verified.stdout]).toEqual([
      1,
      '',
      expect.stringMatching(/^Not verified: \w/),
    ]);
    const asked = await agentnet(['agents', 'status', id, '--json']);
    expect([asked.code, asked.stderr, JSON.parse(asked.stdout)]).toMatchObject([
      1,
      '',
      { id, offline: { reason: expect.any(String), advice: expect.any(String) } },
    ]);
    const told = await agentnet(['agents', 'status', id]);
    const { offline } = JSON.parse(asked.stdout);
    for (const text of [offline.advice, endpoint, 'not verified yet']) expect(told.stdout).toContain(text);
    expect(await json('agents', 'update', id, '--price', '0.03')).toMatchObject({ updated: ['rates'] });
    expect(await json('agents', 'remove', id, '--yes')).toBeTypeOf('object');
  });

  it('shows its calls, its failures in groups and its earnings', async () => {
    const args = ['call', echo, 'seen by its owner', '--pay', 'x402', '--max-cost', '0.05', '--json'];
    const { requestId, cost } = JSON.parse((await agentnet(args)).stdout);
    const [newest] = (await json('agents', 'calls', echo, '--limit', '1')).calls;
    expect(newest).toMatchObject({ requestId, cost, isOwn: true, caller: 'account', status: 'completed' });
    const table = (await agentnet(['agents', 'calls', echo, '--status', 'completed'])).stdout;
    expect(table).toMatch(new RegExp(`^${requestId} .*account \\(you\\)  completed +\\d+  ${cost}$`, 'm'));
    expect((await agentnet(['agents', 'calls', echo, '--errors'])).stdout).toMatch(
      /^No failed calls in 30 days\.$|^COUNT /m,
    );
    const { calls, earned } = await json('agents', 'earnings', echo, '--days', '1');
    const text = (await agentnet(['agents', 'earnings', echo, '--days', '1'])).stdout;
    expect(text).toContain(`${earned} USDC earned with ${calls} calls`);
  });
});

it('the status of a node counts its agents; the balance names each treasury', async () => {
  expect((await agentnet(['status'])).stdout).toMatch(/^agents +\d+ here, \d+ at other nodes$/m);
  const { treasuries, spendable } = await json('balance');
  const { stdout } = await agentnet(['balance']);
  expect(stdout).toMatch(new RegExp(`^you can spend +${spendable.total} USDC$`, 'm'));
  for (const { treasuryId } of treasuries) expect(stdout).toContain(treasuryId);
});

it('collects what agents have earned, and withdraws from one agent, or everything', async () => {
  expect(await json('deposit', '--test')).toMatchObject({ amount: '10.00' });
  const pay = () => agentnet(['call', echo, 'earn', '--max-cost', '0.05', '--pay', 'treasury']);
  for (let calls = 0; calls < 2; calls++) expect((await pay()).code).toBe(0);
  const { earnings: before } = await json('balance');
  expect(await json('withdraw', '0.01', '--agent', 'Echo', '--yes')).toMatchObject({ amount: '0.01' });
  const { earnings } = await json('balance');
  expect(Number(before) - Number(earnings)).toBeCloseTo(0.01);
  expect(await json('collect')).toMatchObject({ amount: earnings, left: [] });
  const { available, ...left } = await json('balance');
  expect(left).toMatchObject({ earnings: '0.00', spendable: { total: available } });
  expect((await agentnet(['withdraw', '--yes'])).code).toBe(2);
  expect((await agentnet(['withdraw', '1', '--all', '--yes'])).code).toBe(2);
  expect(await json('withdraw', '--all', '--yes')).toMatchObject({ amount: available });
  expect((await json('balance')).available).toBe('0.00');
  expect((await agentnet(['withdraw', '--all', '--yes'])).stderr).toContain('There is nothing to withdraw.');
});

it('from the terminal alone, a paid call takes three commands', async () => {
  const own = inItsProcess(() => ({ ...envOf(), AGENTNET_CONFIG_DIR: join(folder, 'terminal-only') }), bundledMain);
  const startMs = performance.now();
  const commands = [
    ['login', '--local', '--data-dir', node.dataDir],
    ['deposit', '--test'],
    ['call', 'Echo', 'my first paid call', '--max-cost', '0.05', '--pay', 'treasury'],
  ];
  for (const command of commands) expect((await own(command)).code, command.join(' ')).toBe(0);
  const seconds = (performance.now() - startMs) / 1000;
  process.stderr.write(`Terminal only: ${commands.length} commands and ${seconds.toFixed(1)} s to a paid call\n`);
});

describe('errors', () => {
  it.each([
    ['an unknown command', ['fly'], 2],
    ['an unknown option', ['search', '--fly'], 2],
    ['an amount that is none', ['deposit', 'much'], 2],
    ['an agent that is not there', ['agents', 'show', 'agent_none'], 1],
    ['a capability that the agent does not have', ['quote', 'AGENT', 'hello', '--capability', 'no-such'], 1],
    ['the status of an agent that is not yours', ['agents', 'status', 'agt_none'], 1],
    ['the calls of an agent that is not there', ['agents', 'calls', 'agt_none'], 1],
    ['failures of one status', ['agents', 'calls', 'AGENT', '--errors', '--status', 'failed'], 2],
    ['a bad key', ['balance', '--profile', 'bad'], 4],
    ['a question without a terminal', ['keys', 'revoke', 'key_1'], 2],
    ['a node that does not answer', ['search', '--url', 'http://127.0.0.1:9'], 1],
    ['an address that is none', ['search', '--url', 'nonsense'], 2],
  ])('%s: nothing on stdout, one document on stderr', async (_name, args, code) => {
    const env = args.includes('bad') ? { AGENTNET_API_KEY: 'ank_test_bad', AGENTNET_URL: node.local.baseUrl } : {};
    const ended = await agentnet([...args.map((arg) => (arg === 'AGENT' ? echo : arg)), '--json'], { env });
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    expect(JSON.parse(ended.stderr).error.message).toMatch(/\w/);
  });

  it('an error for a missing right names the command of the node that grants it', async () => {
    const { apiKey } = await json('keys', 'create', 'weak', '--scope', 'invoke');
    const env = { AGENTNET_API_KEY: apiKey, AGENTNET_URL: node.local.baseUrl };
    const ended = await agentnet(['balance'], { env });
    expect([ended.code, ended.stdout]).toEqual([4, '']);
    expect(ended.stderr).toContain('Next: agentnet login --wallet --scope payments:read');
    expect(ended.stderr).not.toContain('AGENTNET_API_KEY');
  });
});

it('no command: the help, on stderr', async () => {
  expect(await installed([])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Usage: agentnet'),
  });
});

it.each([
  ['a document', ['whoami', '--json'], 0],
  ['a failure of the node', ['agents', 'show', 'agent_none', '--json'], 1],
  ['a bad option', ['search', '--fly'], 2],
  ['an amount above the limit', ['call', 'AGENT', 'x', '--max-cost', '0.000001'], 5],
])('%s: a process of its own prints and returns what the other tests see', async (_name, args, code) => {
  const line = args.map((arg) => (arg === 'AGENT' ? echo : arg));
  const [alone, among] = [await spawned(line), await agentnet(line)];
  const withoutRequest = (text: string) => text.replace(/"requestId":"\w+"/, '"requestId":null');
  expect({ ...alone, stderr: withoutRequest(alone.stderr) }).toEqual({
    ...among,
    stderr: withoutRequest(among.stderr),
  });
  expect([alone.code, alone.stdout !== '', alone.stderr !== '']).toEqual([code, code === 0, code !== 0]);
});

it('without a terminal there are no colors and no cut columns', async () => {
  const { stdout } = await agentnet(['search', '--all']);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is looked for.
  expect(stdout).not.toMatch(/\u001b/);
  expect(stdout).toContain(echo);
  expect(stdout).not.toContain('…');
});

it('a program that is served is listed, called, paid, and shows its earnings', async () => {
  const file = join(folder, 'shout.mjs');
  await writeFile(
    file,
    `let text=''; for await (const part of process.stdin) text+=part; console.log(JSON.stringify({ text: JSON.parse(text).task.toUpperCase() }));`,
  );
  const args = ['serve', '--name', 'Shouter', '-c', 'shouting', '--price', '0.02', process.execPath, file];
  const child = spawn(process.execPath, [await bundledMain(), ...args], { env: envOf() });
  let said = '';
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (told += text));
  await expect.poll(() => said).toMatch(/^\S+ at /);
  const id = said.split(' ')[0] ?? '';
  await expect.poll(async () => (await json('agents', 'show', id)).online).toBe(true);
  const called = await agentnet(['call', id, 'whisper', '--max-cost', '0.02']);
  expect(called.stdout.trim()).toBe('WHISPER');
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  expect([code, said]).toEqual([0, expect.stringContaining('completed')]);
  expect(told).toMatch(/Shouter has earned 0\.0\d+ USDC in 30 days/);
});

it('events are forwarded as signed webhook deliveries', async () => {
  const got = Promise.withResolvers<{ path: string | undefined; headers: Record<string, unknown>; body: string }>();
  const receiver = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    response.end();
    got.resolve({ path: request.url, headers: request.headers, body: Buffer.concat(parts).toString('utf8') });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks/`;
  const { stdout: secret } = await agentnet(['listen', '--print-secret']);
  const listen = [await bundledMain(), 'listen', '--forward-to', target, '--events', 'invocation.completed'];
  const child = spawn(process.execPath, listen, { env: envOf() });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (told += text));
  await expect.poll(() => told).toContain('Listening');
  await agentnet(['call', echo, 'x', '--max-cost', '0.05']);
  const { path, headers, body } = await got.promise;
  expect(path).toBe('/hooks/');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(secret.trim().slice('whsec_'.length), 'base64');
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  child.kill('SIGINT');
  expect((await once(child, 'exit'))[0]).toBe(130);
  receiver.close();
});

it('doctor reports problems and remedies', async () => {
  const well = await agentnet(['doctor']);
  expect(well.code, well.stdout).toBe(0);
  const ill = await agentnet(['doctor', '--url', 'http://127.0.0.1:9']);
  expect([ill.code, ill.stdout]).toEqual([1, expect.stringContaining('npm start')]);
});

it.each([
  [
    { status: 'not ready', database: { hole: 'it is on timeline 2' } },
    /not ready, .*it is on timeline 2\n.*"A hole in/,
  ],
  [{ status: 'draining' }, /: draining\n.*later/],
  [{ status: 'not ready' }, /: not ready\n.*"Health and metrics"/],
  ['<html>Bad gateway</html>', /: 503\n.*"Health and metrics"/],
])('doctor reports the reason of a node that is not ready: %j', async (details, shown) => {
  const body = typeof details === 'string' ? details : JSON.stringify(details);
  const ill = createServer((_request, response) => response.writeHead(503).end(body)).listen(0, '127.0.0.1');
  await once(ill, 'listening');
  const url = `http://127.0.0.1:${(ill.address() as AddressInfo).port}`;
  const { code, stdout } = await agentnet(['doctor', '--url', url]);
  ill.close();
  expect([code, stdout]).toEqual([1, expect.stringMatching(shown)]);
  for (const [, document = '', section = ''] of stdout.matchAll(/(docs\/\S+\.md), "([^"]+)"/g))
    expect(await readFile(join(import.meta.dirname, '../../..', document), 'utf8')).toContain(`\n## ${section}\n`);
});

it.each(['bash', 'zsh', 'fish'])('completion for %s names every command', async (shell) => {
  const { stdout } = await agentnet(['completion', shell]);
  for (const name of ['search', 'agents', 'register', 'listen', '--max-cost'.replace('--', '')])
    expect(stdout).toContain(name);
});

describe('files', () => {
  beforeAll(async () => void (await json('deposit', '1', '--yes')));

  it('are uploaded, listed, sent with a call, downloaded and deleted', async () => {
    const path = join(folder, 'a note.txt');
    await writeFile(path, 'hello');
    const { fileId } = await json('files', 'put', path);
    expect((await json('files')).files).toMatchObject([
      { fileId, name: 'a note.txt', mediaType: 'text/plain', size: 5 },
    ]);
    const call = ['call', echo, 'look', '--max-cost', '0.01', '--file', `note=${path}`, '--out', join(folder, 'out')];
    const record = await json(...call);
    expect(record.status).toBe('completed');
    const out = join(folder, 'copy.txt');
    await json('files', 'get', fileId, '--out', out);
    expect(await readFile(out, 'utf8')).toBe('hello');
    expect((await agentnet([...call, '--input', '{"note":1}'])).code).toBe(2);
    expect((await agentnet(['call', echo, 'x', '--max-cost', '0.01', '--file', 'note'])).code).toBe(2);
    await json('files', 'rm', fileId);
    expect((await agentnet(['files', 'get', fileId])).code).not.toBe(0);
  });

  it('of a result are saved under their names', async () => {
    const { baseUrl, apiKey } = node.local;
    const picture = Buffer.alloc(70_000, 'x');
    const handle: HandleCall = () => ({
      raw: picture.toString('base64'),
      mediaType: 'image/png',
      filename: '../a.png',
    });
    const about = { name: 'Painter', capabilities: ['painting'], rates: { perRequest: '0.01' } };
    const tokenFile = join(folder, 'painter.json');
    const agent = await serveAgent({ handle, registerWith: { baseUrl, apiKey, tokenFile, ...about } });
    onTestFinished(() => agent.close());
    const id = agent.agentId ?? '';
    await expect.poll(async () => (await json('agents', 'show', id)).status).toBe('online');
    const out = join(folder, 'pictures');
    const { result } = await json('call', id, 'Paint', '--max-cost', '0.05', '--pay', 'treasury', '--out', out);
    const name = `${result.$file.slice('sha256:'.length, 'sha256:'.length + 8)}-a.png`;
    expect((await readFile(join(out, name))).equals(picture)).toBe(true);
  });
});
