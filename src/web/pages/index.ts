import { PAGE_PATHS, type PagePath } from '../../contract/page-paths.ts'
import { alertsPages } from './alerts/pages.ts'
import { auditsPages } from './audits/pages.ts'
import { changesPages } from './changes/pages.ts'
import { compliancePages } from './compliance/pages.ts'
import { deliveriesPages } from './deliveries/pages.ts'
import { domainsPages } from './domains/pages.ts'
import { explorePages } from './explore/pages.ts'
import { integrationsPages } from './integrations/pages.ts'
import { issuesPages } from './issues/pages.ts'
import { overviewPages } from './overview/pages.ts'
import { reportPages } from './report/pages.ts'
import { settingsPages } from './settings/pages.ts'
import { signInPages } from './sign-in/pages.ts'
import { signalsPages } from './signals/pages.ts'
import { testsPages } from './tests/pages.ts'

/** All pages, in the order of the navigation and the command palette. */
export const pages = [
  ...overviewPages,
  ...issuesPages,
  ...alertsPages,
  ...signalsPages,
  ...domainsPages,
  ...explorePages,
  ...changesPages,
  ...compliancePages,
  ...testsPages,
  ...auditsPages,
  ...integrationsPages,
  ...deliveriesPages,
  ...reportPages,
  ...settingsPages,
  ...signInPages,
] as const

/** Redirects by path. Doesn't compile if a path has neither a page nor a redirect. */
export const redirects: Record<Exclude<PagePath, (typeof pages)[number]['path']>, PagePath> = {
  [PAGE_PATHS.overview.login]: PAGE_PATHS.overview.overview,
}
