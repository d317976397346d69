import type { ReactNode } from 'react';
import { Icon } from '../values/icon.tsx';

export interface Step {
  readonly title: string;
  readonly isDone: boolean;
  /** State of the step, next to the title. */
  readonly aside?: ReactNode;
  readonly content?: ReactNode;
}

/** Steps to do in order. Each shows whether it is done, with its content below. */
export const Steps = ({ steps, label }: { steps: readonly Step[]; label: string }) => (
  <ol aria-label={label} className="divide-y divide-line">
    {steps.map(({ title, isDone, aside, content }, at) => (
      <li key={title} className="flex gap-3 py-4 first:pt-0 last:pb-0">
        <Mark isDone={isDone} number={at + 1} />
        <div className="min-w-0 flex-1 space-y-2">
          <div className="flex flex-wrap items-baseline justify-between gap-x-4">
            <h3 className="font-medium">
              {title}
              <span className="sr-only">{isDone ? ' (done)' : ' (not done)'}</span>
            </h3>
            {aside && <div className="text-[13px] text-muted">{aside}</div>}
          </div>
          {content}
        </div>
      </li>
    ))}
  </ol>
);

const Mark = ({ isDone, number }: { isDone: boolean; number: number }) =>
  isDone ? (
    <span className="flex size-6 shrink-0 items-center justify-center rounded-full bg-good-soft text-good">
      <Icon name="check" />
    </span>
  ) : (
    <span
      aria-hidden="true"
      className="flex size-6 shrink-0 items-center justify-center rounded-full border border-line-strong/60 text-[13px] text-muted"
    >
      {number}
    </span>
  );
