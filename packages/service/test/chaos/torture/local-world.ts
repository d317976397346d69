import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createUsdcClient } from '../../../src/chain/usdc-client.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { type Harness, newAccount, newWallet, type TestWallet } from '../../support/harness.ts';
import { newClient } from '../../support/treasury.ts';
import { startBankAgent } from './bank-agents.ts';
import { channelHostOf, newChannelClient } from './bank-channels.ts';
import { type BankClient, type BankScene, FUNDS, untilItReads, WALLET_MICRO } from './bank-world.ts';
import { insist, sendWithin } from './insist.ts';
import type { LocalGroup } from './local-group.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';
import { createThirdParties, type ThirdParties } from './third-parties.ts';

/** A local node that is killed with everything around it, the clients and agents that outlive it, and others who use its chain. */
export interface LocalWorld extends BankScene {
  readonly thirdParties: ThirdParties;
  /** Adds a client with a wallet that a plain transfer has funded; it pays in at once. */
  join(): Promise<BankClient>;
  /** A transfer between wallets that have nothing to do with the node. */
  passBy(random: Random): Promise<void>;
  stop(): Promise<void>;
}

export interface LocalWorldParts {
  readonly group: LocalGroup;
  readonly tally: Tally;
  readonly clients: number;
  /** How long a client goes on asking: it may be killed again before anything is done. */
  readonly untilAnsweredMs: number;
}

const NOWHERE = 'http://127.0.0.1:9';
const FUNDER_MICRO = 1_000_000_000_000n;
const AGENTS = 3;
const PASSERS = 3;
const PRICE = '0.01';

export async function startLocalWorld({
  group,
  tally,
  clients: count,
  untilAnsweredMs,
}: LocalWorldParts): Promise<LocalWorld> {
  await group.start();
  const local = group.current()?.local;
  if (!local) throw new Error('the node is not there');
  const { database: databaseUrl } = local;
  const { rpcUrl, chainId, usdc } = local.chain;
  const token = usdc.toLowerCase();
  const client = createUsdcClient({ rpcUrl, token });
  const { name: tokenName, version: tokenVersion } = await client.readToken();
  const ctx = { chain: { tokenName, tokenVersion, chainId, token } };
  const baseUrl = () => group.current()?.local.baseUrl ?? NOWHERE;
  const accountOf: Harness['newAccount'] = async (options) => {
    const db = openDatabase(databaseUrl, { max: 1, log: silentLog });
    return newAccount({ db, clock: systemClock, keyMode: 'test' }, options).finally(() => db.close());
  };
  const host = {
    ctx,
    newAccount: accountOf,
    newWallet: (micro = 1_000_000_000n) => newWallet(rpcUrl, token, micro),
    request: (method: string, path: string, options = {}) => sendWithin(baseUrl(), method, path, options),
  };
  const owner = await host.newAccount();
  const { body } = await host.request('POST', '/payments/treasury', { key: owner.key, body: {} });
  const walletAddress: string = body.data.address.toLowerCase();
  const agents = await Promise.all(
    Array.from({ length: AGENTS }, (_, index) =>
      startBankAgent(host, { owner, seed: `local ${index}`, perRequest: PRICE }),
    ),
  );
  await untilItReads({ databaseUrl });
  const thirdParties = createThirdParties(rpcUrl, host, { walletAddress });
  const funder = await host.newWallet(FUNDER_MICRO);
  const fund = async (wallet: TestWallet, micro: bigint) =>
    void (await thirdParties.transfer(funder, wallet.address, micro));
  const passers = await Promise.all(Array.from({ length: PASSERS }, () => host.newWallet(FUNDER_MICRO)));
  const channelHost = await channelHostOf({ ctx, chain: { rpcUrl }, walletAddress });
  const clients: BankClient[] = [];

  const join = async (): Promise<BankClient> => {
    const patient = {
      ...host,
      newAccount: () => again(() => host.newAccount()),
      request: async (method: string, path: string, options = {}) =>
        (await insist(baseUrl, method, path, { ...options, timeoutMs: untilAnsweredMs, patienceMs: 10_000 })).answer,
      newWallet: async (micro = 0n) => {
        const wallet = privateKeyToAccount(generatePrivateKey());
        await fund(wallet, micro);
        return wallet;
      },
    };
    const { key, treasuryId } = await newClient(patient, FUNDS);
    const channel = newChannelClient(channelHost);
    await fund(channel.wallet, WALLET_MICRO);
    const wallet = await patient.newWallet(WALLET_MICRO);
    const joined = { name: `client ${clients.length}`, key, treasuryId, wallet, channel };
    clients.push(joined);
    return joined;
  };
  for (let index = 0; index < count; index++) await join();
  return {
    ctx,
    chain: { rpcUrl },
    databaseUrl,
    walletAddress,
    usdcOf: (address) => client.balanceOf(address),
    tally,
    owner,
    agents,
    clients,
    baseUrl,
    bankChain: thirdParties,
    thirdParties,
    join,
    async passBy(random) {
      const to = privateKeyToAccount(generatePrivateKey()).address;
      await thirdParties.transfer(random.pick(passers), to, BigInt(random.int(1, 1000)));
    },
    untilAnsweredMs,
    stop: async () => void (await Promise.all(agents.map((agent) => agent.die()))),
  };
}

/** Until the database is back. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
