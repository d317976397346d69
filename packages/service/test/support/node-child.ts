import { readConfig } from '../../src/config/config.ts';
import { type ArmedFailpoint, armFailpoint } from '../../src/lib/process/failpoint.ts';
import { createLog } from '../../src/lib/telemetry/log.ts';
import { startNode } from '../../src/node.ts';

/** A service process without accounts or example agents, configured by its environment; tells its parent where it is. */
const log = createLog({ level: process.env.LOG_LEVEL === 'debug' ? 'debug' : 'fatal', destination: process.stderr });
const node = await startNode({ ...readConfig(process.env), log, checksAnswers: true });
/** The test's process ended without stopping this one: it would hold the output of the run open, and the run would never end. */
const endAlone = () => process.exit(1);
process.once('disconnect', endAlone);
process.once('SIGTERM', () => {
  process.off('disconnect', endAlone);
  process.disconnect?.();
  void node.stop().then(() => process.exit());
});
/** The parent may name the place where it is to die only now. */
process.on('message', (failpoint: ArmedFailpoint) => {
  armFailpoint(failpoint);
  process.send?.({ armed: true });
});
process.send?.({ baseUrl: node.baseUrl, processId: node.ctx.processId() });
