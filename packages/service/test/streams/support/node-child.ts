import { readConfig } from '../../../src/config.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startNode } from '../../../src/node.ts';

/** A process of a node, configured by its environment; tells its parent where it is. Killed by its parent. */
const node = await startNode({ ...readConfig(process.env), log: silentLog, checksAnswers: true });
process.send?.({ baseUrl: node.baseUrl, processId: node.ctx.processId() });
