import { expect, it } from 'vitest';
import { createLogProgress, createScreenProgress, StartError, type StartStep } from './start-progress.ts';

const database: StartStep = { name: 'database', doing: 'starting PostgreSQL', remedy: 'make room on the disk.' };
const chain: StartStep = { name: 'chain', doing: 'starting the chain', remedy: 'run "npm ci".' };

function screen(isTTY: boolean) {
  const written: string[] = [];
  const progress = createScreenProgress({ isTTY, columns: 60, write: (text: string) => written.push(text) });
  return { progress, text: () => written.join('') };
}

it('a pipe gets whole lines, without signs of a terminal: what begins, and how long it took', async () => {
  const { progress, text } = screen(false);
  expect(await progress.step(database, async () => 7)).toBe(7);
  progress.write('12:00:00 warn  no gas\n');
  expect(text()).toMatch(
    /^agent-network: database: starting PostgreSQL\nagent-network: database: done in \d+\.\d s\n12:00:00 warn {2}no gas\n$/,
  );
});

it('a terminal shows the oldest running step, and other output begins on a line of its own', async () => {
  const { progress, text } = screen(true);
  const ended = Promise.withResolvers<void>();
  const first = progress.step(database, () => ended.promise);
  const second = progress.step(chain, async () => undefined);
  progress.write('12:00:00 warn  no gas\n');
  await second;
  expect(text()).toContain('\r\x1b[K12:00:00 warn  no gas\n');
  expect(text().split('\r\x1b[K').at(-1)).toContain('database');
  ended.resolve();
  await first;
  const lines = text().split('\n');
  expect(lines.at(-2)).toMatch(/ok database +\d+\.\d s$/);
  const shown = text()
    .split('\n')
    .flatMap((line) => line.split('\r\x1b[K'));
  expect(Math.max(...shown.map(({ length }) => length))).toBeLessThan(60);
});

it('a step that fails is named with what to do, once, below the message of its error', async () => {
  const { progress, text } = screen(false);
  const cause = new Error('no space left on device');
  const failed = progress.step(chain, () => progress.step(database, () => Promise.reject(cause)));
  await expect(failed).rejects.toThrow(StartError);
  await expect(failed).rejects.toThrow(
    /^no space left on device\nThe step "database" failed after \d+\.\d s\. If .* make room on the disk\.$/,
  );
  await expect(failed).rejects.toMatchObject({ cause });
  expect(text()).toContain('agent-network: database: failed\n');
});

it('the log has each step with its milliseconds', async () => {
  const lines: [object, string][] = [];
  const progress = createLogProgress({ info: (fields, message) => void lines.push([fields, message]) });
  await progress.step(database, async () => undefined);
  expect(lines).toEqual([
    [{ step: 'database' }, 'start step began'],
    [{ step: 'database', tookMs: expect.any(Number) }, 'start step done'],
  ]);
});
