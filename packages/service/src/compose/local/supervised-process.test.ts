import { type ChildProcess, spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { superviseProcess } from './supervised-process.ts';

const run = (script: string): ChildProcess =>
  spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
const LISTENS = 'process.send("up"); process.on("disconnect", () => process.exit())';

/** Starts what `scripts` name in turn; the last one for good. */
function keep(scripts: readonly (string | Error)[]) {
  const causes: unknown[] = [];
  const children: ChildProcess[] = [];
  const kept = superviseProcess({
    async start() {
      const script =
        scripts[Math.min(children.length + causes.filter((each) => each instanceof Error).length, scripts.length - 1)];
      if (script instanceof Error) throw script;
      const child = run(script ?? '');
      children.push(child);
      return child;
    },
    onEnd: (cause) => void causes.push(cause),
    pauseMs: 1,
  });
  return { ...kept, causes, children };
}

it('a process that ends before it is up, or cannot be started, is started again, and the wait for it goes on', async () => {
  const lost = new Error('no port is free');
  const { isUp, stop, causes, children } = keep(['process.exit(7)', lost, LISTENS]);
  await isUp;
  expect(causes).toEqual([7, lost]);
  await stop();
  expect(children).toHaveLength(2);
});

it('a process that is killed is replaced; one that is stopped is not', async () => {
  const { isUp, stop, causes, children } = keep([LISTENS]);
  await isUp;
  children[0]?.kill('SIGKILL');
  await expect.poll(() => children.length).toBe(2);
  await stop();
  expect(causes).toEqual([null]);
  expect(children.map(({ signalCode }) => signalCode)).toEqual(['SIGKILL', 'SIGTERM']);
});
