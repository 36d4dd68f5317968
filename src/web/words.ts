import { alert } from './words/alert.ts'
import { alerts } from './words/alerts.ts'
import { api } from './words/api.ts'
import { changes } from './words/changes.ts'
import { charts } from './words/charts.ts'
import { compliance } from './words/compliance.ts'
import { deliveries } from './words/deliveries.ts'
import { domains } from './words/domains.ts'
import { explore } from './words/explore.ts'
import { forms } from './words/forms.ts'
import { help } from './words/help.ts'
import { integrations } from './words/integrations.ts'
import { issue } from './words/issue.ts'
import { issues } from './words/issues.ts'
import { keys } from './words/keys.ts'
import { overview } from './words/overview.ts'
import { palette } from './words/palette.ts'
import { parts } from './words/parts.ts'
import { report } from './words/report.ts'
import { settings } from './words/settings.ts'
import { shell } from './words/shell.ts'
import { signIn } from './words/sign-in.ts'
import { signals } from './words/signals.ts'
import { tests } from './words/tests.ts'

/**
 * Everything that the pages say, in English. What stands in the data (names, titles, the server's sentences) is not here
 * and is shown inside `<Data>`.
 */
export const english = {
  alert,
  alerts,
  api,
  changes,
  charts,
  compliance,
  deliveries,
  domains,
  explore,
  forms,
  help,
  integrations,
  issue,
  issues,
  keys,
  overview,
  palette,
  parts,
  report,
  settings,
  shell,
  signIn,
  signals,
  tests,
}
export type Words = typeof english

/** The words in use. Read them while drawing, not while a module loads: the language is chosen before the first drawing. */
export let words: Words = english

/** Chooses the language of all pages. */
export function speak(language: Words): void {
  words = language
}
