import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { Store } from '../../store/database.ts';
import { eventIdOf } from '../stream/read-stream.ts';
import { findAnswers, type GivenAnswer, lastQuestionPosition } from './turn-store.ts';

export type { GivenAnswer };

/** The answers to the questions of a request, first to last. */
export const readAnswers = async (
  ctx: Store,
  { requestId, turns = [] }: Pick<RequestRecord, 'requestId' | 'turns'>,
): Promise<GivenAnswer[]> => (turns.length > 0 ? findAnswers(ctx.db, requestId) : []);

/** Id of the event of the last question of a request. */
export const lastQuestionEvent = async (ctx: Store, requestId: string): Promise<number> =>
  eventIdOf(await lastQuestionPosition(ctx.db, requestId));
