import { Plan } from '@agent-network/contracts/access/access';
import { defaultScopes, Scope } from '@agent-network/contracts/access/scopes';
import { issueApiKey } from '../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../src/accounts/open-account.ts';
import { readNetworks } from '../src/config/networks.ts';
import { systemClock } from '../src/lib/clock.ts';
import { silentLog } from '../src/lib/telemetry/log.ts';
import { openDatabase } from '../src/store/database.ts';
import { databaseUrlOf, readArguments, runCommand, UsageError } from './command-line.ts';

const usage = `Opens an account and prints an API key for it, once. For operators; needs DATABASE_URL and CHAIN_ID, or NETWORKS, of the node
(without DATABASE_URL: the local node which was started here).

  npm run account -- 0x<wallet address> [--plan ${Plan.options.join('|')}] [--scopes invoke,payments:read] [--name text]

Scopes: ${Scope.options.join(', ')}. Default: ${[...defaultScopes, 'keys:manage'].join(', ')}.
`;

interface Given {
  readonly plan: string;
  readonly scopes?: string | undefined;
  readonly name: string;
}

function termsOf([address = '', extra]: readonly string[], { plan, scopes }: Given) {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address))
    throw new UsageError(`"${address}" is no wallet address: it is 0x and 40 hexadecimal digits.`);
  if (extra !== undefined) throw new UsageError(`One address at a time: "${extra}" is too much.`);
  const known = Plan.safeParse(plan);
  if (!known.success) throw new UsageError(`There is no plan "${plan}": it is one of ${Plan.options.join(', ')}.`);
  const named = scopes?.split(',') ?? [...defaultScopes, 'keys:manage'];
  const wrong = named.find((each) => !Scope.safeParse(each).success);
  if (wrong !== undefined) throw new UsageError(`There is no scope "${wrong}": they are ${Scope.options.join(', ')}.`);
  return { address, plan: known.data, scopes: Scope.array().parse(named) };
}

await runCommand(async () => {
  const given = readArguments(usage, {
    plan: { type: 'string', default: 'free' },
    scopes: { type: 'string' },
    name: { type: 'string', default: 'first key' },
  });
  if (given === null) return;
  const { name } = given.values;
  const { address, plan, scopes } = termsOf(given.positionals, given.values);
  const db = openDatabase(databaseUrlOf(process.env), { max: 1, log: silentLog });
  try {
    const keyMode = readNetworks(process.env, 'production').chainId === 8453 ? ('live' as const) : ('test' as const);
    const ctx = { db, clock: systemClock, keyMode };
    const account = await openAccount(ctx, { address, plan, isWalletProven: false });
    const key = await issueApiKey(ctx, { accountId: account.accountId, name, scopes, expiresAt: null });
    console.log(JSON.stringify({ ...account, plan, apiKey: key.apiKey, scopes: key.scopes }, null, 2));
  } finally {
    await db.close();
  }
});
