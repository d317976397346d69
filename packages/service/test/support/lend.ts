interface Shared {
  readonly it: Promise<unknown>;
  users: number;
  ending?: NodeJS.Timeout;
  end(): Promise<void>;
}

/** A test file's share of a shared resource. */
export interface Loan<T> {
  readonly it: T;
  giveBack(): void;
}

export interface Lent<T> {
  /** One of a name at a time in a process. */
  readonly name: string;
  /** For how long it waits for another user after the last has given it back. */
  readonly lingerMs: number;
  start(): Promise<T>;
  end(it: T): Promise<void>;
}

const holder = globalThis as { lentByName?: Map<string, Shared> };

/** Lends what takes long to start to one test file after another, and to several at a time. */
export async function lend<T>({ name, lingerMs, start, end }: Lent<T>): Promise<Loan<T>> {
  holder.lentByName ??= new Map();
  const all = holder.lentByName;
  const held = all.get(name) ?? newlyShared(start(), (it) => end(it as T));
  all.set(name, held);
  held.users += 1;
  clearTimeout(held.ending);
  const it = (await held.it.catch((error) => {
    all.delete(name);
    throw error;
  })) as T;
  const stop = () => {
    all.delete(name);
    held.end().catch((error) => process.stderr.write(`${name}, which tests share, did not end: ${error}\n`));
  };
  return {
    it,
    giveBack() {
      held.users -= 1;
      if (held.users === 0) held.ending = setTimeout(stop, lingerMs);
    },
  };
}

const newlyShared = (it: Promise<unknown>, end: (it: unknown) => Promise<void>): Shared => ({
  ...{ it, users: 0 },
  end: async () => end(await it),
});

/** Ends what waits for another user, at once: for files that change what all of the process sees, as its timers. */
export async function endIdleLoans(): Promise<void> {
  const idle = [...(holder.lentByName ?? [])].filter(([, { users }]) => users === 0);
  for (const [name, { ending }] of idle) {
    clearTimeout(ending);
    holder.lentByName?.delete(name);
  }
  await Promise.all(idle.map(([, each]) => each.end()));
}
