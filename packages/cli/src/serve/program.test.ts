import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentCall } from '@agent-network/sdk/agent';
import { expect, it, onTestFinished } from 'vitest';
import { programBackend } from './program.ts';

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const hasShell = process.platform !== 'win32';

it.runIf(hasShell)('a cancelled call ends, whatever its program left behind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentnet-program-'));
  const file = join(folder, 'pids');
  // The sleeper has the output open for longer than its program lives.
  const script = `sleep 100 & echo "$$ $!" > '${file}.new'; mv '${file}.new' '${file}'`;
  const { run } = programBackend('sh', ['-c', script], process.env);
  const stop = new AbortController();
  const ended = (run({ task: 'x', input: {}, signal: stop.signal } as AgentCall) as Promise<unknown>).then(
    () => 'done',
    (error: Error) => error.message,
  );
  await expect.poll(() => readFile(file, 'utf8').catch(() => '')).not.toBe('');
  const [program = 0, sleeper = 0] = (await readFile(file, 'utf8')).split(' ').map(Number);
  onTestFinished(async () => {
    process.kill(sleeper, 'SIGKILL');
    await rm(folder, { recursive: true });
  });
  await expect.poll(() => isAlive(program)).toBe(false);
  stop.abort(new Error('cancelled'));
  expect(await ended).toBe('cancelled');
});

const call = (): AgentCall => ({ task: 'x', input: {}, signal: new AbortController().signal }) as AgentCall;

it.runIf(hasShell)('the program does not see the keys of the one who serves', async () => {
  const env = { ...process.env, AGENTNET_WALLET_KEY: `0x${'7'.repeat(64)}`, UPSTREAM_KEY: 'of the program' };
  const { text } = (await programBackend('sh', ['-c', 'env'], env).run(call())) as { text: string };
  expect(text).toContain('UPSTREAM_KEY=of the program');
  expect(text).not.toContain('AGENTNET_');
});

it.runIf(hasShell)('a call whose program left a writer without end behind fails, and the writer ends', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentnet-program-'));
  const file = join(folder, 'pid');
  const writer = 'yes | head -c 2000000; while echo more; do sleep 0.1; done';
  const { run } = programBackend('sh', ['-c', `(${writer}) & echo $! > '${file}'; wait`], process.env);
  const ended = run(call());
  onTestFinished(async () => {
    const pid = Number(await readFile(file, 'utf8'));
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true });
  });
  await expect(ended).rejects.toMatchObject({ code: 'result_too_large' });
  const pid = Number(await readFile(file, 'utf8'));
  await expect.poll(() => isAlive(pid)).toBe(false);
});
