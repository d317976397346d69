import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { failpoint, failpoints, parseFailpoint } from './failpoint.ts';

const MODULE = join(import.meta.dirname, 'failpoint.ts');

/** How a process ends that arms a failpoint and passes a place several times. */
function passes(armed: string, passed: string, times: number) {
  const code = `import { armFailpoint, failpoint, parseFailpoint } from ${JSON.stringify(MODULE)};
    armFailpoint(parseFailpoint(${JSON.stringify(armed)}));
    for (let i = 0; i < ${times}; i++) { failpoint(${JSON.stringify(passed)}); process.stdout.write('.'); }`;
  const { signal, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  return { signal, passed: stdout };
}

describe('a failpoint', () => {
  it('ends the process at the hit it is armed for, without another word', () => {
    expect(passes('before-send', 'before-send', 3)).toEqual({ signal: 'SIGKILL', passed: '' });
    expect(passes('before-send:3', 'before-send', 5)).toEqual({ signal: 'SIGKILL', passed: '..' });
  });

  it('lets everything by that it is not armed for', () => {
    expect(passes('before-send', 'after-send', 3)).toEqual({ signal: null, passed: '...' });
    expect(passes('before-send:4', 'before-send', 3)).toEqual({ signal: null, passed: '...' });
    for (const name of failpoints) failpoint(name);
  });

  it.each(['', 'send', 'before-send:', 'before-send:0', 'before-send:-1', 'before-send:1:1', 'before-sends'])(
    'is not armed by %j',
    (text) => {
      expect(parseFailpoint(text)).toBeNull();
      expect(() => readConfig({ FAILPOINT: text })).toThrow(/FAILPOINT/);
    },
  );

  it('is refused in production', () => {
    expect(readConfig({ FAILPOINT: 'before-send:2' }).config.failpoint).toEqual({ name: 'before-send', hit: 2 });
    expect(() => readConfig({ NODE_ENV: 'production', FAILPOINT: 'before-send' })).toThrow(/FAILPOINT/);
  });
});
