import { client } from './client.ts';

/** Ends the session and leaves the page, with everything that it knew. */
export async function signOut(): Promise<void> {
  await client.endSession();
  location.assign('/dashboard/sign-in');
}
