import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultScopes, type ownScopes } from '@agent-network/contracts/access/scopes';
import { createClient } from '@agent-network/sdk';
import type { Command } from 'commander';
import { privateKeyToAccount } from 'viem/accounts';
import { action } from '../command.ts';
import { CommandError } from '../exit-codes.ts';
import { askChoice, askSecret } from '../output/ask.ts';
import { formatFacts } from '../output/table.ts';
import type { Credentials } from '../profile/profile-store.ts';
import { cleanUrl, readStdin, requireWalletKey, type Session } from '../session.ts';
import { requireTextOf } from '../sign-in-text.ts';

interface LoginOptions {
  readonly withKey?: boolean;
  readonly wallet?: boolean;
  readonly local?: boolean;
  readonly scope?: readonly string[];
  readonly dataDir: string;
}

interface SignedIn {
  readonly url: string;
  readonly credentials: Credentials;
}

export function addLogin(program: Command): void {
  program
    .command('login')
    .description('sign in to a node and save the key in a profile')
    .option('--with-key', 'with an API key, read from stdin')
    .option(
      '--wallet',
      'with the wallet of AGENTNET_WALLET_KEY, which signs a challenge; opens an account if it has none',
    )
    .option('--scope <scope...>', 'with --wallet: additional scopes for the key')
    .option('--local', 'with the account of a node that "npm start" started here')
    .option('--data-dir <dir>', 'data folder of the local node', '.agent-network')
    .action(action<[LoginOptions]>(login));
  program.command('logout').description('delete the profile and its key').action(action(logout));
  program.command('whoami').description('the profile, the node and the account').action(action(whoami));
}

async function login(session: Session, options: LoginOptions): Promise<void> {
  const { url, credentials } = await signIn(session, options);
  const account = await createClient({ baseUrl: url, apiKey: credentials.apiKey }).getAccount();
  await session.store.save(session.profileName, { url, accountId: account.accountId }, credentials);
  session.terminal.result(
    { profile: session.profileName, url, account },
    () => `Signed in to ${url} as ${account.accountId} (profile "${session.profileName}").`,
  );
}

async function signIn(session: Session, options: LoginOptions): Promise<SignedIn> {
  if ([options.withKey, options.wallet, options.local].filter(Boolean).length > 1)
    throw new CommandError('Choose one of --with-key, --wallet and --local.');
  if (options.scope && !options.wallet) throw new CommandError('--scope goes with --wallet: the wallet signs for it.');
  if (options.local) return readLocal(options.dataDir);
  if (options.wallet) return byWallet(session, session.walletKey, options.scope);
  if (options.withKey) return { url: session.url, credentials: { apiKey: await readStdin(process) } };
  if (!session.terminal.isInteractive)
    throw new CommandError(
      'Choose how to sign in: "agentnet login --with-key" (the key on stdin), --wallet or --local.',
    );
  const way = await askChoice(`Sign in to ${session.url}`, [
    { value: 'key', label: 'with an API key' },
    { value: 'wallet', label: "with a wallet's private key" },
    { value: 'local', label: 'with the account of the node that runs here (npm start)' },
  ]);
  if (way === 'local') return readLocal(options.dataDir);
  if (way === 'wallet') return byWallet(session, requireWalletKey(await askSecret('Private key')));
  return { url: session.url, credentials: { apiKey: await askSecret('API key') } };
}

async function readLocal(dataDir: string): Promise<SignedIn> {
  const file = join(dataDir, 'local.json');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new CommandError(
        `${file} does not exist. Start a node with "npm start", or pass its data folder with --data-dir.`,
      );
    throw error;
  });
  const { baseUrl, apiKey, wallets } = JSON.parse(text) as {
    baseUrl: string;
    apiKey: string;
    wallets: readonly { privateKey: string }[];
  };
  const walletKey = wallets[0]?.privateKey;
  return { url: cleanUrl(baseUrl), credentials: { apiKey, ...(walletKey ? { walletKey } : {}) } };
}

async function byWallet(
  { url, walletKey }: Session,
  given = walletKey,
  more: readonly string[] = [],
): Promise<SignedIn> {
  if (given === null) throw new CommandError('Set AGENTNET_WALLET_KEY to the private key of the wallet.');
  const account = privateKeyToAccount(given);
  // Without the key of the profile: a node refuses one that has ended, also here.
  const client = createClient({ baseUrl: url });
  const scopes = [...new Set([...defaultScopes, ...more])] as (typeof ownScopes)[number][];
  const grant = more.length === 0 ? {} : { scopes };
  const { challengeId, message } = await client.requestSignIn({ body: { address: account.address, ...grant } });
  requireTextOf(url, account.address, message);
  const signature = await account.signMessage({ message });
  const { apiKey } = await client.signIn({ body: { challengeId, signature, ...grant } });
  return { url, credentials: { apiKey } };
}

async function logout({ store, profileName, profile, terminal }: Session): Promise<void> {
  if (!profile) throw new CommandError(`There is no profile "${profileName}".`);
  await store.remove(profileName);
  terminal.result(
    { profile: profileName },
    () => `Deleted the profile "${profileName}". The key stays valid; end it with "agentnet keys revoke".`,
  );
}

async function whoami(session: Session): Promise<void> {
  const account = await session.requireClient().getAccount();
  const { profileName, profile, url, terminal } = session;
  const facts = [
    ['profile', profile ? profileName : 'none'],
    ['node', url],
    ['account', account.accountId],
    ['wallet', account.address],
    ['plan', account.plan],
  ] as const;
  terminal.result({ profile: profile ? profileName : null, url, account }, () => formatFacts(facts));
}
