/** Leaves once the session has ended. While it goes on, the page stays and says so: who walks away has to know. */
export async function endAndLeave(
  end: () => Promise<unknown>,
  leave: () => void,
  tell: (text: string) => void,
): Promise<void> {
  try {
    await end();
  } catch (error) {
    return tell(`You are still signed in. Signing out failed: ${error instanceof Error ? error.message : error}`);
  }
  leave();
}
