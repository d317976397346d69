import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fundWallets } from '@agent-network/chain/chain-funding';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { startNode } from './child-process.ts';
import type { Local } from './service-under-test.ts';
import type { StopList } from './stop-list.ts';

/** Packages that are too heavy for the workspace; installed when first needed. */
export const peersFolder = fileURLToPath(new URL('peers/', import.meta.url));

export interface Peer {
  readonly name: string;
  readonly url: string;
}

/** Installs what peers/package-lock.json names, unless it is there. */
export function installPeers(): void {
  if (existsSync(`${peersFolder}node_modules/.package-lock.json`)) return;
  console.log('installing the peers into bench/peers (once, about a minute)');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  execFileSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: peersFolder,
    stdio: 'inherit',
  });
}

/** Starts a peer on the chain of the service, with a funded wallet of its own to settle with. */
export async function startPeer(
  stops: StopList,
  framework: 'express' | 'hono',
  { chain }: Pick<Local, 'chain'>,
  scheme: 'exact' | 'batch-settlement' = 'exact',
): Promise<Peer> {
  const facilitatorKey = generatePrivateKey();
  const ethWei = 10_000n * 10n ** 18n;
  await fundWallets(chain.rpcUrl, chain.usdc, [
    { address: privateKeyToAddress(facilitatorKey), ethWei, usdcMicro: 0n },
  ]);
  const settings = { rpcUrl: chain.rpcUrl, facilitatorKey, payToKey: generatePrivateKey(), price: '$0.01' };
  const child = startNode([`${peersFolder}server.mjs`, framework, scheme], {
    PEER_SETTINGS: JSON.stringify(settings),
    NODE_ENV: 'production',
  });
  stops.add(() => child.stop());
  const address = await child.line(/^http:/);
  const name = `@x402/${framework}${scheme === 'exact' ? '' : `, ${scheme}`}`;
  return { name, url: `${address}/work` };
}
