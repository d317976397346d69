import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { curlSample, pythonSample } from '../src/pages/agents/registered/contract-programs.ts';

const has = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const hasPrograms = has('python3', '--version') && has('curl', '--version') && has('openssl', 'version');

const TOKEN = `0x${'5c'.repeat(32)}`;
const env = { ...process.env, IDENTITY_TOKEN: TOKEN };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

it.skipIf(!hasPrograms)("the agent in Python meets the challenge, and answers curl's signed call once", async () => {
  const agent = { id: 'agt_01k0000000000000000000000a', endpoint: `http://127.0.0.1:${await freePort()}/it's` };
  const python = spawn('python3', ['-c', pythonSample(agent)], { env, stdio: 'ignore' });
  try {
    const callByCurl = async () => {
      const { stdout } = await promisify(execFile)(
        'sh',
        ['-c', curlSample(agent).replace('curl ', 'curl -s --retry 20 --retry-connrefused --retry-delay 1 ')],
        { env },
      );
      return JSON.parse(stdout);
    };
    expect(await callByCurl()).toEqual({ result: { text: 'SAY HELLO' } });
    const challenge = JSON.stringify({ type: 'verification', agent_id: agent.id, challenge: 'c0ffee' });
    const post = async (token: string) => {
      const stamp = String(Math.floor(Date.now() / 1000));
      const secret = Buffer.from(token.slice(2), 'hex');
      const signature = createHmac('sha256', secret).update(`vrf_1.${stamp}.${challenge}`).digest('base64');
      const headers = { 'webhook-id': 'vrf_1', 'webhook-timestamp': stamp, 'webhook-signature': `v1,${signature}` };
      const answer = await fetch(agent.endpoint, { method: 'POST', headers, body: challenge });
      return { status: answer.status, body: await answer.json() };
    };
    const response = createHmac('sha256', TOKEN).update(`c0ffee\n${agent.id}\n${agent.endpoint}`).digest('hex');
    expect(await post(TOKEN)).toEqual({ status: 200, body: { agent_id: agent.id, response } });
    expect((await post(`0x${'00'.repeat(32)}`)).status).toBe(401);
    // A length below nothing is no reason to read without end.
    const stranger = connect(Number(new URL(agent.endpoint).port), '127.0.0.1');
    stranger.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n');
    const [said] = await once(stranger, 'data');
    stranger.destroy();
    expect(String(said)).toMatch(/^HTTP\/1\.\d 401 /);
  } finally {
    python.kill('SIGKILL');
    await once(python, 'exit');
  }
});
