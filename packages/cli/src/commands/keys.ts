import { scopes } from '@agent-network/contracts/access/scopes';
import type { Command } from 'commander';
import { action, addList } from '../command.ts';
import { CommandError } from '../exit-codes.ts';
import { listOf, usdc } from '../output/arguments.ts';
import { formatTable } from '../output/table.ts';
import type { Session } from '../session.ts';

interface CreateOptions {
  readonly scope?: string[];
  readonly perCall?: string;
  readonly perDay?: string;
}

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('API keys of the account');
  addList(keys).description('active ones first').action(action(list));
  keys
    .command('create')
    .argument('<name>')
    .option('-s, --scope <names>', `comma-separated: ${scopes.join(', ')}`, listOf)
    .option('--per-call <usdc>', 'maximum cost per call', usdc)
    .option('--per-day <usdc>', 'maximum cost per day', usdc)
    .description('create a key; it is shown once')
    .action(action<[string, CreateOptions]>(create));
  keys
    .command('revoke')
    .argument('<key>', 'its id')
    .description('revoke a key immediately; asks first, or needs --yes')
    .action(action<[string]>(revoke));
}

async function list(session: Session): Promise<void> {
  const { keys } = await session.requireClient().listApiKeys();
  const { terminal } = session;
  terminal.result(keys, () =>
    formatTable(
      keys,
      [
        { title: 'KEY', value: (key) => key.keyId },
        { title: 'NAME', value: (key) => key.name, isFlexible: true },
        { title: 'START', value: (key) => key.start },
        { title: 'SCOPES', value: (key) => key.scopes.join(','), isFlexible: true },
        { title: 'LAST USED', value: (key) => key.lastUsedAt?.slice(0, 10) ?? 'never' },
        { title: 'STATE', value: (key) => (key.revokedAt ? 'revoked' : 'active') },
      ],
      terminal.columns,
    ),
  );
}

async function create(session: Session, name: string, { scope, perCall, perDay }: CreateOptions): Promise<void> {
  const wrong = scope?.find((each) => !(scopes as readonly string[]).includes(each));
  if (wrong !== undefined) throw new CommandError(`There is no scope "${wrong}". Scopes: ${scopes.join(', ')}.`);
  const limits = { ...(perCall ? { perCall } : {}), ...(perDay ? { perDay } : {}) };
  const made = await session.requireClient().createApiKey({
    body: {
      name,
      ...(scope ? { scopes: scope as never } : {}),
      ...(perCall || perDay ? { limits } : {}),
    },
  });
  session.terminal.result(made, () => made.apiKey);
  session.terminal.note(`${made.keyId}: save the key; it is shown once.`);
}

async function revoke(session: Session, keyId: string): Promise<void> {
  const client = session.requireClient();
  await session.confirm(`Revoke the key ${keyId}? Programs that use it are refused immediately.`);
  const answer = await client.revokeApiKey({ params: { keyId } });
  session.terminal.result(answer, () => `Revoked ${keyId}.`);
}
