/** Test money for a chain that is made of it: what local mode does where a chain lost what the database has. No other chain has it. */
export interface ChainRepair {
  /** Has the wallet hold this much USDC, without a transfer. */
  setUsdc(address: string, micro: bigint): Promise<void>;
  /** The next transaction of the wallet has this nonce. */
  setNonce(address: string, nonce: bigint): Promise<void>;
}
