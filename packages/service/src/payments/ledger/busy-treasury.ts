import { AppError } from '../../lib/app-error.ts';
import { isBusyRow } from './ledger-batcher.ts';

/** The error of a call whose treasury others kept locked for too long; any other stays as it is. */
export const busyTreasury = (error: unknown): unknown =>
  isBusyRow(error)
    ? new AppError(
        'UNAVAILABLE',
        'Another payment of this treasury takes long. Nothing was done; repeat the request.',
        { details: { outcome: 'nothing' } },
        { cause: error },
      )
    : error;
