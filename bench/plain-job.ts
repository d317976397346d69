import { randomBytes } from 'node:crypto';
import { type Answer, openConnection, requestText } from './http-connection.ts';
import { type LoadResult, type PlainJob, UNIQUE } from './load-jobs.ts';
import { measure } from './measure.ts';

const WARM_UP_SECONDS = 0.5;

/** Asks the questions in turn over one kept connection per caller. */
export async function runPlainJob(job: PlainJob): Promise<LoadResult> {
  const questions = job.questions.map((question) => ({ ...question, text: requestText(question.request) }));
  const url = new URL(job.questions[0]?.request.url ?? '');
  const connections = await Promise.all(Array.from({ length: job.callers }, () => openConnection(url)));
  let asked = 0;
  const run = randomBytes(4).toString('hex');
  const ask = async (caller: number) => {
    const question = questions[asked++ % questions.length];
    const connection = connections[caller];
    if (!question || !connection) throw new Error('a caller without a connection or a question');
    const unique = `${run}-${String(asked).padStart(UNIQUE.length - run.length - 1, '0')}`;
    requireAnswer(await connection.send(question.text.replaceAll(UNIQUE, unique)), question);
    return true;
  };
  try {
    await measure(ask, { ...job, seconds: WARM_UP_SECONDS });
    return await measure(ask, job);
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Throws unless the answer has this status and holds this text. */
export function requireAnswer(answer: Answer, expected: { status: number; includes: string }): void {
  if (answer.status === expected.status && answer.body.includes(expected.includes)) return;
  const wanted = `${expected.status} with ${expected.includes}`;
  throw new Error(`wanted ${wanted}, got ${answer.head}\n\n${answer.body.slice(0, 1000)}`);
}
