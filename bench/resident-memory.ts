import { setTimeout as sleep } from 'node:timers/promises';

/** Reading all metrics of a process with thousands of sockets is work for it. */
const EVERY_MS = 1000;

/** The memory that a process has in use by its own `/metrics`, in MiB. */
export async function residentMib(baseUrl: string): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const [, bytes] = /^process_resident_memory_bytes (\S+)/m.exec(text) ?? [];
  return Number(bytes) / 2 ** 20;
}

/** Does the work and says how much memory the process used most while it went on. */
export async function peakDuring<T>(baseUrl: string, work: Promise<T>): Promise<{ result: T; peakMib: number }> {
  let isOver = false;
  let peakMib = 0;
  const watching = (async () => {
    while (!isOver) {
      peakMib = Math.max(peakMib, await residentMib(baseUrl));
      await sleep(EVERY_MS);
    }
  })();
  watching.catch(() => undefined);
  try {
    const result = await work;
    isOver = true;
    await watching;
    return { result, peakMib };
  } finally {
    isOver = true;
  }
}
