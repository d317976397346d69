import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

type Hex = `0x${string}`;
export interface LocalWallet {
  readonly address: Hex;
  readonly privateKey: Hex;
}

/** Facts that `npm start` writes about the node that it started. */
export interface Local {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly account: LocalWallet;
  readonly wallets: readonly LocalWallet[];
  readonly chain: { readonly rpcUrl: string; readonly chainId: number; readonly usdc: Hex };
  readonly agents: readonly { readonly id: string; readonly name: string; readonly endpoint: string }[];
}

/** Folder of the local node's files. */
export const dataFolder = (): string => process.env.DATA_DIR ?? '.agent-network';

/** Reads `LOCAL_JSON`, or what the node started in this folder wrote. */
export async function readLocal(): Promise<Local> {
  const file = process.env.LOCAL_JSON ?? join(dataFolder(), 'local.json');
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`${file} can't be read: start a node with \`npm start\` first, or name its file in LOCAL_JSON`, {
      cause,
    });
  });
  return JSON.parse(text) as Local;
}

/** The agent of this name that the local node started. */
export function agentNamed(local: Local, name: string): Local['agents'][number] {
  const agent = local.agents.find((candidate) => candidate.name === name);
  if (!agent) throw new Error(`the node has no agent named ${name}`);
  return agent;
}

/** The first funded wallet of the local node. */
export function firstWallet(local: Local): LocalWallet {
  const wallet = local.wallets[0];
  if (!wallet) throw new Error('the node has no funded wallet');
  return wallet;
}

/** Runs an example against the started node; the exit code tells whether everything that it claims was true. */
export async function runExample(run: (local: Local) => Promise<void>): Promise<void> {
  try {
    await run(await readLocal());
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
}
