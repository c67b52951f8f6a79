/** What a person has typed into a form of settings, over what the settings are anyway. */
import type { Problem } from '$lib/api/types';

import {
  type Form,
  type Nested,
  type Setting,
  type Value,
  at,
  nest,
  parse,
  same,
  write,
} from './schema';

export interface SettingChange {
  setting: Setting;
  old: Value;
  new: Value;
}

export class SettingsForm {
  /** Only what was typed, by path. */
  typed = $state.raw<Readonly<Record<string, string>>>({});
  /** What the server said of a setting, by path; forgotten when it is changed. */
  refused = $state.raw<Readonly<Record<string, string>>>({});

  constructor(
    /** Read anew when they change: the form may be of another algorithm by then. */
    readonly form: () => Form,
    /** The configuration that is changed; the defaults where it says nothing. */
    readonly template: () => unknown,
  ) {}

  /** What a setting is where nobody changes it. */
  base(setting: Setting): Value {
    const value = at(this.template(), setting.path);
    return value === undefined ? setting.default : value;
  }

  text(setting: Setting): string {
    return this.typed[setting.path] ?? write(setting, this.base(setting));
  }

  /** What differs and is right. */
  get changes(): SettingChange[] {
    return this.form().settings.flatMap((setting) => {
      const text = this.typed[setting.path];
      if (text === undefined) return [];
      const parsed = parse(setting, text);
      const old = this.base(setting);
      if (parsed.complaint !== undefined || same(parsed.value, old)) return [];
      return [{ setting, old, new: parsed.value }];
    });
  }

  /** Settings whose text is wrong. */
  get wrong(): Setting[] {
    return this.form().settings.filter((setting) => {
      const text = this.typed[setting.path];
      return text !== undefined && parse(setting, text).complaint !== undefined;
    });
  }

  /** The changes as a configuration. */
  get config(): Nested {
    return nest(this.changes.map((change) => [change.setting.path, change.new] as const));
  }

  set(setting: Setting, text: string): void {
    const { [setting.path]: _old, ...others } = this.typed;
    const { [setting.path]: _said, ...said } = this.refused;
    this.typed =
      text === write(setting, this.base(setting)) ? others : { ...others, [setting.path]: text };
    this.refused = said;
  }

  clear(): void {
    this.typed = {};
    this.refused = {};
  }

  /** Puts what the server complained of at its settings; what has no place there comes back. */
  refuse(problem: Problem, below: string): string[] {
    const refused: Record<string, string> = {};
    const left: string[] = [];
    for (const { pointer, detail } of problem.errors ?? []) {
      const path = pointer.startsWith(below)
        ? pointer.slice(below.length + 1).replaceAll('/', '.')
        : '';
      if (this.form().settings.some((setting) => setting.path === path)) refused[path] = detail;
      else left.push(detail);
    }
    this.refused = refused;
    return left;
  }
}
