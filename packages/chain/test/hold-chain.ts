import { startLocalChain } from '../src/local-chain.ts';

/** Starts a chain in the folder named on the command line, says where it is, and stays until it is killed. */
const chain = await startLocalChain({ dataDir: process.argv[2] });
process.stdout.write(`${JSON.stringify({ rpcUrl: chain.rpcUrl, processGroup: chain.processGroup })}\n`);
setInterval(() => {}, 60_000);
