import { stopAsked } from '../../../src/lib/stop-asked.ts';
import { until } from '../../../src/lib/until.ts';

// Something that keeps it running, as the node's server does.
const running = setInterval(() => undefined, 1000);
const parent = process.ppid;
process.stdout.write('running\n');
const isAlone = async () => (process.ppid === parent ? null : true);
if (process.env.STARTS_SLOWLY) await until(isAlone, { timeoutMs: 10_000, firstMs: 5, mostMs: 20 });
await stopAsked();
clearInterval(running);
process.stdout.write('asked to stop\n');
