import { once } from 'node:events';
import type { ServiceProcess } from '../../packages/service/test/support/service-process.ts';
import type { StopList } from '../stop-list.ts';

/** Memory that a node holds after a full garbage collection. */
export interface KeptMemory {
  /** Objects and buffers in use. */
  readonly usedMib: number;
  readonly rssMib: number;
}

/** Given to the node at its start: its inspector, once asked for, listens on any free port. */
export const INSPECTED = { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' };

const MIB = 1024 * 1024;
const ADDRESS = /ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/;
const EXPRESSION = 'JSON.stringify(process.memoryUsage())';

/** Reads it through the inspector of a node that was started with `INSPECTED`, after a full collection. */
export async function createKeptMemory(
  stops: StopList,
  { child, pid }: ServiceProcess,
): Promise<() => Promise<KeptMemory>> {
  const { stderr } = child;
  if (!stderr) throw new Error('the node has no standard error');
  let said = '';
  const opened = new Promise<string>((resolve) => {
    stderr.on('data', (part) => {
      said += part;
      const [address] = ADDRESS.exec(said) ?? [];
      if (address) resolve(address);
    });
  });
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await opened);
  // A node waits for its debugger before it ends.
  stops.add(async () => socket.close());
  await once(socket, 'open');
  let calls = 0;
  const send = async (method: string, params: object) => {
    const id = ++calls;
    socket.send(JSON.stringify({ id, method, params }));
    for (;;) {
      const [{ data }] = (await once(socket, 'message')) as [{ data: string }];
      const answer = JSON.parse(data);
      if (answer.id === id) return answer.result;
    }
  };
  return async () => {
    await send('HeapProfiler.collectGarbage', {});
    const { result } = await send('Runtime.evaluate', { expression: EXPRESSION, returnByValue: true });
    const { heapUsed, external, rss } = JSON.parse(result.value);
    return { usedMib: (heapUsed + external) / MIB, rssMib: rss / MIB };
  };
}
