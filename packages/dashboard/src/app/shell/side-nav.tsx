import { Link } from '@tanstack/react-router';
import { Icon } from '../../ui/values/icon.tsx';
import { useSession } from '../session.ts';
import { navigation } from './navigation.ts';

/** The way to every view. */
export function SideNav({ onNavigate }: { onNavigate?: () => void }) {
  const { scopes } = useSession();
  return (
    <nav aria-label="Main" className="flex-1 space-y-4 overflow-y-auto px-3 pb-4">
      {navigation.map((group, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the groups are constant
        <ul key={at} className="space-y-0.5">
          {group
            .filter(({ scope }) => scope === undefined || scopes.includes(scope))
            .map(({ to, label, icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  activeOptions={{ exact: to === '/', includeSearch: false }}
                  {...(onNavigate ? { onClick: onNavigate } : {})}
                  className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-muted transition-colors hover:bg-sunken hover:text-text data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent-text"
                >
                  <Icon name={icon} />
                  {label}
                </Link>
              </li>
            ))}
        </ul>
      ))}
    </nav>
  );
}

/** Name of the dashboard and of its node. */
export const Brand = ({ label }: { label: string }) => (
  <div className="flex h-14 shrink-0 items-center gap-2.5 px-5">
    <img src="/dashboard/icon.svg" alt="" className="size-6" />
    <div className="min-w-0 leading-tight">
      <div className="font-semibold tracking-tight">agent-network</div>
      <div className="truncate text-xs text-muted">{label}</div>
    </div>
  </div>
);
