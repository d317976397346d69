import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Checks out a commit into a folder of its own, where its code runs with the packages that are installed here. */
export function checkOut(repository: string, folder: string, commit: string): void {
  execFileSync('git', ['-C', repository, 'worktree', 'add', '--detach', folder, commit], { stdio: 'ignore' });
  mkdirSync(join(folder, 'node_modules', '@agent-network'), { recursive: true });
  const installed = join(repository, 'node_modules');
  for (const name of readdirSync(installed))
    if (name !== '@agent-network') symlinkSync(join(installed, name), join(folder, 'node_modules', name));
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules', '@agent-network', name));
}

export function removeCheckOut(repository: string, folder: string): void {
  execFileSync('git', ['-C', repository, 'worktree', 'remove', '--force', folder]);
}
