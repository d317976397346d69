import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isLong } from '../support/long.ts';

const SCRIPT = join(import.meta.dirname, '../../../../deploy/debian/walk.sh');
const CANNOT_RUN_HERE = 77;

it.skipIf(!isLong)(
  'docs/install-on-debian.md leads from an empty Debian 12 to a paid call through nginx with TLS, as it stands',
  async ({ skip }) => {
    const { code, output } = await run();
    if (code === CANNOT_RUN_HERE) skip(output.trim().split('\n').at(-1));
    expect({ code, end: output.slice(-3000) }).toMatchObject({
      code: 0,
      end: expect.stringMatching(/walked to the end\n$/),
    });
  },
  1_800_000,
);

function run(): Promise<{ code: number | null; output: string }> {
  const child = spawn(SCRIPT, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const add = (text: string) => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', add);
  child.stderr.setEncoding('utf8').on('data', add);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
