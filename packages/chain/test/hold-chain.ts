import { flushCompileCache } from 'node:module';
import { startLocalChain } from '../src/local-chain.ts';

/** Starts a chain in the folder named on the command line, says where it is, and stays until it is killed. */
const chain = await startLocalChain({ dataDir: process.argv[2] });
process.stdout.write(`${JSON.stringify({ rpcUrl: chain.rpcUrl, processGroup: chain.processGroup })}\n`);
// It is killed, and would leave nothing for the next to start faster by.
flushCompileCache();
setInterval(() => {}, 60_000);
