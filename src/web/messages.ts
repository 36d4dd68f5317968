import { alert } from './messages/alert-editor.ts'
import { alerts } from './messages/alerts.ts'
import { backups } from './messages/backups.ts'
import { beforeConsent } from './messages/before-consent.ts'
import { calendars } from './messages/calendars.ts'
import { changes } from './messages/changes.ts'
import { charts } from './messages/charts.ts'
import { collectors } from './messages/collectors.ts'
import { palette } from './messages/command-palette.ts'
import { compare } from './messages/compare.ts'
import { compliance } from './messages/compliance.ts'
import { components } from './messages/components.ts'
import { deliveries } from './messages/deliveries.ts'
import { displayNames } from './messages/display-names.ts'
import { domains } from './messages/domains.ts'
import { escalation } from './messages/escalation.ts'
import { explore } from './messages/explore.ts'
import { forms } from './messages/forms.ts'
import { gate } from './messages/gate.ts'
import { help } from './messages/help.ts'
import { integrations } from './messages/integrations.ts'
import { issue } from './messages/issue.ts'
import { issues } from './messages/issues.ts'
import { keys } from './messages/keyboard-shortcuts.ts'
import { maintenance } from './messages/maintenance.ts'
import { overview } from './messages/overview.ts'
import { report } from './messages/report.ts'
import { settings } from './messages/settings.ts'
import { shell } from './messages/shell.ts'
import { signIn } from './messages/sign-in.ts'
import { signals } from './messages/signals.ts'
import { tests } from './messages/tests.ts'
import { timeRange } from './messages/time-range.ts'

/** All texts in the dashboard, in English. User data and messages from the server are shown inside `<Data>`. */
export const english = {
  alert,
  alerts,
  displayNames,
  backups,
  collectors,
  beforeConsent,
  calendars,
  changes,
  charts,
  compare,
  compliance,
  deliveries,
  domains,
  escalation,
  explore,
  forms,
  gate,
  help,
  integrations,
  issue,
  issues,
  keys,
  maintenance,
  overview,
  palette,
  components,
  report,
  settings,
  shell,
  signIn,
  signals,
  tests,
  timeRange,
}
export type Messages = typeof english

/** The active messages. Read them while rendering, not at module load: the language is set later. */
export let messages: Messages = english

/** Sets the language of all pages. */
export function setMessages(language: Messages): void {
  messages = language
}
