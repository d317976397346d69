import { parseArgs } from 'node:util';
import { Plan } from '@agent-network/contracts/access/access';
import { defaultScopes, Scope } from '@agent-network/contracts/access/scopes';
import { openAccount } from '../src/access/accounts/open-account.ts';
import { issueApiKey } from '../src/access/keys/manage-keys.ts';
import { openDatabase } from '../src/db/database.ts';
import { systemClock } from '../src/lib/clock.ts';
import { silentLog } from '../src/lib/log/log.ts';

const usage = `Opens an account and prints an API key for it, once. For operators; needs DATABASE_URL and CHAIN_ID of the node.

  npm run account -- 0x<wallet address> [--plan free|pro|enterprise] [--scopes invoke,payments:read] [--name text]
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    plan: { type: 'string', default: 'free' },
    scopes: { type: 'string' },
    name: { type: 'string', default: 'first key' },
  },
});
const [address = ''] = positionals;
const databaseUrl = process.env.DATABASE_URL;
const plan = Plan.safeParse(values.plan);
const scopes = Scope.array().safeParse(values.scopes?.split(',') ?? [...defaultScopes, 'keys:manage']);

if (!/^0x[0-9a-fA-F]{40}$/.test(address) || !databaseUrl || !plan.success || !scopes.success) {
  console.error(usage);
  process.exitCode = 2;
} else {
  const db = openDatabase(databaseUrl, { max: 1, log: silentLog });
  const keyMode = process.env.CHAIN_ID === '8453' ? ('live' as const) : ('test' as const);
  const ctx = { db, clock: systemClock, keyMode };
  const account = await openAccount(ctx, { address, plan: plan.data, isWalletProven: false });
  const key = await issueApiKey(ctx, {
    accountId: account.accountId,
    name: values.name,
    scopes: scopes.data,
    expiresAt: null,
  });
  console.log(JSON.stringify({ ...account, plan: plan.data, apiKey: key.apiKey, scopes: key.scopes }, null, 2));
  await db.close();
}
