import type { NewEvent } from '../../../src/events/outbox/new-event.ts';

export const SECRET_KEY = 'a secret key of tests, of more than 32 characters';
export const BASE_URL = 'https://node.example';

/** A sample event; tests depend only on order and bytes. */
export const happened = (accountId: string, subjectId = 'agt_1', more: Partial<NewEvent> = {}): NewEvent => ({
  type: 'agent.online',
  accountId,
  subjectId,
  data: { id: subjectId },
  ...more,
});
