/** Does the same faults to `@x402/express` and to our node, and counts payments, runs, results and money. See ../README.md. */
import { parseArgs } from 'node:util';
import { startLocalChain } from '@agent-network/chain/local-chain';
import { installPeers } from '../peers.ts';
import { type StopList, withStopList } from '../stop-list.ts';
import { policy } from './buyer.ts';
import { clientTimeOut } from './client-time-out.ts';
import { duplicateSend } from './duplicate-send.ts';
import { startExpress } from './express-contender.ts';
import type { Fault } from './fault.ts';
import { handlerError } from './handler-error.ts';
import { killAfterSettle } from './kill-after-settle.ts';
import { lostSettleAnswer } from './lost-settle-answer.ts';
import { measureFault } from './measure-fault.ts';
import { startOurs } from './our-contender.ts';
import { jsonLineOf, type Row, tableOf } from './print-table.ts';
import { startWorker } from './worker.ts';

const faults: Record<string, Fault> = {
  duplicate: duplicateSend,
  lost: lostSettleAnswer,
  kill: killAfterSettle,
  timeout: clientTimeOut,
  error: handlerError,
};

const { values } = parseArgs({
  options: {
    purchases: { type: 'string', default: '200' },
    faults: { type: 'string', default: Object.keys(faults).join() },
  },
});

function chosenFaults(): Fault[] {
  return values.faults.split(',').map((name) => {
    const fault = faults[name];
    if (!fault) throw new Error(`no fault is named ${name}: there are ${Object.keys(faults).join(', ')}`);
    return fault;
  });
}

async function run(stops: StopList): Promise<void> {
  const chosen = chosenFaults();
  const count = Number(values.purchases);
  if (!(Number.isInteger(count) && count > 0)) throw new Error('--purchases must be a whole number above 0');
  installPeers();
  const chain = await startLocalChain();
  stops.add(() => chain.stop());
  const worker = await startWorker();
  stops.add(() => worker.stop());
  const contenders = [await startExpress(stops, chain, worker), ...(await startOurs(stops, chain, worker))];
  const rows: Row[] = [];
  for (const fault of chosen)
    for (const contender of contenders) {
      const row = await measureFault({ chain, worker }, fault, contender, count);
      console.error(`${fault.name}, ${contender.name}: ${(row.tookMs / 1000).toFixed(0)} s`);
      rows.push(row);
    }
  console.log(tableOf(rows));
  console.log(['', ...chosen.map(({ name, what }) => `${name}: ${what}.`), '', ...policy, ''].join('\n'));
  console.log(jsonLineOf(rows));
  const broken = rows.filter((row) => row.isOurs && row.broken > 0);
  for (const row of broken) console.error(`we broke our promise: ${row.fault.name}, ${row.broken} of ${row.purchases}`);
  if (broken.length > 0) process.exitCode = 1;
}

await withStopList(run);
