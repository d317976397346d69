import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement } from 'react';
import { classNames } from '../class-names.ts';
import { Icon, type IconName } from '../values/icon.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly onSelect: () => void;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  /** The one that is chosen now. */
  readonly isChecked?: boolean;
}

/** A list of things to do behind a button. */
export function Menu({
  trigger,
  items,
}: {
  trigger: ReactElement<Record<string, unknown>>;
  items: readonly MenuItem[];
}) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="z-50 outline-none" align="end" sideOffset={4} collisionPadding={8}>
          <Base.Popup className="min-w-44 rounded-lg border border-line bg-surface p-1 shadow-lg outline-none">
            {items.map(({ label, icon, onSelect, isDanger, isDisabled, isChecked }) => (
              <Base.Item
                key={label}
                disabled={isDisabled ?? false}
                onClick={onSelect}
                className={classNames(
                  'flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 outline-none select-none',
                  'data-disabled:cursor-not-allowed data-disabled:opacity-50 data-highlighted:bg-sunken',
                  isDanger && 'text-bad',
                )}
              >
                {icon && <Icon name={icon} />}
                <span className="flex-1">{label}</span>
                {isChecked && <Icon name="check" />}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
