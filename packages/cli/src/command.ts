import type { Command } from 'commander';
import { CommandError, type ExitCode } from './exit-codes.ts';
import { type GlobalOptions, openSession, type Session } from './session.ts';

/** Ends with the code of the command; 0 when it returns nothing. */
export type Run<Args extends readonly unknown[]> = (
  session: Session,
  ...args: Args
) => Promise<ExitCode | undefined> | Promise<void>;

/** Commands that make or name profiles, or ask no node. */
const WITHOUT_PROFILE = new Set(['login', 'logout', 'profiles', 'up', 'completion', 'man']);

/** Adds `list`, which also runs when the group is named alone: `agentnet calls` lists them. */
export const addList = (group: Command): Command =>
  // Any other word comes here as well, and is told to be no command.
  group.command('list', { isDefault: true }).allowExcessArguments();

const unknownCommand = ({ parent }: Command, word: string): CommandError =>
  new CommandError(
    `There is no command "${parent?.name()} ${word}". It has: ${parent?.commands.map((each) => each.name()).join(', ')}.`,
  );

const topOf = (command: Command): Command => (command.parent?.parent ? topOf(command.parent) : command);

/** Runs a command with its session. Its arguments, then its options, as commander gives them. */
export const action =
  <Args extends readonly unknown[]>(run: Run<Args>) =>
  async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const [other] = command.args.slice(command.registeredArguments.length);
    if (other !== undefined && !command.registeredArguments.at(-1)?.variadic) throw unknownCommand(command, other);
    const needsProfile = !WITHOUT_PROFILE.has(topOf(command).name());
    const session = await openSession(command.optsWithGlobals<GlobalOptions>(), process, { needsProfile });
    const code = await run(session, ...(given.slice(0, -1) as unknown as Args));
    if (code !== undefined) process.exitCode = code;
  };
