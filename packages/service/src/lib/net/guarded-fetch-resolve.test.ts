import { lookup } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type DnsServer, startDnsServer } from '../../../test/support/dns-server.ts';
import { startWatch } from '../../../test/support/watch.ts';
import {
  createHostsFile,
  createResolver,
  domainOf,
  isServerAddress,
  parseHosts,
  type ResolverOptions,
} from './guarded-fetch-resolve.ts';

/** When the clock that `performance.now` reads began. */
const startMs = Date.now() - performance.now();
const isSilent = (name: string) => name.includes('silent');

async function open(answer: DnsServer['answer'], options: ResolverOptions & { ttlS?: number } = {}) {
  const dns = await startDnsServer(answer, options.ttlS);
  onTestFinished(() => dns.stop());
  const resolve = createResolver({ servers: [dns.address], timeoutMs: 300, ...options });
  return { dns, resolve };
}

const timed = async <T>(work: Promise<T>) => {
  const tookMs = startWatch();
  const value = await work.catch((error: NodeJS.ErrnoException) => error);
  return { value, tookMs: tookMs() };
};

test('a name resolves to its addresses, one that does not exist is refused, and each is asked for once', async () => {
  const { dns, resolve } = await open((name) => (name === 'good.test' ? ['192.0.2.1', '192.0.2.2'] : undefined));
  const answers = await Promise.all(['good.test', 'GOOD.test.', 'good.test'].map(resolve));
  expect(answers).toEqual(Array(3).fill([...['192.0.2.1', '192.0.2.2'].map((address) => ({ address, family: 4 }))]));
  for (let i = 0; i < 2; i++) await expect(resolve('bad.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await resolve('good.test');
  // One question for each family.
  expect(dns.asked.sort()).toEqual(['bad.test', 'bad.test', 'good.test', 'good.test']);
});

test('look-ups without an answer time out, and delay neither other names nor the threads of files and system look-ups', async () => {
  const { resolve } = await open((name) => (isSilent(name) ? null : ['192.0.2.1']));
  const silent = Array.from({ length: 60 }, (_, i) => timed(resolve(`a.silent-${i}.test`)));
  const good = await timed(resolve('good.test'));
  const own = await timed(lookup('localhost'));
  expect(good.value).toEqual([{ address: '192.0.2.1', family: 4 }]);
  expect(Math.max(good.tookMs, own.tookMs)).toBeLessThan(250);
  const ended = await Promise.all(silent);
  expect(ended.map(({ value }) => (value as NodeJS.ErrnoException).code)).toEqual(Array(60).fill('ETIMEOUT'));
  expect(Math.max(...ended.map(({ tookMs }) => tookMs))).toBeLessThan(3000);
});

test('many silent names of one domain take no more than its share, and leave other domains theirs', async () => {
  const { dns, resolve } = await open((name) => (isSilent(name) ? null : ['192.0.2.1']), { most: 12, maxPerDomain: 4 });
  const silent = Array.from({ length: 300 }, (_, i) => timed(resolve(`n${i}.silent.test`)));
  const good = await timed(resolve('n.good.test'));
  expect([good.value, good.tookMs < 250]).toEqual([[{ address: '192.0.2.1', family: 4 }], true]);
  expect(new Set(dns.asked.filter(isSilent)).size).toBeLessThanOrEqual(4);
  const ended = await Promise.all(silent);
  expect(Math.max(...ended.map(({ tookMs }) => tookMs))).toBeLessThan(3000);
});

test('an answer is kept for its time to live within bounds; after that a new one counts, and the old one while no server says anything', async () => {
  const { dns, resolve } = await open(() => ['192.0.2.1'], { ttlS: 0 });
  const first = [{ address: '192.0.2.1', family: 4 }];
  await resolve('good.test');
  dns.answer = () => null;
  expect([await resolve('good.test'), dns.asked.length]).toEqual([first, 2]);
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now() - startMs + 6000);
  onTestFinished(() => void vi.restoreAllMocks());
  expect([await resolve('good.test'), dns.asked.length > 2]).toEqual([first, true]);
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now() - startMs + 20_000);
  dns.answer = () => undefined;
  await expect(resolve('good.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('the hosts file comes first, "localhost" needs none, and what is an address is not asked for', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hosts-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'hosts');
  await writeFile(path, '# own\n192.0.2.7  Agent.Lan agent # here\n2001:db8::7 agent\n192.0.2.8 agent\nnonsense x\n');
  const { dns, resolve } = await open(() => undefined, { findHost: createHostsFile(path) });
  expect(await resolve('agent')).toEqual([
    { address: '192.0.2.7', family: 4 },
    { address: '2001:db8::7', family: 6 },
  ]);
  expect(await resolve('AGENT.lan')).toEqual([{ address: '192.0.2.7', family: 4 }]);
  expect(await resolve('api.localhost')).toEqual([{ address: '127.0.0.1', family: 4 }]);
  expect(await resolve('192.0.2.9')).toEqual([{ address: '192.0.2.9', family: 4 }]);
  await writeFile(path, '');
  expect(parseHosts('').size).toBe(0);
  expect(dns.asked).toEqual([]);
});

test('a hosts file that is not there says nothing', async () => {
  expect(await createHostsFile('/nowhere/hosts')('agent')).toBeNull();
});

test.each([
  ['a.b.example.com', 'example.com'],
  ['example.com', 'example.com'],
  ['a.b.example.co.uk', 'example.co.uk'],
  ['agent', 'agent'],
])('%s is counted for %s', (name, domain) => {
  expect(domainOf(name)).toBe(domain);
});

test('a server is an address with or without a port', () => {
  expect(['192.0.2.1', '192.0.2.1:53', '[2001:db8::1]:53', '2001:db8::1'].map(isServerAddress)).toEqual(
    Array(4).fill(true),
  );
  expect(['example.com', '', '192.0.2.1:0x', '1'].map(isServerAddress)).toEqual(Array(4).fill(false));
});
