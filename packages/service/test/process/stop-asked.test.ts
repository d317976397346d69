import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../support/until.ts';

const CHILD = join(import.meta.dirname, 'support/stop-asked-child.ts');

/** As npm starts it: a shell in between, which does not pass on what it is told. */
async function startBehindShell(env: Record<string, string>) {
  const shell = spawn('sh', ['-c', '"$0" "$1"; true', process.execPath, CHILD], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...env },
  });
  let output = '';
  shell.stdout.on('data', (part: Buffer) => {
    output += part.toString();
  });
  const says = (text: string) => until(async () => output.includes(text));
  await says('running');
  return { shell, says };
}

it.each(['SIGTERM', 'SIGKILL'] as const)('a node that npm started ends when npm ends by %s', async (signal) => {
  const { shell, says } = await startBehindShell({ npm_lifecycle_event: 'start' });
  shell.kill(signal);
  await says('asked to stop');
});

it('a node that was still starting when npm ended ends as well', async () => {
  const { shell, says } = await startBehindShell({ npm_lifecycle_event: 'start', STARTS_SLOWLY: 'yes' });
  shell.kill('SIGTERM');
  await says('asked to stop');
});

it.each(['SIGTERM', 'SIGINT'] as const)('a node that somebody else started ends by %s', async (signal) => {
  const child = spawn(process.execPath, [CHILD], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  await once(child.stdout, 'data');
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([0, null]);
});
