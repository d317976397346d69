import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Note } from '../../ui/values/note.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

/** The reason for which an agent takes no calls, with its remedy. */
export function OfflineNote({ agent: { offline, status } }: { agent: Pick<OwnAgent, 'offline' | 'status'> }) {
  if (!offline) return null;
  const { reason, at, status: answer, body, advice } = offline;
  const title = status === 'pending_verification' ? 'Not verified yet' : 'Offline';
  return (
    <div role="alert">
      <Note tone="warn" title={`${title}: ${reason}`}>
        <p>{advice}</p>
        {body !== null && (
          <p className="mt-1 font-mono text-[13px] wrap-anywhere">
            {answer} <bdi>{body}</bdi>
          </p>
        )}
        {at !== null && (
          <p className="mt-1 text-[13px] text-muted">
            Checked <TimeAgo at={at} />
          </p>
        )}
      </Note>
    </div>
  );
}
