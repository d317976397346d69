import { type EventType, eventCatalogue, eventTypes } from '@agent-network/contracts/events';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Fieldset } from '../../ui/controls/field.tsx';

interface EventTypeChoiceProps {
  /** null: all. */
  readonly chosen: readonly EventType[] | null;
  readonly onChange: (chosen: readonly EventType[] | null) => void;
  readonly error: string | undefined;
}

const groups = [...Map.groupBy(eventTypes, (type) => type.slice(0, type.indexOf('.')))];

/** Choice of the event types that are sent, each with its description. */
export function EventTypeChoice({ chosen, onChange, error }: EventTypeChoiceProps) {
  const toggle = (type: EventType, isChecked: boolean) => {
    const others = (chosen ?? []).filter((each) => each !== type);
    onChange(isChecked ? [...others, type] : others);
  };
  return (
    <Fieldset legend="Events">
      <Checkbox
        label="All events of this account"
        hint="Includes types added later. Network events are sent only if selected."
        isChecked={chosen === null}
        onChange={(isAll) => onChange(isAll ? null : [])}
      />
      {chosen !== null && (
        <div className="mt-1 max-h-64 space-y-2 overflow-y-auto rounded-md border border-line px-3 py-2">
          {groups.map(([group, types]) => (
            <div key={group}>
              <p className="text-[13px] font-medium text-muted capitalize">{group}</p>
              {types.map((type) => (
                <Checkbox
                  key={type}
                  label={<code className="text-[13px]">{type}</code>}
                  hint={eventCatalogue[type].when}
                  isChecked={chosen.includes(type)}
                  onChange={(isChecked) => toggle(type, isChecked)}
                />
              ))}
            </div>
          ))}
        </div>
      )}
      {error && chosen?.length === 0 && <p className="mt-1 text-[13px] text-bad">Choose at least one event.</p>}
    </Fieldset>
  );
}
