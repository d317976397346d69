import { stopAsked } from '../../../src/lib/process/stop-asked.ts';
import { until } from '../../support/until.ts';

// Something that keeps it running, as the node's server does.
const running = setInterval(() => undefined, 1000);
const say = (text: string) => process.stdout.write(`${text}\n`);
if (process.env.STARTS_SLOWLY) {
  const parent = process.ppid;
  say('running');
  await until(async () => (process.ppid === parent ? null : true));
}
const asked = stopAsked();
say('running');
await asked;
clearInterval(running);
say('asked to stop');
