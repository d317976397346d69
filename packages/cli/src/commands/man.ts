import type { Command } from 'commander';
import { action } from '../command.ts';
import { manPage } from '../output/man-page.ts';
import type { Session } from '../session.ts';

export function addMan(program: Command): void {
  program
    .command('man')
    .description('the manual of all commands as a man page: agentnet man | man -l -')
    .action(
      action(async ({ terminal }: Session) => {
        const page = manPage(program, program.version() ?? '');
        terminal.result({ page }, () => page.trimEnd());
      }),
    );
}
