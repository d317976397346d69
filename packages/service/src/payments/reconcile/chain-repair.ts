/** Repair of a chain of test money: used by local mode when the chain lost what the database has. Other chains have no repair. */
export interface ChainRepair {
  /** Sets the wallet's USDC balance without a transfer. */
  setUsdc(address: string, micro: bigint): Promise<void>;
  /** Sets the nonce of the wallet's next transaction. */
  setNonce(address: string, nonce: bigint): Promise<void>;
}
