import { Tabs as Base } from '@base-ui/react/tabs';
import { type ReactNode, useEffect, useRef } from 'react';

export interface Tab<Id extends string = string> {
  readonly id: Id;
  readonly label: string;
  readonly content: ReactNode;
  /** True to keep the tab's state while another one is open. */
  readonly isKept?: boolean;
}

interface TabsProps<Id extends string> {
  readonly tabs: readonly Tab<Id>[];
  /** The open tab, and a callback for another one: tabs are in the URL, so that they can be linked to. */
  readonly active: Id;
  readonly onChange: (id: Id) => void;
}

export function Tabs<Id extends string>({ tabs, active, onChange }: TabsProps<Id>) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another is open
  useEffect(() => {
    list.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [active]);
  return (
    <Base.Root value={active} onValueChange={(id) => onChange(id as Id)}>
      <Base.List ref={list} className="flex gap-5 overflow-x-auto border-b border-line px-0.5">
        {tabs.map(({ id, label }) => (
          <Base.Tab
            key={id}
            value={id}
            className="-mb-px border-b-2 border-transparent py-2 focus-visible:-outline-offset-2 whitespace-nowrap text-muted hover:text-text data-active:border-accent data-active:font-medium data-active:text-text"
          >
            {label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content, isKept = false }) => (
        <Base.Panel key={id} value={id} keepMounted={isKept} className="pt-4 outline-none">
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
