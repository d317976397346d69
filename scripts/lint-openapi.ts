import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

// `redocly lint` without what it does beside: it tells its maker of each run and asks for newer versions unless told not to.
const root = join(import.meta.dirname, '..');
const manifest = createRequire(import.meta.url).resolve('@redocly/cli/package.json');
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [join(dirname(manifest), 'bin', 'cli.js'), 'lint', 'packages/contracts/openapi.json', '--format=stylish'],
  {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' },
  },
);
if (status !== 0) {
  console.error(`${stdout}${stderr}`);
  process.exitCode = 1;
}
