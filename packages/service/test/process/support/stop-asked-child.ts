import { stopAsked } from '../../../src/lib/stop-asked.ts';

// Something that keeps it running, as the node's server does.
const running = setInterval(() => undefined, 1000);
const asked = stopAsked();
process.stdout.write('running\n');
await asked;
clearInterval(running);
process.stdout.write('asked to stop\n');
