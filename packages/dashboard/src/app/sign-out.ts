import { toast } from '../ui/overlays/toasts.tsx';
import { client } from './client.ts';
import { endAndLeave, tellSession } from './session-changes.ts';

/** Ends the session and leaves the page, with all of its data. Shows an error if that fails. */
export const signOut = (): Promise<void> =>
  endAndLeave(
    () => client.endSession(),
    () => {
      tellSession();
      location.assign('/dashboard/sign-in');
    },
    (text) => toast(text, 'bad'),
  );
