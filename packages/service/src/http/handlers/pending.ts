import { AppError } from '../../lib/app-error.ts';
import type { Handlers } from '../handler.ts';

const notYet = () => {
  throw new AppError('NOT_FOUND', 'Not built yet.');
};

// Scaffold while several people build issue 3 at once: whoever builds a handler takes its name out; the file goes when it is empty.
export const pendingHandlers = {
  withdraw: notYet,
  getWithdrawal: notYet,
  rollApiKey: notYet,
  getUsage: notYet,
} satisfies Partial<Handlers>;
