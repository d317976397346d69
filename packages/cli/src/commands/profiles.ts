import type { Command } from 'commander';
import { action, addList } from '../command.ts';
import { CommandError } from '../exit-codes.ts';
import { formatTable } from '../output/table.ts';
import type { Session } from '../session.ts';

export function addProfiles(program: Command): void {
  const profiles = program.command('profiles').description('nodes and accounts you are signed in to');
  addList(profiles).description('all profiles').action(action(list));
  profiles
    .command('use')
    .argument('<name>')
    .description('make a profile the current one')
    .action(action<[string]>(use));
  profiles
    .command('remove')
    .argument('<name>')
    .description('delete a profile and its key')
    .action(action<[string]>(remove));
}

async function list({ store, terminal }: Session): Promise<void> {
  const { current, profiles } = await store.readProfiles();
  const rows = Object.entries(profiles).map(([name, profile]) => ({ name, ...profile, isCurrent: name === current }));
  terminal.result(rows, () =>
    rows.length === 0
      ? 'No profiles. Create one with "agentnet login".'
      : formatTable(
          rows,
          [
            { title: '', value: (row) => (row.isCurrent ? '*' : '') },
            { title: 'NAME', value: (row) => row.name },
            { title: 'NODE', value: (row) => row.url, isFlexible: true },
            { title: 'ACCOUNT', value: (row) => row.accountId ?? '', isFlexible: true },
          ],
          terminal.columns,
        ),
  );
}

async function requireProfile({ store }: Session, name: string): Promise<void> {
  if (!(name in (await store.readProfiles()).profiles)) throw new CommandError(`There is no profile "${name}".`);
}

async function use(session: Session, name: string): Promise<void> {
  await requireProfile(session, name);
  await session.store.use(name);
  session.terminal.result({ current: name }, () => `"${name}" is the current profile.`);
}

async function remove(session: Session, name: string): Promise<void> {
  await requireProfile(session, name);
  await session.store.remove(name);
  session.terminal.result({ removed: name }, () => `Deleted "${name}".`);
}
