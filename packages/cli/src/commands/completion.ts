import { Argument, type Command } from 'commander';
import { action } from '../command.ts';
import { completionScript, type Shell, shells } from '../output/completion.ts';
import type { Session } from '../session.ts';

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(shells))
    .description('a script that completes commands and options: add it to the start file of the shell')
    .action(
      action<[Shell]>(async ({ terminal }: Session, shell) => {
        const script = completionScript(program, shell);
        terminal.result({ script }, () => script);
      }),
    );
}
