/** Clock of the next blocks, in Unix seconds: the present, shifted as callers asked, and never before the newest block. */
export type ChainClock = {
  /** Records the time of the newest block. */
  mined(atS: number): void;
  newestS(): number;
  /** Time of the next block. */
  nextS(): number;
  /** Applies an accepted call that moves the clock. */
  moved(name: string, params: readonly unknown[]): void;
};

export function createChainClock(nowMs: () => number = Date.now): ChainClock {
  let newest = 0;
  let offsetS = 0;
  let wanted: number | undefined;
  const presentS = () => Math.floor(nowMs() / 1000);
  return {
    mined(atS) {
      newest = atS;
      wanted = undefined;
    },
    newestS: () => newest,
    nextS: () => Math.max(newest, wanted ?? presentS() + offsetS),
    moved(name, [value]) {
      const number = Number(value);
      if (name === 'increaseTime') offsetS += number;
      else if (name === 'setTime') offsetS = toSeconds(number) - presentS();
      else if (name === 'setNextBlockTimestamp') wanted = number;
    },
  };
}

/** Converts milliseconds, which some clients send, to seconds. */
const toSeconds = (value: number): number => (value > 1e11 ? Math.floor(value / 1000) : value);
