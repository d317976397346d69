import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/lib/log.ts';
import { startNode } from '../../src/node.ts';

/** A service process without accounts or example agents, configured by its environment; tells its parent where it is. */
const log = createLog({ level: process.env.LOG_LEVEL === 'debug' ? 'debug' : 'fatal', destination: process.stderr });
const node = await startNode({ ...readConfig(process.env), log, checksAnswers: true });
process.once('SIGTERM', () => {
  process.disconnect?.();
  void node.stop().then(() => process.exit());
});
process.send?.({ baseUrl: node.baseUrl });
