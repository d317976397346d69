import { formatUsdc } from '@agent-network/contracts/money';
import { type Client, createClient, createPayer, type Payer, type PayerSigner } from '@agent-network/sdk';
import { privateKeyToAccount } from 'viem/accounts';
import { CommandError, declined, EXIT, HOW_TO_SIGN_IN } from './exit-codes.ts';
import { ask } from './output/ask.ts';
import { oneLine } from './output/table.ts';
import { createTerminal, type Terminal } from './output/terminal.ts';
import { configDir, createProfileStore, type Profile, type ProfileStore } from './profile/profile-store.ts';

/** Options of every command. */
export interface GlobalOptions {
  readonly url?: string;
  readonly keyStdin?: boolean;
  readonly profile?: string;
  readonly json?: boolean;
  readonly color: boolean;
  readonly quiet?: boolean;
  readonly yes?: boolean;
}

/** The transfer that a payment authorizes. */
export interface Transfer {
  readonly amount: string;
  readonly to: string;
  readonly chainId: number;
  /** Until when the signature is valid, in seconds. */
  readonly validBeforeS: number;
}

/** Address of a node that `npm start` started. */
export const LOCAL_URL = 'http://127.0.0.1:4020';

/** Dependencies of a command: the node, the caller and the terminal. */
export interface Session {
  readonly terminal: Terminal;
  readonly store: ProfileStore;
  readonly env: NodeJS.ProcessEnv;
  readonly url: string;
  readonly profileName: string;
  readonly profile: Profile | null;
  readonly isYes: boolean;
  /** The key of the caller; null: none. */
  readonly apiKey: string | null;
  /** The wallet that pays with x402; null: none. */
  readonly walletKey: `0x${string}` | null;
  /** Calls with the key, if there is one. */
  readonly client: Client;
  /** Calls with the key; throws when there is none. */
  readonly requireClient: (options?: { payer?: Payer }) => Client;
  /** Pays from the wallet. `approve` is called with each transfer before it is signed, and throws to refuse it. */
  readonly payer: (maxPerCall: string, approve?: (transfer: Transfer) => Promise<void>) => Payer;
  /** Throws `DECLINED` unless `--yes` was given or the person agrees; without a terminal the flag is needed. */
  readonly confirm: (question: string) => Promise<void>;
}

/**
 * Settings by flag, else by environment, else by profile. A profile's keys are only for that profile's node. `needsProfile`: one that is
 * named must exist, unless the node is named as well.
 */
export async function openSession(
  options: GlobalOptions,
  process: NodeJS.Process,
  { needsProfile }: { readonly needsProfile: boolean },
): Promise<Session> {
  const { env } = process;
  const terminal = createTerminal(
    { json: options.json ?? false, quiet: options.quiet ?? false, color: options.color },
    process,
  );
  const store = createProfileStore(configDir(env));
  const { current, profiles } = await store.readProfiles();
  const named = options.profile ?? (env.AGENTNET_PROFILE || undefined);
  const profileName = named ?? current ?? 'default';
  const profile = profiles[profileName] ?? null;
  const namedUrl = options.url ?? (env.AGENTNET_URL || undefined);
  // The node on this machine is not what a misspelt profile means.
  if (needsProfile && named !== undefined && !profile && namedUrl === undefined)
    throw new CommandError(`There is no profile "${named}". List them with "agentnet profiles list".`);
  const url = cleanUrl(namedUrl ?? profile?.url ?? LOCAL_URL);
  const kept = await store.credentialsOf(profileName);
  const isProfilesNode = profile?.url === url;
  const apiKey = options.keyStdin
    ? await readStdin(process)
    : ((env.AGENTNET_API_KEY || (isProfilesNode ? kept.apiKey : undefined)) ?? null);
  const walletKey = walletKeyOf((env.AGENTNET_WALLET_KEY || (isProfilesNode ? kept.walletKey : undefined)) ?? null);
  const clientWith = (payer?: Payer) =>
    createClient({ baseUrl: url, apiKey: apiKey ?? undefined, ...(payer ? { payer } : {}) });
  return {
    ...{ terminal, store, env, url, profileName, profile, apiKey, walletKey },
    isYes: options.yes ?? false,
    client: clientWith(),
    requireClient({ payer } = {}) {
      if (apiKey === null)
        throw new CommandError(`This needs an API key of ${url}. ${HOW_TO_SIGN_IN}`, {
          code: 'UNAUTHORIZED',
          exitCode: EXIT.unauthorized,
        });
      return clientWith(payer);
    },
    payer(maxPerCall, approve) {
      if (walletKey === null)
        throw new CommandError('Paying with x402 needs a wallet: set AGENTNET_WALLET_KEY to its private key.', {
          code: 'WALLET_MISSING',
          exitCode: EXIT.payment,
        });
      if (!approve) return createPayer({ privateKey: walletKey, maxPerCall });
      const { address, signTypedData } = privateKeyToAccount(walletKey);
      const signer: PayerSigner = {
        address,
        async signTypedData(typed) {
          await approve(transferOf(typed));
          return signTypedData(typed as Parameters<typeof signTypedData>[0]);
        },
      };
      return createPayer({ signer, maxPerCall });
    },
    async confirm(question) {
      if (options.yes) return;
      if (!terminal.isInteractive)
        throw new CommandError(`${question} Confirm with --yes: there is no terminal to ask on.`);
      if (!(await ask(oneLine(question)))) throw declined();
    },
  };
}

/** Reads the transfer of an EIP-3009 authorization. */
function transferOf({ domain, message }: Parameters<PayerSigner['signTypedData']>[0]): Transfer {
  return {
    amount: formatUsdc(BigInt(String(message.value))),
    to: String(message.to),
    chainId: Number(domain.chainId),
    validBeforeS: Number(message.validBefore),
  };
}

export function cleanUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new CommandError(`"${text}" is not the http(s) address of a node.`);
  return url.href.replace(/\/+$/, '');
}

const walletKeyOf = (text: string | null) => (text === null ? null : requireWalletKey(text));

export function requireWalletKey(text: string): `0x${string}` {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new CommandError('The wallet key is not 0x and 64 hex digits.');
  return text as `0x${string}`;
}

/** The first line of stdin, so that a key need not be an argument. */
export async function readStdin({ stdin }: NodeJS.Process): Promise<string> {
  if (stdin.isTTY) throw new CommandError('Pipe the key in, for example: agentnet login --with-key < key.txt');
  const parts: Buffer[] = [];
  for await (const part of stdin) parts.push(part as Buffer);
  const [line = ''] = Buffer.concat(parts).toString('utf8').trim().split(/\r?\n/);
  if (line === '') throw new CommandError('Nothing came on stdin.');
  return line;
}
