import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { InputRequest } from '@agent-network/contracts/invocations/turns';
import type { Store } from '../../store/database.ts';
import { toInputRequest } from '../invocation-view.ts';
import { eventIdOf } from '../stream/read-stream.ts';
import { findAnswers, findAskedTurn, type GivenAnswer, type NamedTurn, questionPosition } from './turn-store.ts';

export type { GivenAnswer };

/** The answers to the questions of a request, first to last. */
export const readAnswers = async (
  ctx: Store,
  { requestId, turns = [] }: Pick<RequestRecord, 'requestId' | 'turns'>,
): Promise<GivenAnswer[]> => (turns.length > 0 ? findAnswers(ctx.db, requestId) : []);

/** Id of the event of a question: a client that answers it has those up to it. */
export const questionEvent = async (ctx: Store, requestId: string, inputId: string): Promise<number> =>
  eventIdOf(await questionPosition(ctx.db, requestId, inputId));

/** A question by its id or its turn, answered ones included. Callers check the owner of its request. */
export async function findAsked(
  ctx: Store,
  named: NamedTurn,
): Promise<{ readonly requestId: string; readonly question: InputRequest } | null> {
  const found = await findAskedTurn(ctx.db, named);
  return found && { requestId: found.requestId, question: toInputRequest(found) };
}
