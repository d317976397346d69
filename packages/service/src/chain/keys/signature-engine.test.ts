import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const file = fileURLToPath(new URL('signature-engine.ts', import.meta.url));
const script = `import { readSignatureEngine } from ${JSON.stringify(file)}; process.stdout.write(readSignatureEngine());`;

/** What a process finds; node-gyp-build takes the platform from these variables. */
const engineOn = (env: Record<string, string>): string =>
  execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });

it('is native where the package has a build, and reported as JavaScript where that silently replaces it', () => {
  expect(engineOn({ npm_config_platform: 'linux', npm_config_arch: 'riscv64' })).toBe('javascript');
  expect(engineOn({ npm_config_platform: 'sunos' })).toBe('javascript');
  if (process.platform === 'linux' && process.arch === 'x64') expect(engineOn({})).toBe('native');
});
