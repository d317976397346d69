import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// `redocly lint` without telemetry and update checks.
const root = join(import.meta.dirname, '..');
const cli = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [cli, 'lint', 'packages/contracts/openapi.json', '--format=stylish'],
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
