/** The shared registry (ERC-8004) of the node's chain. */
export interface RegistryInfo {
  readonly chainId: number;
  /** Address of the identity registry, lower case. */
  readonly address: string;
  /** Block before which nothing relevant was logged. */
  readonly startBlock: bigint;
  /** True for a development chain, where the newest block counts as safe. */
  readonly isLocal: boolean;
  /** Interval between two reads of the registry. */
  readonly pollMs: number;
}
