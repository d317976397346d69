/** The system's code of an error, which viem and fetch keep some causes down. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : codeOf(error.cause);
}

/** Says that no chain answered at the start. Names the host only: providers put their keys into the path. */
export const unreachable = (rpcUrl: string, cause: unknown): Error =>
  new Error(
    `no chain answers at CHAIN_RPC_URL (${URL.parse(rpcUrl)?.host ?? 'no host'}: ${codeOf(cause) ?? 'no valid answer'}); start it, or correct the setting`,
    { cause },
  );
