import { median } from '../measure.ts';

/** A series of a soak, sampled at the same times: how far it may grow before it is not flat. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

export interface Fit {
  readonly name: string;
  /** Median of the part that was fitted, and the growth over it by the line of least squares. */
  readonly middle: number;
  readonly growth: number;
  readonly isFlat: boolean;
}

/** The first third is left out: caches fill, code is compiled, pools open. */
const LEFT_OUT = 1 / 3;
const MAX_SHARE = 0.1;

/** Flat: the line through the rest grows by a tenth of its median at most, or by `leastGrowth`, which is noise. */
export function fitOf({ name, values }: Series, leastGrowth: number): Fit {
  const fitted = values.slice(Math.floor(values.length * LEFT_OUT));
  const middle = median(fitted);
  const growth = slopeOf(fitted) * (fitted.length - 1);
  return { name, middle, growth, isFlat: growth <= Math.max(leastGrowth, middle * MAX_SHARE) };
}

/** Growth from one value to the next, by least squares. */
function slopeOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = (values.length - 1) / 2;
  const squares = values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
  return squares === 0 ? 0 : values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0) / squares;
}

/** A table that grows by the call: no faster in the second half than in the first. One that does is not explained by the calls. */
export interface GrowthPerCall {
  readonly name: string;
  readonly bytesPerCall: number;
  readonly isExplained: boolean;
}

const FASTER = 1.5;
const NOISE_BYTES = 1024 * 1024;

export function growthPerCall({ name, values }: Series, calls: readonly number[]): GrowthPerCall {
  const at = (share: number) => Math.floor((values.length - 1) * share);
  const grown = (from: number, to: number) => (values[to] ?? 0) - (values[from] ?? 0);
  const perCall = (from: number, to: number) => grown(from, to) / Math.max(1, (calls[to] ?? 0) - (calls[from] ?? 0));
  const [start, middle, end] = [at(LEFT_OUT), at((1 + LEFT_OUT) / 2), at(1)];
  const isExplained =
    grown(middle, end) <= NOISE_BYTES || perCall(middle, end) <= FASTER * Math.max(0, perCall(0, middle));
  return { name, bytesPerCall: perCall(start, end), isExplained };
}
