import { expect, test } from 'vitest';
import { createLog, silentLog } from '../telemetry/log.ts';
import { stopInOrder } from './graceful-stop.ts';

test('steps run one after the other, in order', async () => {
  const events: string[] = [];
  const step = (name: string) => ({
    name,
    stop: async () => {
      events.push(`${name} begins`);
      await new Promise(setImmediate);
      events.push(`${name} ends`);
    },
  });
  expect(await stopInOrder([step('server'), step('database')], { log: silentLog })).toBe(true);
  expect(events).toEqual(['server begins', 'server ends', 'database begins', 'database ends']);
});

test('a step that fails is logged, and the next ones still run', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'error', destination: { write: (line) => lines.push(line) } });
  let isDatabaseStopped = false;
  const failing = {
    name: 'server',
    stop: () => {
      throw new Error('stuck');
    },
  };
  const database = { name: 'database', stop: () => (isDatabaseStopped = true) };
  expect(await stopInOrder([failing, database], { log })).toBe(false);
  expect(isDatabaseStopped).toBe(true);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ step: 'server', err: { message: 'stuck' } });
});

test('past the limit it gives up, names what is left and starts nothing more', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'error', destination: { write: (line) => lines.push(line) } });
  let release = () => {};
  let isDatabaseStopped = false;
  const slow = { name: 'server', stop: () => new Promise<void>((resolve) => (release = resolve)) };
  const database = { name: 'database', stop: () => (isDatabaseStopped = true) };
  expect(await stopInOrder([slow, database], { log, limitMs: 30 })).toBe(false);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ unfinished: ['server', 'database'], limitMs: 30 });
  release();
  await new Promise(setImmediate);
  expect(isDatabaseStopped).toBe(false);
});
