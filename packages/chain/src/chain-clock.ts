/** The time of the next blocks, in Unix seconds: the present, moved as callers asked, and never before the newest block. */
export type ChainClock = {
  /** The newest block has this time. */
  mined(atS: number): void;
  newestS(): number;
  /** What the next block gets. */
  nextS(): number;
  /** A call that moves the clock was accepted. */
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

/** Some clients give milliseconds. */
const toSeconds = (value: number): number => (value > 1e11 ? Math.floor(value / 1000) : value);
