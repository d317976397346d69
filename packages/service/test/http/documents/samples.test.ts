import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationsOf, readDocument } from '../../../src/http/documents/document.ts';
import { type SampleCall, sampleCall, samplesOf } from '../../../src/http/documents/samples.ts';

const run = promisify(execFile);
const operations = operationsOf(readDocument());
const rows = Object.entries<Endpoint>(api);
const calls = rows.flatMap(([name, row]) => {
  const operation = operations.get(name);
  const call = operation ? sampleCall(name, row, operation) : null;
  return call && operation ? [{ name, row, operation, call }] : [];
});

interface Received {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly type: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

const env = { ...process.env, AGENT_NETWORK_KEY: 'ank_test_sample', IDENTITY_TOKEN: `0x${'7f'.repeat(32)}` };
let server: Server;
let baseUrl: string;
let folder: string;
let received: Received[] = [];

/** Notes the call that comes next in the order of the table, and answers it as the document shows. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { row, operation } = calls[received.length] ?? {};
  const body = await text(request);
  const own = Object.keys(row?.headers?.shape ?? {}).filter((name) => name !== 'accept');
  received.push({
    method: request.method ?? '',
    path: request.url ?? '',
    authorization: request.headers.authorization,
    type: body === '' ? undefined : request.headers['content-type'],
    headers: Object.fromEntries(own.flatMap((name) => (request.headers[name] ? [[name, request.headers[name]]] : []))),
    body: body === '' ? undefined : row?.bytes === 'sent' ? body : JSON.parse(body),
  });
  const type = row?.stream === 'always' ? 'text/event-stream' : 'application/json';
  const example = operation?.responses['200']?.content?.[type]?.example;
  response.writeHead(200, { 'content-type': type, 'x-request-id': 'req_1' });
  response.end(typeof example === 'string' ? example : JSON.stringify(example));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'samples-'));
  symlinkSync(join(import.meta.dirname, '../../../../../node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const codeIn = (language: string, call: SampleCall) =>
  samplesOf(call, baseUrl).find((sample) => sample.language === language)?.code ?? '';

/** Every sample of a language, one after the other, as the pages show them. */
async function runAll(language: 'curl' | 'TypeScript' | 'Python'): Promise<Received[]> {
  received = [];
  const codes = calls.map(({ call }) => codeIn(language, call));
  if (language === 'TypeScript') {
    for (const [at, code] of codes.entries()) writeFileSync(join(folder, `sample-${at}.ts`), code);
    writeFileSync(join(folder, 'all.ts'), codes.map((_, at) => `await import('./sample-${at}.ts');`).join('\n'));
    await run(process.execPath, ['--no-warnings', 'all.ts'], { cwd: folder, env, timeout: 150_000 });
  } else {
    const [command, file] = language === 'curl' ? ['bash', 'all.sh'] : ['python3', 'all.py'];
    writeFileSync(join(folder, file), [...(language === 'curl' ? ['set -e'] : []), ...codes].join('\n\n'));
    await run(command, [file], { cwd: folder, env, timeout: 150_000 });
  }
  return received;
}

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
const hasCurl = spawnSync('curl', ['--version']).status === 0;

describe('the samples of every call', () => {
  let bySdk: Received[];
  beforeAll(async () => {
    bySdk = await runAll('TypeScript');
  });

  it('make the call that they stand beside, with values that the node takes', () => {
    expect(calls.length).toBe(rows.filter(([, row]) => !row.sameOrigin).length);
    expect(bySdk.map(({ method, path }) => `${method} ${path}`)).toEqual(
      calls.map(({ call }) => `${call.method} ${call.path}`),
    );
    for (const [at, { name, row, call }] of calls.entries()) {
      const { path, headers, body, type } = bySdk[at] as Received;
      expect(path, name).toMatch(new RegExp(`^${row.path.replaceAll(/\{\w+\}/g, '[\\w.:-]+')}$`));
      expect(row.params?.safeParse(call.params).error, name).toBeUndefined();
      expect(row.query?.safeParse({}).error, name).toBeUndefined();
      expect(row.headers?.safeParse(headers).error, name).toBeUndefined();
      const isJson = row.bytes !== 'sent';
      if (!isJson) expect(body, name).toBe('hello');
      else if (row.body) expect(row.body.safeParse(body).error, name).toBeUndefined();
      expect(type?.split(';')[0], name).toBe(
        body === undefined ? undefined : isJson ? 'application/json' : 'text/plain',
      );
    }
  });

  it('send the credential that the call needs, and none to calls that need none', () => {
    for (const [at, { name, row }] of calls.entries()) {
      const secret = row.auth === 'agent' ? env.IDENTITY_TOKEN : env.AGENT_NETWORK_KEY;
      const isOpen = row.auth === 'none' || row.keyless === 'pays';
      expect(bySdk[at]?.authorization, name).toBe(isOpen ? undefined : `Bearer ${secret}`);
    }
  });

  it.skipIf(!hasCurl)('make the same calls with curl', async () => {
    expect(await runAll('curl')).toEqual(bySdk);
  });

  it.skipIf(!hasPython)('make the same calls in Python (python3 of 3.9 or later)', async () => {
    expect(await runAll('Python')).toEqual(bySdk);
  });
});
