import { Button } from '../../ui/controls/button.tsx';
import { Icon } from '../../ui/values/icon.tsx';
import type { LiveConnection } from './live-events.ts';

/** Warns that the page may be out of date while there is no connection to the node's events. */
export const ConnectionBanner = ({ isLost, retry }: LiveConnection) => (
  <div role="status">
    {isLost && (
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-warn-soft px-4 py-1.5 text-warn sm:px-6">
        <Icon name="alert" />
        <p className="min-w-0 flex-1">Connection to the node lost. This page may be out of date.</p>
        <Button size="sm" icon="refresh" onClick={retry}>
          Retry now
        </Button>
      </div>
    )}
  </div>
);
