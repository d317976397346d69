import type { OperatorSetting } from '@agent-network/contracts/network/operator';
import { type SettingInForce, settingGroups } from '../config/settings.ts';
import { redactText } from '../lib/telemetry/redact.ts';

export interface ShownSettings {
  /** The settings in force of this process; secrets are left out of them. */
  readonly settings: readonly SettingInForce[];
}

/** The settings in force by subject, with their meaning. */
export const readSettings = ({ settings }: ShownSettings): OperatorSetting[] => {
  const inForce = new Map(settings.map((each) => [each.name, each]));
  return settingGroups.flatMap(({ title, settings: ofGroup }) =>
    ofGroup.flatMap(({ name, meaning }) => {
      const setting = inForce.get(name);
      return setting ? [{ ...setting, group: title, meaning, value: redactText(setting.value) }] : [];
    }),
  );
};
