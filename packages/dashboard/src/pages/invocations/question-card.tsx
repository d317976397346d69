import { InputAnswer, type InputRequest, type Turn } from '@agent-network/contracts/invocations/turns';
import { useApiMutation } from '../../app/api-query.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Textarea } from '../../ui/controls/text-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { ExternalLink } from '../../ui/values/link.tsx';
import { Warning } from '../../ui/values/note.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { type InputValues, inputOf } from '../try-it/call-values.ts';
import { InputPart } from '../try-it/input-part.tsx';
import type { DetailedRecord } from './invocation.ts';

/** Questions that the agent asked within the call, and the form that answers the one that waits. */
export function QuestionCard({ record }: { record: DetailedRecord }) {
  const { inputRequest: open, turns = [], requestId } = record;
  const asked = turns.filter(({ turn }) => turn !== open?.turn);
  if (!open && asked.length === 0) return null;
  return (
    <Card title={open ? 'The agent asks' : 'Questions of the agent'}>
      <div className="space-y-4">
        {asked.length > 0 && <Asked turns={asked} />}
        {open && <Question key={open.inputId} requestId={requestId} question={open} />}
      </div>
    </Card>
  );
}

const actionText = { accept: 'Answered', decline: 'Declined' } as const;

const Asked = ({ turns }: { turns: readonly Turn[] }) => (
  <ol className="space-y-2">
    {turns.map(({ turn, message, action, answeredAt }) => (
      <li key={turn} className="border-l-2 border-line pl-3">
        <StrangersText text={message} />
        <p className="text-[13px] text-muted">
          {action ? actionText[action] : 'Not answered'} {answeredAt && <TimeAgo at={answeredAt} />}
        </p>
      </li>
    ))}
  </ol>
);

const StrangersText = ({ text }: { text: string }) => (
  <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
    {text}
  </p>
);

interface QuestionProps {
  readonly requestId: string;
  readonly question: InputRequest;
}

interface AnswerValues extends InputValues {
  readonly message: string;
}

const acceptText = { input: 'Send answer', approval: 'Approve', link: "I'm done there" } as const;

/** One question, as text of a stranger, and the ways to answer it. */
function Question({ requestId, question }: QuestionProps) {
  const { inputId, kind, message, schema, url, expiresAt } = question;
  const answer = useApiMutation('answerInput', { invalidates: ['getInvocation', 'listInvocations'] });
  const form = useForm<AnswerValues, typeof InputAnswer>({
    initial: { input: '{}', drafts: {}, message: '' },
    schema: InputAnswer,
    toBody: (values) => ({
      inputId,
      action: 'accept',
      ...(schema ? { input: inputOf(values) } : {}),
      ...(values.message.trim() ? { message: values.message.trim() } : {}),
    }),
    onSubmit: (body) => answer.mutateAsync({ params: { requestId }, body }),
  });
  const decline = () => answer.mutate({ params: { requestId }, body: { inputId, action: 'decline' } });
  return (
    <form onSubmit={form.submit} noValidate className="space-y-4">
      <div className="space-y-1">
        <StrangersText text={message} />
        <p className="text-[13px] text-muted">
          The question expires <TimeAgo at={expiresAt} />.
        </p>
      </div>
      {url !== undefined && <LinkToOpen url={url} />}
      {schema && <InputPart form={form} types={{ inputSchema: schema }} />}
      {!schema && kind === 'input' && (
        <Field label="Your answer" isRequired error={form.error('message')}>
          <Textarea rows={3} value={form.values.message} onChange={(text) => form.set('message', text)} />
        </Field>
      )}
      <p className="text-[13px] text-muted">The agent gets what you write. Don't enter passwords or keys.</p>
      <ErrorNote error={form.failure ?? answer.error} />
      <Actions>
        <Button isBusy={answer.isPending} onClick={decline}>
          Decline
        </Button>
        <Button
          type="submit"
          variant="primary"
          isBusy={form.isBusy}
          disabled={!schema && kind === 'input' && form.values.message.trim() === ''}
        >
          {acceptText[kind]}
        </Button>
      </Actions>
    </form>
  );
}

/** A link that the agent wants opened. Its host is named first: its text is a stranger's. */
function LinkToOpen({ url }: { url: string }) {
  return (
    <Warning>
      The agent wants you to open a page of <strong>{URL.parse(url)?.host ?? 'an unknown host'}</strong>. Open it only
      if you know that site: <ExternalLink href={url} />
    </Warning>
  );
}
