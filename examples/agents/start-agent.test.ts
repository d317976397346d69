import { type ChildProcess, fork } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { convertCases, inCases } from './cases.ts';

const identityToken = `0x${randomBytes(32).toString('hex')}`;
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function start(name: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(fileURLToPath(new URL(name, import.meta.url)), {
    env: { PATH: process.env.PATH, AGENT_PORT: '0', AGENT_IDENTITY_TOKEN: identityToken },
    execArgv: [],
    silent: true,
  });
  children.push(child);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { child, url };
}

async function call(url: string, task: string, input: object) {
  const body = JSON.stringify({ request_id: `inv_${task}`, agent_id: 'agt_1', task, input });
  const timestamp = Math.floor(Date.now() / 1000).toString();
  const key = Buffer.from(identityToken.slice(2), 'hex');
  const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64');
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  return (await (await fetch(url, { method: 'POST', headers, body })).json()) as Record<string, unknown>;
}

describe('the example agents, started as child processes', () => {
  it('echo sends back task and input, and ends on SIGTERM', async () => {
    const { child, url } = await start('echo.ts');
    expect(await call(url, 'hi', { a: 1 })).toMatchObject({ result: { echo: { task: 'hi', input: { a: 1 } } } });
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it.each([
    [
      'Say hello.',
      { camelCase: 'sayHello', snake_case: 'say_hello', 'kebab-case': 'say-hello', 'Title Case': 'Say Hello' },
    ],
    ['parseHTTPAnswer', { snake_case: 'parse_httpanswer' }],
    ['Grüße an 3 Ältere', { snake_case: 'grüße_an_3_ältere' }],
    ['...', { camelCase: '', snake_case: '' }],
  ])('the case converter writes %s', (task, expected) => {
    expect(inCases(task)).toMatchObject(expected);
  });

  it.each([
    ['the task, without an input', 'say hello', {}, 4, 'sayHello'],
    ['the text of the form', 'run', { text: 'say hello' }, 4, 'sayHello'],
    ['in one style alone', 'run', { text: 'say hello', style: 'camelCase' }, 1, 'sayHello'],
  ])('the case converter writes %s', (_, task, input, styles, camelCase) => {
    expect(convertCases(task, input)).toMatchObject({ camelCase });
    expect(Object.keys(convertCases(task, input))).toHaveLength(styles);
  });

  it('text-analyst analyses, refuses junk with a reason, and ends when its parent lets go', async () => {
    const { child, url } = await start('text-analyst.ts');
    const answer = await call(url, 'summarise', { text: 'Bees dance. Bees fly.' });
    expect(answer).toMatchObject({ result: { counts: { words: 4, sentences: 2 } } });
    expect(await call(url, 'junk', { text: 7 })).toEqual({
      error: { code: 'invalid_input', message: 'input.text must be text' },
    });
    const ended = once(child, 'exit');
    child.disconnect();
    expect(await ended).toEqual([0, null]);
  });
});
