import { paymentIn } from './openai-upstream.ts';
import { json, type Speaker, startUpstream, type TestUpstream } from './upstream.ts';

/** An agent of MIP-003, as plain HTTP. */
export const startMipUpstream = (): Promise<TestUpstream> => startUpstream(speaker);

interface Job {
  readonly text: string;
  readonly answers: object[];
}

const statusOf = (jobId: string, { answers }: Job) => `${jobId}-status-${answers.length}`;

const speaker = (): Speaker => {
  const jobs = new Map<string, Job>();
  return {
    protocol: 'mip-003',
    path: '/masumi',
    isWork: ({ method, path }) => method === 'POST' && path === '/masumi/start_job',
    async answer({ path, body, headers }, _request, response, { mode }) {
      const url = new URL(path, 'http://x');
      if (path === '/masumi/availability') return json(response, 200, { status: 'available', type: 'masumi-agent' });
      if (path === '/masumi/input_schema')
        return json(response, 200, {
          input_data: [
            { id: 'text', type: 'string', name: 'Text' },
            { id: 'note', type: 'string', validations: [{ validation: 'optional', value: 'true' }] },
          ],
        });
      if (path === '/masumi/start_job') {
        if (mode.kind === 'fails') return json(response, 400, { error: { message: 'no' } });
        if (mode.kind === 'bills') {
          const shown = paymentIn(headers);
          if (shown === null) {
            const required = Buffer.from(JSON.stringify(mode.terms.required)).toString('base64');
            return json(response, 402, {}, { 'payment-required': required });
          }
          await mode.terms.take(shown);
        }
        const id = `job-${jobs.size + 1}`;
        jobs.set(id, { text: body.input_data.text, answers: [] });
        return json(response, 200, { status: 'success', job_id: id, identifier: body.identifier_from_purchaser });
      }
      if (path === '/masumi/provide_input') {
        const job = jobs.get(body.job_id);
        if (!job || body.status_id !== statusOf(body.job_id, job))
          return json(response, 400, { error: { message: 'no' } });
        job.answers.push(body.input_data ?? body.input_groups);
        return json(response, 200, { status: 'success', input_hash: 'a87f', signature: '8a5f' });
      }
      if (url.pathname !== '/masumi/status') return json(response, 404, {});
      const jobId = url.searchParams.get('job_id') ?? '';
      const job = jobs.get(jobId) ?? { text: '', answers: [] };
      if (mode.kind === 'needs input') return json(response, 200, { job_id: jobId, status: 'awaiting_input' });
      if (mode.kind === 'pends') return json(response, 200, { job_id: jobId, status: 'running' });
      const question = mode.kind === 'asks' ? mode.questions[job.answers.length] : undefined;
      const id = statusOf(jobId, job);
      if (question) return json(response, 200, { id, job_id: jobId, status: 'awaiting_input', ...question.mip });
      const told = job.answers.map((each) => ` ${JSON.stringify(each)}`).join('');
      json(response, 200, { id, job_id: jobId, status: 'completed', result: `${job.text}!${told}` });
    },
  };
};
