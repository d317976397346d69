import type { Command } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import { type GlobalOptions, openSession, type Session } from './session.ts';

/** Ends with the code of the command; 0 when it returns nothing. */
export type Run<Args extends readonly unknown[]> = (
  session: Session,
  ...args: Args
) => Promise<ExitCode | undefined> | Promise<void>;

/** Commands that make or name profiles, or ask no node. */
const WITHOUT_PROFILE = new Set(['login', 'logout', 'profiles', 'up', 'completion', 'man']);

const topOf = (command: Command): Command => (command.parent?.parent ? topOf(command.parent) : command);

/** Runs a command with its session. Its arguments, then its options, as commander gives them. */
export const action =
  <Args extends readonly unknown[]>(run: Run<Args>) =>
  async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const needsProfile = !WITHOUT_PROFILE.has(topOf(command).name());
    const session = await openSession(command.optsWithGlobals<GlobalOptions>(), process, { needsProfile });
    const code = await run(session, ...(given.slice(0, -1) as unknown as Args));
    if (code !== undefined) process.exitCode = code;
  };
