import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failure, startFakeNode, success } from '../../test/support/fake-node.ts';
import { signAsNode } from '../../test/support/sign-as-node.ts';
import { serveAgent } from './serve-agent.ts';

const identityToken = `0x${'ab'.repeat(32)}`;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sdk-'));
});
afterEach(() => rm(folder, { recursive: true }));

const registration = (baseUrl: string) => ({
  baseUrl,
  apiKey: 'ank_test_x',
  tokenFile: join(folder, 'deep', 'agent.json'),
  name: 'Tester',
  capabilities: ['test'],
  rates: { perRequest: '0.01' },
});
const start = (baseUrl: string) => serveAgent({ handle: () => 'done', registerWith: registration(baseUrl) });
const lines = (node: { seen: { method: string; path: string }[] }) =>
  node.seen.map(({ method, path }) => `${method} ${path}`);

describe('an agent that registers itself', () => {
  it('registers where it listens, keeps the token for its owner only, and serves signed calls', async () => {
    await using node = await startFakeNode(() => success({ id: 'agt_1', identityToken }));
    const agent = await start(node.baseUrl);
    expect(agent.agentId).toBe('agt_1');
    expect(JSON.parse(node.seen[0]?.body ?? '')).toEqual({
      name: 'Tester',
      capabilities: ['test'],
      rates: { perRequest: '0.01' },
      endpoint: agent.url,
    });
    const { tokenFile } = registration(node.baseUrl);
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(tokenFile, 'utf8'))).toMatchObject({ agentId: 'agt_1', identityToken });
    const body = JSON.stringify({ request_id: 'inv_1', agent_id: 'agt_1', task: 'x' });
    const answer = await fetch(agent.url, { method: 'POST', body, headers: signAsNode(body, identityToken) });
    expect(answer.status).toBe(200);
    await agent.close();
  });

  it('is the same agent after a restart, and tells the node its new address', async () => {
    await using node = await startFakeNode(({ method }) =>
      success(method === 'GET' ? { id: 'agt_1', endpoint: 'http://127.0.0.1:1/' } : { id: 'agt_1', identityToken }),
    );
    await (await start(node.baseUrl)).close();
    const again = await start(node.baseUrl);
    expect(again.agentId).toBe('agt_1');
    expect(lines(node)).toEqual(['POST /agents', 'GET /agents/agt_1', 'PUT /agents/agt_1']);
    expect(JSON.parse(node.seen[2]?.body ?? '')).toEqual({ endpoint: again.url });
    await again.close();
  });

  it('is the same agent when the address of the node is written with a slash at its end', async () => {
    await using node = await startFakeNode(() => success({ id: 'agt_1', identityToken }));
    await (await start(node.baseUrl)).close();
    await (await start(`${node.baseUrl}/`)).close();
    expect(lines(node).filter((line) => line.startsWith('POST'))).toEqual(['POST /agents']);
  });

  it('registers anew when the node does not know it any more', async () => {
    await using node = await startFakeNode(({ method }) =>
      method === 'GET' ? failure(404, 'NOT_FOUND') : success({ id: 'agt_2', identityToken }),
    );
    await (await start(node.baseUrl)).close();
    await (await start(node.baseUrl)).close();
    expect(lines(node)).toEqual(['POST /agents', 'GET /agents/agt_2', 'POST /agents']);
  });

  it.each(['', '0x', 'my-token', null])('does not start with the token %j in its file', async (token) => {
    await using node = await startFakeNode(() => success({ id: 'agt_1', identityToken }));
    const { baseUrl, tokenFile } = registration(node.baseUrl);
    await mkdir(dirname(tokenFile));
    await writeFile(tokenFile, JSON.stringify({ baseUrl, agentId: 'agt_1', identityToken: token }));
    await expect(start(node.baseUrl)).rejects.toThrow(tokenFile);
    expect(node.seen).toEqual([]);
  });

  it('stops listening and leaves no file behind when it is refused', async () => {
    await using node = await startFakeNode(() => failure(401, 'UNAUTHORIZED'));
    await expect(start(node.baseUrl)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    await expect(stat(registration(node.baseUrl).tokenFile)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
