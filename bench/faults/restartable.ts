import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Child, startNode } from '../child-process.ts';
import type { StopList } from '../stop-list.ts';

/** A program that can be killed and started again as it was. */
export interface Restartable {
  kill(): Promise<void>;
  restart(): Promise<void>;
}

export async function startRestartable(
  stops: StopList,
  program: { readonly args: readonly string[]; readonly env: Record<string, string>; readonly ready: RegExp },
): Promise<Restartable> {
  let child: Child;
  const restart = async () => {
    child = startNode(program.args, program.env);
    await child.line(program.ready);
  };
  stops.add(async () => child?.stop());
  await restart();
  return { restart, kill: () => child.kill() };
}

/** A port that was free just now: a program that is started again keeps its address. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
