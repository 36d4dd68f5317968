import { IconShieldCheck } from '@tabler/icons-react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { sharedQueries } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import { lazyViews, page } from '../page.ts'
import { BEFORE_CONSENT, COMPLIANCE, groupsQuery } from './queries.ts'

const view = lazyViews(() => import('./views.ts'))

export const compliancePages = [
  page({
    path: PAGE_PATHS.compliance.findings,
    menu: {
      title: () => messages.shell.pages.compliance,
      keys: 'g p',
      navigation: { group: 'understand', icon: IconShieldCheck },
    },
    search: COMPLIANCE,
    queries: (values) => [groupsQuery(values), sharedQueries.domains()],
    view: view('CompliancePage'),
  }),
  page({
    path: PAGE_PATHS.compliance['before-consent'],
    menu: { title: () => messages.beforeConsent.title },
    search: BEFORE_CONSENT,
    queries: () => [sharedQueries.domains()],
    view: view('BeforeConsentPage'),
  }),
] as const
