import { CodeBlock, type CodeSample } from '../../../ui/values/code-block.tsx';
import { linkClass } from '../../../ui/values/link.tsx';
import { serveSample, wellKnownSample } from '../agent-samples.ts';
import { curlSample, type Known, pythonSample } from './contract-programs.ts';

/** The agent contract as programs. */
const contractSamples = (agent: Known, origin: string): readonly CodeSample[] => [
  { label: 'TypeScript', code: serveSample(agent, origin) },
  { label: 'Python', code: pythonSample(agent) },
  { label: 'curl', code: curlSample(agent) },
  { label: 'Well-known file', code: wellKnownSample(agent) },
];

const code = (text: string) => <code className="font-mono text-[13px] wrap-anywhere">{text}</code>;

/** The protocol that an endpoint must follow, with programs that do. */
export const AgentContract = ({ agent }: { agent: Known }) => (
  <div className="space-y-4">
    <dl className="space-y-3 *:space-y-0.5 [&_dt]:font-medium [&_dd]:text-muted">
      <div>
        <dt>Signature</dt>
        <dd>
          Every POST from the node carries {code('webhook-id')}, {code('webhook-timestamp')} and{' '}
          {code('webhook-signature')}: {code('v1,')} and the base64 HMAC-SHA256 of {code('id.timestamp.body')} with the
          32 bytes of the token. Refuse what isn't signed, or is older than five minutes.
        </dd>
      </div>
      <div>
        <dt>Proof</dt>
        <dd>
          {code('{"type": "verification", "agent_id", "challenge"}')} gets the answer {code('{"agent_id", "response"}')}
          : the hex HMAC-SHA256 of challenge, agent id and endpoint, joined by newlines, with the token as text.
        </dd>
      </div>
      <div>
        <dt>Calls</dt>
        <dd>
          {code(
            '{"request_id", "agent_id", "task", "input", "context", "metadata", "priority", "deadline", "max_spend", "stream"}',
          )}
          . A repeated call has the same {code('request_id')}: do the work once, and give the same answer.
        </dd>
      </div>
      <div>
        <dt>Answers</dt>
        <dd>
          200 {code('{"result": …, "cost": "0.01"}')} (the cost may be left out), 202{' '}
          {code('{"status_url": "/jobs/1", "retry_after": 2}')} for work that goes on, a {code('text/event-stream')} of{' '}
          {code('chunk')}, {code('progress')} and {code('result')}, or an error {code('{"error": {"code", "message"}}')}
          : the caller gets the money back.
        </dd>
      </div>
      <div>
        <dt>Liveness</dt>
        <dd>
          The node sends a GET once a minute. A status below 500, or 501, means the agent is alive. After any other
          status except 503, the challenge decides.
        </dd>
      </div>
    </dl>
    <CodeBlock label="The agent contract" samples={contractSamples(agent, location.origin)} />
    <p className="text-muted">
      Streaming, long work, cancelling, limits and retries:{' '}
      <a href="/docs#building" className={`${linkClass} underline`}>
        the contract in full
      </a>
      .
    </p>
  </div>
);
