import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Checks out a commit into a folder of its own. Its code runs with the packages that are installed here if its lockfile is the one here, else
 * with its own, which are installed into the folder.
 */
export function checkOut(repository: string, folder: string, commit: string): void {
  execFileSync('git', ['-C', repository, 'worktree', 'add', '--detach', folder, commit], { stdio: 'ignore' });
  const lockOf = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(repository)) linkPackages(join(repository, 'node_modules'), folder);
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

function linkPackages(installed: string, folder: string): void {
  mkdirSync(join(folder, 'node_modules', '@agent-network'), { recursive: true });
  for (const name of readdirSync(installed))
    if (name !== '@agent-network') symlinkSync(join(installed, name), join(folder, 'node_modules', name));
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules', '@agent-network', name));
}

export function removeCheckOut(repository: string, folder: string): void {
  execFileSync('git', ['-C', repository, 'worktree', 'remove', '--force', folder]);
}
