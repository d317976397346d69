/** The chain that the node is paid on, and its token. */
export interface PaidIn {
  readonly chainId: number;
  readonly usdc: string;
}
