/** The shared registry (ERC-8004) of the node's chain. */
export interface RegistryInfo {
  readonly chainId: number;
  /** Of the identity registry, lower case. */
  readonly address: string;
  /** Nothing that matters was logged before this block. */
  readonly startBlock: bigint;
  /** A chain for development, whose newest block is as safe as any. */
  readonly isLocal: boolean;
}

export interface HasRegistry {
  readonly registry: RegistryInfo;
}
