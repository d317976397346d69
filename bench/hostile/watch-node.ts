import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gasUsed } from '../../packages/service/test/payments/gas/support/gas-meter.ts';
import { askDatabase } from '../../packages/service/test/support/books.ts';

const EVERY_MS = 500;
const MIB = 1024 * 1024;

export interface NodeFigures {
  readonly rssBeforeMib: number;
  readonly rssPeakMib: number;
  readonly databaseGrewMib: number;
  readonly socketsPeak: number;
  readonly gas: number;
  readonly lookUps: number;
}

export interface Watched {
  readonly pid: number;
  readonly database: string;
  readonly rpcUrl: string;
  /** Number of queries to its DNS server so far. */
  lookUps(): number;
}

/** Measures the node's usage while the work goes on, from the kernel, the database and the chain. Linux only. */
export async function watchNode<T>(node: Watched, work: Promise<T>): Promise<{ result: T; figures: NodeFigures }> {
  const before = await readAll(node);
  let rssPeakMib = before.rssMib;
  let socketsPeak = before.sockets;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      rssPeakMib = Math.max(rssPeakMib, await rssOf(node.pid));
      socketsPeak = Math.max(socketsPeak, await socketsOf(node.pid));
      await sleep(EVERY_MS);
    }
  })();
  try {
    const result = await work;
    const after = await readAll(node);
    return {
      result,
      figures: {
        rssBeforeMib: before.rssMib,
        rssPeakMib: Math.max(rssPeakMib, after.rssMib),
        databaseGrewMib: after.databaseMib - before.databaseMib,
        socketsPeak: Math.max(socketsPeak, after.sockets),
        gas: after.gas - before.gas,
        lookUps: after.lookUps - before.lookUps,
      },
    };
  } finally {
    isOver = true;
    await watching;
  }
}

async function readAll(node: Watched) {
  const [row] = await askDatabase<{ bytes: string }>(
    node.database,
    'select pg_database_size(current_database()) as bytes',
  );
  return {
    rssMib: await rssOf(node.pid),
    sockets: await socketsOf(node.pid),
    databaseMib: Number(row?.bytes) / MIB,
    gas: await gasUsed({ databaseUrl: node.database, rpcUrl: node.rpcUrl }),
    lookUps: node.lookUps(),
  };
}

async function rssOf(pid: number): Promise<number> {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

async function socketsOf(pid: number): Promise<number> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
  return links.filter((link) => link.startsWith('socket:')).length;
}
