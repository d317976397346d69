/** Signs payments with a private key that is held elsewhere: a wallet in a browser, a key service. */
export interface PayerSigner {
  readonly address: `0x${string}`;
  /** Returns the EIP-712 signature of the account; errors are passed on. */
  signTypedData(typedData: {
    readonly domain: Record<string, unknown>;
    readonly types: Record<string, unknown>;
    readonly primaryType: string;
    readonly message: Record<string, unknown>;
  }): Promise<`0x${string}`>;
}
