import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../lib/telemetry/log.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { createPackageBuild, type PackageBuild } from '../site/package-build.ts';
import { mountPackages } from './mount-packages.ts';

function serving(tarball: PackageBuild['tarball']): Hono {
  const app = new Hono();
  mountPackages(app, { log: silentLog, baseUrl: 'https://node.example' }, { tarball });
  app.onError((error) => new Response(error.message, { status: toErrorAnswer(error, 'req_1').status }));
  return app;
}

describe('the npm packages of a node', () => {
  it('are built once, sent with a tag, and not sent again to who has them', async () => {
    const asked: string[] = [];
    const app = serving(async (name) => {
      asked.push(name);
      return new Uint8Array([1, 2, 3]);
    });
    const first = await app.request('/sdk.tgz');
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    expect(new Uint8Array(await first.arrayBuffer())).toEqual(new Uint8Array([1, 2, 3]));
    const again = await app.request('/sdk.tgz', { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
    expect([again.status, asked]).toEqual([304, ['sdk']]);
    expect((await app.request('/other.tgz')).status).toBe(404);
  });

  it('are built again after a build that failed', async () => {
    let builds = 0;
    const app = serving(async () => {
      builds += 1;
      if (builds === 1) throw new Error('no disk');
      return new Uint8Array([1]);
    });
    const failed = await app.request('/cli.tgz');
    expect([failed.status, await failed.text()]).toEqual([503, expect.not.stringContaining('disk')]);
    expect((await app.request('/cli.tgz')).status).toBe(200);
  });

  it('are those that an image brought along, where nothing can be built', async () => {
    const root = mkdtempSync(join(tmpdir(), 'image-'));
    try {
      const build = createPackageBuild(root);
      expect(await build.tarball('sdk')).toBeNull();
      mkdirSync(join(root, 'build/served'), { recursive: true });
      writeFileSync(join(root, 'build/served/sdk.tgz'), 'brought');
      // An installation without development packages has the script, and no compiler.
      mkdirSync(join(root, 'scripts'));
      writeFileSync(join(root, 'scripts/build-packages.ts'), 'throw new Error()');
      expect(Buffer.from((await createPackageBuild(root).tarball('sdk')) ?? []).toString()).toBe('brought');
      expect(await createPackageBuild(root).tarball('cli')).toBeNull();
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('are not there where the node has no sources to build them from', async () => {
    expect((await serving(async () => null).request('/sdk.tgz')).status).toBe(404);
  });
});

it('the module for Python is one file, which calls the node that served it', async () => {
  const answer = await serving(async () => null).request('/python/agent_network.py');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/x-python; charset=utf-8']);
  const text = await answer.text();
  expect(text).toContain('os.environ.get("AGENT_NETWORK_URL", "https://node.example")');
  expect(text).not.toContain('127.0.0.1:4020');
});
