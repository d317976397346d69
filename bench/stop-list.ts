export interface StopList {
  add(stop: () => Promise<unknown>): void;
  /** Ends everything, newest first; what fails to end does not keep the rest. Repeating it does nothing. */
  stopAll(): Promise<void>;
}

/** Collects the processes and files to end or remove when the bench ends, also when it is interrupted. */
export function createStopList(): StopList {
  const stops: (() => Promise<unknown>)[] = [];
  let stopping: Promise<void> | undefined;
  const stopAll = async () => {
    for (let stop = stops.pop(); stop; stop = stops.pop())
      await stop().catch((error: unknown) => console.error('something did not end in order:', error));
  };
  return {
    add: (stop) => void stops.push(stop),
    stopAll: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
}

/** Runs `work` and then stops everything it started; Ctrl-C stops it early. */
export async function withStopList(work: (stops: StopList) => Promise<void>): Promise<void> {
  const stops = createStopList();
  const interrupt = () => void stops.stopAll().then(() => process.exit(130));
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    await work(stops);
  } finally {
    await stops.stopAll();
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}
