/** The model has too much to do to read a text in time. */
export class ModelBusyError extends Error {}

/** Turns texts into vectors. */
export interface TextModel {
  /** Name that is stored with its vectors. Vectors of other models are replaced. */
  readonly id: string;
  /** Number of agents in one call of `ofAgents`. */
  readonly atOnce: number;
  /** True: it answers at once or not; false: it is being started, or far away. */
  isQuick(): boolean;
  /**
   * The text's vector; null for one that the model cannot read. Throws ModelBusyError, at once where it can, when it will not begin within
   * `waitMs`, and another error when the model fails.
   */
  ofSearch(text: string, waitMs: number): Promise<Float32Array | null>;
  /** The vectors of agents' texts, like `ofSearch`. Searches go first. */
  ofAgents(texts: readonly string[]): Promise<(Float32Array | null)[]>;
}

/** The vector as eight-bit numbers in the same direction. */
export function toBytes(vector: Float32Array): Uint8Array {
  const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return new Uint8Array(Int8Array.from(vector, (value) => Math.round((value * 127) / (most || 1))).buffer);
}

/** The mean of the directions of some vectors; null without any. */
export function meanOf(vectors: readonly Float32Array[]): Float32Array | null {
  const [first] = vectors;
  if (!first) return null;
  const sum = new Float32Array(first.length);
  for (const vector of vectors) {
    const length = Math.hypot(...vector) || 1;
    for (let index = 0; index < sum.length; index++)
      sum[index] = (sum[index] as number) + (vector[index] ?? 0) / length;
  }
  return sum;
}
