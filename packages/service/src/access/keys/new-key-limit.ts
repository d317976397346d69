/** The limit that a key has for each call when it is created without one. */
export interface HasNewKeyLimit {
  /** null: none. */
  readonly newKeyPerCallMicro: bigint | null;
}
