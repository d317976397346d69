import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { action } from '../command.ts';
import { CommandError, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';

export function addUp(program: Command): void {
  program
    .command('up')
    .description('start a local node in this checkout, as "npm start" does, with a chain and test money of its own')
    .action(action(up));
}

async function up(_session: Session): Promise<ExitCode> {
  const root = checkoutAbove(process.cwd());
  if (!root)
    throw new CommandError(
      'There is no checkout of agent-network here. Clone it, run "npm ci", and start it there; with a node elsewhere, name it with --url.',
    );
  const child = spawn('npm', ['start'], { cwd: root, stdio: 'inherit' });
  // The terminal signals the whole group; the node ends by itself.
  process.on('SIGINT', () => undefined);
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (status) => resolve(status ?? 1));
  });
  return code as ExitCode;
}

function checkoutAbove(folder: string): string | null {
  if (existsSync(join(folder, 'packages/service/src/main.ts'))) return folder;
  return dirname(folder) === folder ? null : checkoutAbove(dirname(folder));
}
